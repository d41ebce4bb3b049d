"""Least squares with any norm, solved on few columns that grow until no other would enter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debinet.protocols import FloatArray
from debinet.selection.duality import Moments, duality_gap
from debinet.selection.gram import GramCache
from debinet.selection.norm import Norm
from debinet.selection.proximal import Quadratic, minimize
from debinet.selection.regularizer import Solutions

ROUNDS = 200
# Rounds in which the gap may fail to shrink before the tolerance counts as out of reach.
PATIENCE = 5
FIRST_ENTRANTS = 50
# The gap on the working set, relative to the one over all columns that it should bring down.
INNER_SHARE = 0.1


@dataclass(frozen=True)
class WorkingSet:
    """A norm, solved for with working sets and accelerated proximal gradients.

    Attributes
    ----------
    norm : Norm
    """

    norm: Norm
    degree: ClassVar[float] = 1.0

    def on(self, X: FloatArray, y: FloatArray) -> WorkingSetSolver:
        """Return a solver for these data."""
        return WorkingSetSolver(X, y, self.norm)

    def level(self, X: FloatArray) -> float:
        """Return the plug-in penalty for noise of standard deviation 1."""
        return self.norm.level(X)


class WorkingSetSolver:
    """Solves for one data set; inner products and coefficients carry over between penalties.

    Parameters
    ----------
    X : FloatArray of shape (n, p)
    y : FloatArray of shape (n,)
    norm : Norm
    share : float
        Share of the norm in the penalty; the rest is for half of the squares.
    """

    def __init__(self, X: FloatArray, y: FloatArray, norm: Norm, share: float = 1.0) -> None:
        self._X, self._y, self._norm, self._share = X, y, norm, share
        self._gram = GramCache(X)
        self._coef = np.zeros(X.shape[1])
        self._c = X.T @ y / y.size
        self._square = float(y @ y) / y.size
        self.max_penalty = norm.dual(self._c) / share

    def solve(self, penalties: FloatArray, tol: float) -> Solutions:
        """Solve for decreasing penalties to a gap of `tol |y|^2 / (2 n)`."""
        target = tol * self._square / 2
        coefs = np.empty((len(penalties), self._coef.size))
        gaps = np.empty(len(penalties))
        for g, penalty in enumerate(penalties):
            gaps[g] = self._solve_one(float(penalty), target)
            coefs[g] = self._coef
        return Solutions(coefs, gaps, gaps <= target)

    def _solve_one(self, penalty: float, target: float) -> float:
        """Bring the coefficients to a gap of `target`; return the gap reached."""
        best, failures = np.inf, 0
        ridge, penalty = (1 - self._share) * penalty, self._share * penalty
        z, gap = self._state(penalty, ridge)
        for _ in range(ROUNDS):
            if gap <= target or failures == PATIENCE:
                break
            limit = max(FIRST_ENTRANTS, int(np.count_nonzero(self._coef)))
            columns = self._norm.working_columns(self._coef, z, penalty, limit)
            if not columns.size:
                break
            G = self._gram.block(columns)
            G.flat[:: columns.size + 1] += ridge
            quadratic = Quadratic(G, self._c[columns], self._square)
            inner = minimize(
                quadratic,
                self._norm.restrict(columns),
                penalty,
                self._coef[columns],
                INNER_SHARE * max(gap, target),
            )
            self._coef = np.zeros_like(self._coef)
            self._coef[columns] = inner
            z, gap = self._state(penalty, ridge)
            failures = 0 if gap < 0.9 * best else failures + 1
            best = min(best, gap)
        return gap

    def _state(self, penalty: float, ridge: float) -> tuple[FloatArray, float]:
        """Return `X'r / n` and the duality gap over all columns; squares are rows of their own."""
        used = np.flatnonzero(self._coef)
        r = self._y - self._X[:, used] @ self._coef[used]
        n = r.size
        z = np.asarray(self._X.T @ r) / n - ridge * self._coef
        squares = ridge * float(self._coef @ self._coef)
        moments = Moments(float(r @ r) / n + squares, float(self._y @ r) / n)
        penalized = penalty * self._norm.value(self._coef)
        return z, duality_gap(moments, penalized, self._norm.dual(z), penalty)
