"""Lasso and elastic net through scikit-learn's coordinate descent on inner products."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path

from debinet.protocols import FloatArray
from debinet.selection.duality import gradient_and_gap
from debinet.selection.norm import Norm
from debinet.selection.regularizer import Solutions

SWEEPS = (2_000, 100_000)


class DescentSolver:
    """Solves for one data set; each call starts from the solution of the one before.

    Parameters
    ----------
    X : FloatArray of shape (n, p)
        With p below n: otherwise inner products take longer than they save.
    y : FloatArray of shape (n,)
    norm : Norm
        The sum of absolute values.
    l1_ratio : float
        Share of the norm in the penalty; the rest is for half of the squares.
    """

    def __init__(self, X: FloatArray, y: FloatArray, norm: Norm, l1_ratio: float) -> None:
        n, p = X.shape
        self._X, self._y, self._norm, self._l1_ratio = X, y, norm, l1_ratio
        self._coef = np.zeros(p)
        self._Xy = X.T @ y
        self._gram = np.ascontiguousarray(X.T @ X)
        self.max_penalty = float(np.abs(self._Xy).max()) / (n * l1_ratio)

    def solve(self, penalties: FloatArray, tol: float) -> Solutions:
        """Solve for decreasing penalties to a gap of `tol |y|^2 / (2 n)`."""
        target = tol * float(self._y @ self._y) / (2 * self._y.size)
        coefs = self._descend(np.asarray(penalties), self._coef, tol, SWEEPS[0])
        gaps = np.array([self._gap(c, q) for c, q in zip(coefs, penalties, strict=True)])
        for g in np.flatnonzero(gaps > target):
            # with half of the tolerance, scikit-learn's rounding does not matter
            again = self._descend(np.asarray(penalties[g : g + 1]), coefs[g], tol / 2, SWEEPS[1])
            coefs[g], gaps[g] = again[0], self._gap(again[0], penalties[g])
        self._coef = coefs[-1]
        return Solutions(coefs, gaps, gaps <= target)

    def _descend(
        self, penalties: FloatArray, start: FloatArray, tol: float, sweeps: int
    ) -> FloatArray:
        with warnings.catch_warnings():
            # the gaps computed here say the same
            warnings.simplefilter("ignore", ConvergenceWarning)
            _, coefs, _ = enet_path(
                self._X,
                self._y,
                l1_ratio=self._l1_ratio,
                alphas=penalties,
                precompute=self._gram,
                Xy=self._Xy,
                coef_init=start.copy(),
                check_input=False,
                # scikit-learn's tolerance is relative to |y|^2, without the half
                tol=tol / 2,
                max_iter=sweeps,
            )
        return np.ascontiguousarray(coefs.T)

    def _gap(self, coef: FloatArray, penalty: float) -> float:
        l1, ridge = penalty * self._l1_ratio, penalty * (1 - self._l1_ratio)
        return gradient_and_gap(self._X, self._y, coef, self._norm, penalty=l1, ridge=ridge)[1]
