"""The Lasso with weights from a first estimate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from debinet.protocols import FloatArray
from debinet.selection.absolute_norm import AbsoluteValues
from debinet.selection.plugin import gaussian_level
from debinet.selection.regularizer import Solutions


@dataclass(frozen=True)
class AdaptiveDescent:
    """`sum_j weight_j |t_j|` with `weight_j = |initial_j|^-exponent`.

    Attributes
    ----------
    initial : callable
        Maps centred X (n, p) and y (n,) to first coefficients (p,). It is called for every set of
        rows, so cross-validation covers the first estimate as well.
    exponent : float
        Positive.
    """

    initial: Callable[[FloatArray, FloatArray], FloatArray]
    exponent: float = 1.0

    def on(self, X: FloatArray, y: FloatArray) -> AdaptiveSolver:
        """Return a solver for these data."""
        return AdaptiveSolver(X, y, self.initial(X, y), self.exponent)

    def level(self, X: FloatArray) -> float:
        """Return the level of the Lasso for noise of standard deviation 1."""
        return gaussian_level(X)

    @property
    def degree(self) -> float:
        """The power of the Lasso's plug-in penalty that is used here.

        A first coefficient as large as the Lasso's penalty, which noise may reach, is then
        penalized as in the Lasso; larger ones less, smaller ones more.
        """
        return 1 + self.exponent


class AdaptiveSolver:
    """The Lasso on columns divided by their weights; columns of infinite weight stay out."""

    def __init__(self, X: FloatArray, y: FloatArray, initial: FloatArray, exponent: float) -> None:
        self._p = X.shape[1]
        self._kept = np.flatnonzero(initial)
        if not self._kept.size:
            self.max_penalty = float(np.abs(X.T @ y).max()) / y.size
            return
        self._weights = np.abs(initial[self._kept]) ** -exponent
        scaled = np.asfortranarray(X[:, self._kept] / self._weights)
        self._inner = AbsoluteValues().on(scaled, y)
        self.max_penalty = self._inner.max_penalty

    def solve(self, penalties: FloatArray, tol: float) -> Solutions:
        """Solve for decreasing penalties to a gap of `tol |y|^2 / (2 n)`."""
        coefs = np.zeros((len(penalties), self._p))
        if not self._kept.size:
            return Solutions(coefs, np.zeros(len(penalties)), np.ones(len(penalties), dtype=bool))
        inner = self._inner.solve(penalties, tol)
        coefs[:, self._kept] = inner.coefs / self._weights
        return Solutions(coefs, inner.gaps, inner.converged)
