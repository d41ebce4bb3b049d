"""Least squares with any norm, solved on a small set of columns that grows until it suffices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debinet.protocols import FloatArray, IntArray
from debinet.selection.duality import gradient_and_gap
from debinet.selection.proximal import Quadratic, minimize
from debinet.selection.regularizer import Norm, Solutions

ROUNDS = 200
# Rounds without a smaller gap after which the tolerance counts as out of reach.
PATIENCE = 5
FIRST_ENTRANTS = 50
# Target of the gap on the working set, as a share of the gap over all columns.
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
        return gradient_and_gap(
            self._X, self._y, self._coef, self._norm, penalty=penalty, ridge=ridge
        )


class GramCache:
    """Inner products of columns, divided by n, each computed when it is first needed.

    Parameters
    ----------
    X : FloatArray of shape (n, p)
    """

    def __init__(self, X: FloatArray) -> None:
        self._X = X
        self._place = np.full(X.shape[1], -1)
        self._known = np.empty(0, dtype=np.int64)
        self._products = np.empty((0, 0))

    def block(self, columns: IntArray) -> FloatArray:
        """Return the inner products (k, k) among k columns."""
        missing = columns[self._place[columns] < 0]
        if missing.size:
            self._add(missing)
        places = self._place[columns]
        return np.asarray(self._products[np.ix_(places, places)])

    def _add(self, missing: IntArray) -> None:
        old = self._known.size
        known = np.concatenate([self._known, missing])
        if known.size > self._products.shape[0]:
            room = min(2 * known.size, self._place.size)
            grown = np.empty((room, room))
            grown[:old, :old] = self._products[:old, :old]
            self._products = grown
        cross = self._X[:, known].T @ self._X[:, missing] / self._X.shape[0]
        self._products[: known.size, old : known.size] = cross
        self._products[old : known.size, :old] = cross[:old].T
        self._place[missing] = np.arange(old, known.size)
        self._known = known
