"""What the library asks of the parts that users may bring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from debinet.data.folds import Folds

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


@runtime_checkable
class Learner(Protocol):
    """Learns `E(M | Z)` for all columns of `M`.

    Any scikit-learn regressor is one. A learner that declares no scikit-learn tags must accept a
    two-dimensional `M` and return predictions of the same width.
    """

    def fit(self, Z: Any, M: Any) -> Self: ...

    def predict(self, Z: Any) -> Any: ...


@runtime_checkable
class HeldoutLearner(Learner, Protocol):
    """A learner that knows, without refitting, what it would have predicted for rows left out.

    `heldout(Z, M, folds)` fits on all rows (afterwards `predict` works) and returns the
    predictions, of the shape of `M`, that a fit without each fold would have made for it, at the
    tuning parameters of the fit on all rows. `folds` is always a partition of the rows in which
    each fold is predicted from all the other rows.
    """

    def heldout(
        self, Z: FloatArray, M: FloatArray, folds: Folds, sample_weight: FloatArray | None = None
    ) -> FloatArray: ...


@runtime_checkable
class FoldLearner(Learner, Protocol):
    """A learner that fits several sets of rows at once, faster than one after the other.

    `fit_folds(Z, M, rows, seeds)` returns one fitted learner per element of `rows`, as separate
    fits to these rows would, up to rounding; `seeds` are their random states where it has none,
    `groups` codes (n,) of rows that it must not split either.
    """

    def fit_folds(
        self,
        Z: FloatArray,
        M: FloatArray,
        rows: Sequence[IntArray],
        seeds: Sequence[int],
        *,
        sample_weight: FloatArray | None = None,
        groups: IntArray | None = None,
    ) -> list[Self]: ...


@runtime_checkable
class EnsembleLearner(Learner, Protocol):
    """A weighted average of learners whose weights come from held-out predictions.

    `members(n)` are the learners for n rows, `weigh` the weights (k, m) of the k members for each
    output, from their predictions (k, n, m).
    """

    def members(self, n: int) -> list[Any]: ...

    def weigh(
        self, predictions: FloatArray, M: FloatArray, sample_weight: FloatArray | None = None
    ) -> FloatArray: ...


@dataclass(frozen=True)
class Pilot:
    """A first estimate of the coefficients that is linear in the outcome.

    Attributes
    ----------
    coef : FloatArray of shape (q,)
    rows : FloatArray of shape (n, q)
        `coef = rows' y`.
    noise : float
        Standard deviation of the noise, the q coefficients allowed for.
    """

    coef: FloatArray
    rows: FloatArray
    noise: float


@runtime_checkable
class SmootherLearner(HeldoutLearner, Protocol):
    """A learner whose held-out residuals are linear in the target, at its tuning parameters.

    `gls(Z, y, D)` is the estimate of its mixed model. `heldout_adjoint(X, folds)` is `L' X`, where
    `L m` are the residuals, held out by `folds`, of the single target m it was last fitted to.
    """

    def gls(
        self, Z: FloatArray, y: FloatArray, D: FloatArray, sample_weight: FloatArray | None = None
    ) -> Pilot: ...

    def heldout_adjoint(self, X: FloatArray, folds: Folds) -> FloatArray: ...


@runtime_checkable
class Selector(Protocol):
    """Chooses columns of `X`. Any scikit-learn feature selector is one."""

    def fit(self, X: Any, y: Any) -> Self: ...

    def get_support(self) -> Any: ...


@runtime_checkable
class Splitter(Protocol):
    """A scikit-learn cross-validation splitter."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any: ...
