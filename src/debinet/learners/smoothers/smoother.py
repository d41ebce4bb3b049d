"""What `NadarayaWatson` and `LocalLinear` share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from debinet.data.folds import Folds
from debinet.data.options import one_of
from debinet.exceptions import FoldError
from debinet.learners.closed_form import ClosedForm
from debinet.learners.inputs import Moments, column_moments, read_data, read_new_rows, read_weight
from debinet.learners.smoothers.bandwidths import find_bandwidths
from debinet.learners.smoothers.kernels import KERNELS
from debinet.learners.smoothers.rows import Points, StandardizedRows
from debinet.learners.smoothers.smoothing import Local, smooth
from debinet.protocols import FloatArray, HeldOut

# Standard deviations beyond which squares would overflow.
_FAR = 1e100


class KernelSmoother(MultiOutputMixin, RegressorMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Abstract: predictions from neighbours, weighted by a kernel of the distance.

    Attributes
    ----------
    bandwidth_ : FloatArray of shape (m,) or (m, p)
    n_features_in_ : int
    """

    def __init__(
        self, bandwidth: Any = "loo", kernel: str = "gaussian", *, per_feature: bool = False
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.per_feature = per_feature

    @abstractmethod
    def _local(self, rows: StandardizedRows) -> Local:
        """Return how predictions are computed from weighted neighbours."""

    def fit(self, Z: Any, M: Any, sample_weight: Any = None) -> Self:
        """Choose the bandwidths.

        Parameters
        ----------
        Z : array of shape (n, p)
        M : array of shape (n,) or (n, m)
        sample_weight : array of shape (n,), optional
            Not negative.
        """
        self._fit(Z, M, sample_weight)
        return self

    def predict(self, Z: Any) -> FloatArray:
        """Return predictions of the shape of `M`, for any rows."""
        check_is_fitted(self)
        Z = read_new_rows(self, Z)
        return self._smooth(Points(_standardize(Z, self._inputs)))

    def prepare(self, Z: Any, M: Any, weights: Any = None) -> ClosedForm:  # noqa: ARG002
        """Return the closed form: exact for any partition of the rows.

        Bandwidths and standardization are those of the fit to all rows.
        """
        return ClosedForm(lambda M, folds: clone(self)._held_out(Z, M, folds, weights))

    def _held_out(self, Z: Any, M: Any, folds: Folds, weights: Any) -> HeldOut:
        standardized, weight = self._fit(Z, M, weights)
        if folds.in_sample:
            return HeldOut(self._smooth(Points(standardized)), (self,))
        codes = folds.codes()
        outside = weight.sum() - np.bincount(codes, weight)
        if (outside <= 0).any():
            raise FoldError(
                "rows of positive weight outside of every fold", "none", "Use more folds."
            )
        points = Points(standardized, (codes, codes[weight > 0]))
        return HeldOut(self._smooth(points), (self,))

    def _fit(self, Z: Any, M: Any, sample_weight: Any) -> tuple[FloatArray, FloatArray]:
        """Fit; return the standardized inputs and the weights of all rows."""
        Z, M = read_data(self, Z, M)
        weight = read_weight(sample_weight, Z.shape[0])
        kernel = one_of("kernel", self.kernel, KERNELS)
        self._flat = M.ndim == 1
        targets = M.reshape(Z.shape[0], -1)
        used = weight > 0
        self._inputs = _without_constants(column_moments(Z[used], weight[used]), Z[used])
        self._outputs = column_moments(targets[used], weight[used])
        standardized = _standardize(Z, self._inputs)
        rows = StandardizedRows(
            standardized[used],
            self._outputs.standardize(targets[used]),
            weight[used] / weight[used].mean(),
        )
        self._fitted = self._local(rows)
        self.bandwidth_ = find_bandwidths(self._fitted, kernel, self.bandwidth, self.per_feature)
        return standardized, weight

    def _smooth(self, points: Points) -> FloatArray:
        out = smooth(self._fitted, self.kernel, points, self.bandwidth_)
        out = self._outputs.mean + self._outputs.sd * out
        return out[:, 0] if self._flat else out


def _without_constants(moments: Moments, Z: FloatArray) -> Moments:
    """Standardize constant columns to zero for any value: they do not distinguish rows."""
    constant = ~moments.standardize(Z).any(axis=0)
    return replace(moments, sd=np.where(constant, np.inf, moments.sd))


def _standardize(Z: FloatArray, moments: Moments) -> FloatArray:
    return np.clip(moments.standardize(Z), -_FAR, _FAR)
