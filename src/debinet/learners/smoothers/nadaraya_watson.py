"""`NadarayaWatson`: averages of neighbours, as in the classical partially linear model."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from debinet.data.folds import Folds
from debinet.exceptions import FoldError, OptionError
from debinet.learners.smoothers.local_average import (
    Rows,
    average_at,
    bandwidth_grid,
    leave_one_out_error,
)
from debinet.learners.wide.arguments import read_weight, typed
from debinet.learners.wide.inputs import column_moments
from debinet.protocols import FloatArray


class NadarayaWatson(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the average of the neighbours, weighted by `exp(-|z - z_i|^2 / (2 h^2))`.

    Inputs are standardized. Every output has a bandwidth h of its own, as y and D may depend on Z
    in very different ways.

    Parameters
    ----------
    bandwidth : "loo" or float
        `"loo"` minimizes the exact leave-one-out error over 40 bandwidths; a number is used for
        all outputs.

    Attributes
    ----------
    bandwidth_ : FloatArray of shape (m,)

    References
    ----------
    Nadaraya (1964), On estimating regression, Theory of Probability and its Applications 9.
    Robinson (1988), Root-N-consistent semiparametric regression, Econometrica 56.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.linspace(0, 1, 50)[:, None]
    >>> NadarayaWatson().fit(Z, Z**2).predict([[0.5]]).round(2)
    array([[0.25]])
    """

    def __init__(self, bandwidth: str | float = "loo") -> None:
        self.bandwidth = bandwidth

    def fit(self, Z: Any, M: Any, sample_weight: Any = None) -> Self:
        """Choose the bandwidths.

        Parameters
        ----------
        Z : array of shape (n, p)
        M : array of shape (n,) or (n, m)
        sample_weight : array of shape (n,), optional
            Not negative.
        """
        Z, M = typed(validate_data, self, Z, M, dtype=np.float64, multi_output=True, y_numeric=True)
        weight = read_weight(sample_weight, Z.shape[0])
        self._flat = M.ndim == 1
        self._moments = column_moments(Z[weight > 0], weight[weight > 0])
        targets = np.asarray(M, dtype=np.float64).reshape(Z.shape[0], -1)
        self._rows = Rows(self._moments.standardize(Z), targets, weight)
        self.bandwidth_ = _bandwidths(self.bandwidth, self._rows)
        return self

    def predict(self, Z: Any) -> FloatArray:
        """Return predictions of the shape of `M`, for any rows."""
        check_is_fitted(self)
        Z = typed(validate_data, self, Z, reset=False, dtype=np.float64)
        return self._shaped(average_at(self._rows, self._moments.standardize(Z), self.bandwidth_))

    def heldout(self, Z: Any, M: Any, folds: Folds, sample_weight: Any = None) -> FloatArray:
        """Fit on all rows; return averages over the rows outside of each row's fold.

        Exact for any partition, at the bandwidths and the standardization of the fit on all rows.
        """
        self.fit(Z, M, sample_weight)
        codes = folds.codes()
        outside = self._rows.weight.sum() - np.bincount(codes, self._rows.weight)
        if (outside <= 0).any():
            raise FoldError(
                "rows of positive weight outside of every fold", "none", "Use more folds."
            )
        held = average_at(self._rows, self._rows.Z, self.bandwidth_, (codes, codes))
        return self._shaped(held)

    def _shaped(self, out: FloatArray) -> FloatArray:
        return out[:, 0] if self._flat else out


def _bandwidths(bandwidth: Any, rows: Rows) -> FloatArray:
    m = rows.M.shape[1]
    if isinstance(bandwidth, str) and bandwidth == "loo":
        grid = bandwidth_grid(rows)
        return np.asarray(grid[leave_one_out_error(rows, grid).argmin(axis=0)])
    number = isinstance(bandwidth, (int, float, np.number)) and not isinstance(bandwidth, bool)
    if number and 0 < bandwidth < np.inf:
        return np.full(m, float(bandwidth))
    raise OptionError(
        "bandwidth to be 'loo' or a positive number", repr(bandwidth), "Use bandwidth='loo'."
    )
