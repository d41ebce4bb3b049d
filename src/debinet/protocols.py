"""What the library requires of objects that users may provide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
    bias : FloatArray of shape (q, q)
        Second moments of the bias `rows' f` under the model's prior of f.
    choice : object
        What `PenalizedPrepared.gls_again` needs of the estimate; learners define it.
    """

    coef: FloatArray
    rows: FloatArray
    noise: float
    bias: FloatArray
    choice: Any = None


@dataclass(frozen=True)
class StoppingCurve:
    """Where a learner stopped, for every output.

    Attributes
    ----------
    along : str
        What grows along the path, such as "epochs".
    measure : str
        What was minimized.
    x, value : FloatArray of shape (g, m)
        Positions on the path, and the measure there.
    chosen : FloatArray of shape (m,)
        Where it stopped.
    """

    along: str
    measure: str
    x: FloatArray
    value: FloatArray
    chosen: FloatArray

    def first(self, m: int) -> StoppingCurve:
        """Return the curves of the first m outputs."""
        return replace(self, x=self.x[:, :m], value=self.value[:, :m], chosen=self.chosen[:m])


@dataclass(frozen=True)
class Diagnostics:
    """Diagnostics of a fit, those that the learner has.

    Attributes
    ----------
    stopping : StoppingCurve, optional
    noise_variance : FloatArray of shape (m,), optional
        Variance of the noise in each output, in a row of weight one.
    relevance : FloatArray of shape (p,) or (p, m), optional
        Weights of the features, for all outputs or for each.
    """

    stopping: StoppingCurve | None = None
    noise_variance: FloatArray | None = None
    relevance: FloatArray | None = None


@dataclass(frozen=True)
class HeldOut:
    """Predictions of rows by models that did not see them.

    Attributes
    ----------
    predictions : FloatArray of shape (n, m)
    models : tuple
        Fitted, to predict new rows by their average: one per fold, or one of all rows.
    fit : object
        What `Prepared.adjoint` and `Prepared.diagnostics` need of the fit; learners define it.
    """

    predictions: FloatArray
    models: tuple[Any, ...]
    fit: Any = None


@runtime_checkable
class DiagnosedLearner(Learner, Protocol):
    """A learner that, once fitted, returns diagnostics of its fit."""

    def diagnostics(self) -> Diagnostics: ...


class Prepared(Protocol):
    """A learner on given inputs Z and weights: what all fits to these rows start from."""

    def hold_out(self, M: FloatArray, folds: Folds) -> HeldOut:
        """Fit targets (n, m); predict every row from the rows outside of its fold.

        At the tuning parameters of the fit to all rows. `folds` is a partition in which each fold
        is predicted from all the other rows, or means in-sample predictions.
        """

    def gls(self, y: FloatArray, D: FloatArray, *, joint: bool = False) -> Pilot | None:
        """Return the estimate of the learner's mixed model, if it has one.

        With `joint`, the model in which f may be related to the conditional means of D.
        """

    def adjoint(self, X: FloatArray, folds: Folds, held: HeldOut) -> FloatArray:
        """Return `L' X`, `L m` being the held-out residuals of the one target m of `held`.

        Needed if there is a mixed model; held-out residuals are then linear in the target.
        """

    def diagnostics(self, held: HeldOut) -> Diagnostics:
        """Return the diagnostics of a fit."""


@runtime_checkable
class PenalizedPrepared(Prepared, Protocol):
    """A `Prepared` that can repeat its fits with other penalties."""

    def scaled(self, factor: float) -> PenalizedPrepared:
        """Return the same learner with its penalties, once chosen, multiplied by a factor."""

    def hold_again(self, M: FloatArray, folds: Folds, held: HeldOut) -> HeldOut:
        """Hold out the targets of an earlier fit, at its penalties times the factor.

        It has no models to predict new rows.
        """

    def gls_again(self, y: FloatArray, D: FloatArray, pilot: Pilot) -> Pilot | None:
        """Repeat an earlier estimate, at its penalty times the factor."""


@runtime_checkable
class PreparedLearner(Learner, Protocol):
    """A learner that predicts held-out rows in closed form.

    `prepare(Z, M, weights)` does all the work that fits to the same rows share. M (n, m) are the
    targets of the first of them.
    """

    def prepare(
        self, Z: FloatArray, M: FloatArray, weights: FloatArray | None = None
    ) -> Prepared: ...


@runtime_checkable
class SmoothLearner(PreparedLearner, Protocol):
    """A learner with a mixed model that says whether its functions are smooth.

    If they are, its noise variances can be trusted, and `method="auto"` is the joint model.
    """

    @property
    def is_smooth(self) -> bool: ...


@runtime_checkable
class RowWeighingLearner(Learner, Protocol):
    """A learner that, once fitted, says how its training rows weigh in its predictions.

    `row_weights(output, weight)`, given the positive sample weights of the n rows, returns a
    function from new rows to weights (r, n): predictions are the weights times the targets, and
    fits without some rows are those to all rows whose targets there are the predictions without
    them, as in ridge regression. None if it cannot.
    """

    def row_weights(
        self, output: int, weight: FloatArray
    ) -> Callable[[FloatArray], FloatArray] | None: ...


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
class OutputScalingLearner(Learner, Protocol):
    """A learner that says whether it brings outputs to one scale itself.

    If it does, it is given outputs in the user's units.
    """

    scales_outputs: bool


@runtime_checkable
class EnsembleLearner(Learner, Protocol):
    """A weighted average of learners whose weights come from held-out predictions.

    `members(n)` are the learners for n rows, `weigh` the weights (k, m) of the k members for each
    output, from their predictions (k, n, m). `random_state` decides what is random in the members;
    None leaves it to the engine.
    """

    random_state: Any

    def members(self, n: int) -> list[Any]: ...

    def weigh(
        self, predictions: FloatArray, M: FloatArray, sample_weight: FloatArray | None = None
    ) -> FloatArray: ...


@runtime_checkable
class Selector(Protocol):
    """Chooses columns of `X`. Any scikit-learn feature selector is one."""

    def fit(self, X: Any, y: Any) -> Self: ...

    def get_support(self) -> Any: ...


@runtime_checkable
class GroupedSelector(Selector, Protocol):
    """A selector that is given the group of every column, or None."""

    groups: Any


@runtime_checkable
class Splitter(Protocol):
    """A scikit-learn cross-validation splitter."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any: ...
