"""The sum of absolute values, and its two solvers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import solve
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path

from debinet.protocols import FloatArray, IntArray
from debinet.selection.duality import gradient_and_gap
from debinet.selection.plugin import gaussian_level
from debinet.selection.regularizer import Norm, PathSolver, Solutions
from debinet.selection.working_set import WorkingSetSolver

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
            # the gaps computed here show the same
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


@dataclass(frozen=True)
class AbsoluteNorm:
    """`|t|_1`."""

    def value(self, coef: FloatArray) -> float:
        """Return P(coef)."""
        return float(np.abs(coef).sum())

    def dual(self, z: FloatArray) -> float:
        """Return the largest absolute value."""
        return float(np.abs(z).max())

    def prox(self, v: FloatArray, penalty: float) -> FloatArray:
        """Move every value towards zero by at most the penalty."""
        return np.asarray(v - np.clip(v, -penalty, penalty))

    def working_columns(
        self, coef: FloatArray, z: FloatArray, penalty: float, limit: int
    ) -> IntArray:
        """Return the columns in use and those with the largest |z| above the penalty."""
        used = coef != 0
        size = np.abs(z)
        entering = np.flatnonzero((size > penalty) & ~used)
        used[entering[np.argsort(-size[entering], kind="stable")[:limit]]] = True
        return np.flatnonzero(used)

    def restrict(self, columns: IntArray) -> AbsoluteNorm:  # noqa: ARG002
        """Return the norm of coefficients that are zero outside of `columns`."""
        return self

    def newton(self, coef: FloatArray, G: FloatArray, z: FloatArray, penalty: float) -> FloatArray:
        """Solve for the nonzero coefficients, keeping their signs."""
        used = np.flatnonzero(coef)
        slope = z[used] - penalty * np.sign(coef[used])
        new = coef.copy()
        new[used] += solve(G[np.ix_(used, used)], slope, assume_a="pos")
        return new

    def level(self, X: FloatArray) -> float:
        """Return the plug-in penalty for noise of standard deviation 1."""
        return gaussian_level(X)


@dataclass(frozen=True)
class AbsoluteValues:
    """`l1_ratio |t|_1 + (1 - l1_ratio) |t|^2 / 2`, the elastic net; with 1, the Lasso.

    Attributes
    ----------
    l1_ratio : float
        Above 0, at most 1.
    """

    l1_ratio: float = 1.0
    degree: ClassVar[float] = 1.0

    def on(self, X: FloatArray, y: FloatArray) -> PathSolver:
        """Return a solver for these data.

        scikit-learn's coordinate descent if there are fewer columns than rows; otherwise working
        sets, which at n = 800, p = 3000 and 300 effects follow a path five times as fast.
        """
        n, p = X.shape
        if p < n:
            return DescentSolver(X, y, AbsoluteNorm(), self.l1_ratio)
        return WorkingSetSolver(X, y, AbsoluteNorm(), self.l1_ratio)

    def level(self, X: FloatArray) -> float:
        """Return the plug-in penalty for noise of standard deviation 1.

        The level of the Lasso divided by `l1_ratio`: the absolute values then have the Lasso's.
        """
        return gaussian_level(X) / self.l1_ratio
