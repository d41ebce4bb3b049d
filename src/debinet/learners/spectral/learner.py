"""What all learners that are spectral ridge regression share: everything but their kernel."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from debinet.exceptions import OptionError
from debinet.learners.inputs import read_data, read_new_rows, read_weight
from debinet.learners.spectral.prepared import Predictor, SpectralFit, SpectralPrepared, View
from debinet.learners.spectral.row_weights import ridge_row_weights
from debinet.learners.spectral.spectrum import RIDGE, SpectralFilter
from debinet.learners.spectral.tuning import StoppingPath, inverse
from debinet.protocols import Diagnostics, FloatArray, StoppingCurve

# Without the linear part, and with one that dominates: far better if the truth is linear.
AUTO_SKIPS = (0.0, 10.0)


@runtime_checkable
class TrainingRows(Protocol):
    """Fitted outputs that keep the rows they were fitted to."""

    def kernel(self, skip: float, Z: FloatArray | None = None) -> FloatArray:
        """Return the kernel between rows (r, p), or the training rows, and the training rows."""


class SpectralLearner(MultiOutputMixin, RegressorMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Ridge regression in the eigenvectors of a kernel, with a penalty for each output.

    Subclasses define the kernel: `_decompose` returns one or several views of the rows.
    """

    skip: Any
    tune: Any
    _auto_skips = AUTO_SKIPS
    _predictor: Predictor
    _path: StoppingPath

    @abstractmethod
    def check_options(self) -> None:
        """Check all options before anything is decomposed."""

    @abstractmethod
    def _decompose(self, Z: FloatArray, M: FloatArray, weight: FloatArray) -> tuple[View, ...]:
        """Return one view of rows (n, p) of positive weight, or one for each target (n, m)."""

    @property
    def spectral_filter(self) -> SpectralFilter:
        """How much of each direction is learned until a stopping time."""
        return RIDGE

    def prepare(self, Z: Any, M: Any, weights: Any = None) -> SpectralPrepared:
        """Decompose the inputs, once for all fits to the same rows.

        Parameters
        ----------
        Z : array of shape (n, p)
        M : array of shape (n,) or (n, m)
            Targets, from which a network may learn which features matter.
        weights : array of shape (n,), optional
            Not negative. Rows of weight 0 have no influence.
        """
        self.check_options()
        Z, M = read_data(self, Z, M)
        weight = read_weight(weights, len(Z))
        rows = np.flatnonzero(weight > 0)
        inside = Z if rows.size == len(Z) else Z[rows]
        views = self._decompose(inside, M.reshape(len(Z), -1)[rows], weight[rows])
        return SpectralPrepared(self, Z, rows, np.sqrt(weight[rows]), views)

    def fit(self, Z: Any, M: Any, sample_weight: Any = None) -> Self:
        """Learn `E(M | Z)`.

        Parameters
        ----------
        Z : array of shape (n, p)
        M : array of shape (n,) or (n, m)
        sample_weight : array of shape (n,), optional
            Not negative. Rows of weight 0 have no influence.
        """
        prepared = self.prepare(Z, M, sample_weight)
        targets = np.asarray(M, dtype=np.float64)
        self._flat = targets.ndim == 1
        self._take(prepared.fit(targets.reshape(len(prepared.Z), -1)), prepared.views)
        return self

    def predict(self, Z: Any) -> FloatArray:
        """Return predictions of the shape of `M`, for any rows."""
        check_is_fitted(self, "_predictor")
        out = self._predictor.predict(read_new_rows(self, Z))
        return out[:, 0] if self._flat else out

    def stopping_path(self) -> StoppingPath:
        """Return penalties, criterion and degrees of freedom along each output's path."""
        check_is_fitted(self, "_predictor")
        return self._path

    def row_weights(
        self, output: int, weight: FloatArray
    ) -> Callable[[FloatArray], FloatArray] | None:
        """Return the function from new rows (r, p) to the weights (r, n) of the n training rows.

        The predictions of an output are these weights times its targets. None if the training rows
        were not kept, or if the filter is not ridge, whose fits without a row are other ones.

        Parameters
        ----------
        output : int
        weight : FloatArray of shape (n,)
            Sample weights of the rows of the fit, all positive.
        """
        check_is_fitted(self, "_predictor")
        (part,) = (
            part
            for part, outputs in zip(self._predictor.parts, self._predictor.outputs, strict=True)
            if output in outputs
        )
        if self.spectral_filter is not RIDGE or not isinstance(part, TrainingRows):
            return None
        penalty, skip = float(self.penalty_[output]), float(self.skip_[output])
        return ridge_row_weights(part.kernel(skip), lambda Z: part.kernel(skip, Z), penalty, weight)

    def diagnostics(self) -> Diagnostics:
        """Return the stopping path and the noise of a fit."""
        check_is_fitted(self, "_predictor")
        path = self._path
        measured = ("effective degrees of freedom", self.tune.upper())
        stopping = StoppingCurve(*measured, path.dof, path.criterion, self.dof_)
        return Diagnostics(stopping, self.noise_variance_)

    def fitted(self, fit: SpectralFit, p: int, views: tuple[Any, ...] = ()) -> Self:
        """Return a copy that has been fitted to p features; predictions have two dimensions."""
        twin: Self = clone(self)
        twin.n_features_in_, twin._flat = p, False
        twin._take(fit, views)
        return twin

    def _take(self, fit: SpectralFit, views: tuple[Any, ...]) -> None:  # noqa: ARG002
        """Keep what predictions and attributes need; nothing of size n x n."""
        assert fit.predictor is not None
        self._predictor, self._path = fit.predictor, fit.tuning.path
        self.penalty_, self.skip_ = inverse(fit.tuning.time), fit.tuning.path.skip
        self.noise_variance_ = fit.tuning.noise * fit.target.sd**2
        self.dof_ = fit.tuning.dof

    def skip_weights(self, learned: float | None = None) -> tuple[float, ...]:
        """Return the skip weights to try; one that was learned takes the place of "auto"."""
        if isinstance(self.skip, str) and self.skip == "auto":
            return self._auto_skips if learned is None else (learned,)
        if isinstance(self.skip, (int, float, np.number)) and 0 <= self.skip < np.inf:
            return (float(self.skip),)
        raise OptionError(
            "skip to be 'auto' or a number that is not negative",
            repr(self.skip),
            "Use skip='auto'.",
        )
