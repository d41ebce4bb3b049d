"""Least squares for any scales of the controls; the learner named "linear"."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from debinet.learners.inputs import Moments, column_moments, read_data, read_new_rows, read_weight
from debinet.protocols import FloatArray


class LinearLearner(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Least squares with an intercept, `m(z) = mean + (z - centre) coef`.

    scikit-learn's `LinearRegression` leaves out directions that are small relative to the largest:
    with controls in euros and in shares, the shares. Here columns are first divided by their
    standard deviations, so that only columns that the others determine are left out.

    Attributes
    ----------
    coef_ : FloatArray of shape (p,) or (m, p)
    intercept_ : float or FloatArray of shape (m,)
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.array([[1e9, 1e-9], [2e9, 1e-9], [1e9, 2e-9], [3e9, 5e-9]])
    >>> LinearLearner().fit(Z, Z @ [1e-9, 1e9]).predict(Z).round(6)
    array([2., 3., 3., 8.])
    """

    # Every output is fitted as if it were alone.
    scales_outputs = True

    def fit(self, Z: Any, M: Any, sample_weight: Any = None) -> Self:
        """Fit by least squares.

        Parameters
        ----------
        Z : array of shape (n, p)
        M : array of shape (n,) or (n, m)
        sample_weight : array of shape (n,), optional
            Not negative.
        """
        Z, M = read_data(self, Z, M)
        weight = read_weight(sample_weight, len(Z))
        targets, root = M.reshape(len(Z), -1), np.sqrt(weight)[:, None]
        used = weight > 0
        inputs = column_moments(Z[used], weight[used])
        means = np.average(targets, axis=0, weights=weight)
        X = root * inputs.standardize(Z)
        slopes: FloatArray = np.linalg.lstsq(X, root * (targets - means), rcond=None)[0]
        self._inputs, self._slopes, self._means = inputs, slopes, means
        self._flat = M.ndim == 1
        coef = slopes.T / inputs.sd
        intercept = means - coef @ inputs.mean
        self.coef_ = coef[0] if self._flat else coef
        self.intercept_ = float(intercept[0]) if self._flat else intercept
        return self

    def predict(self, Z: Any) -> FloatArray:
        """Return predictions of the shape of `M`, for any rows."""
        check_is_fitted(self, "coef_")
        out = self._means + self._inputs.standardize(read_new_rows(self, Z)) @ self._slopes
        return np.asarray(out[:, 0] if self._flat else out)

    _inputs: Moments
    _slopes: FloatArray
    _means: FloatArray
