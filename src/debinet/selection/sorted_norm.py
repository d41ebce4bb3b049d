"""The sorted absolute-value norm of SLOPE."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve
from scipy.optimize import isotonic_regression
from scipy.stats import norm as normal

from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class SortedNorm:
    """`sum_i weight_i |t|_(i)`, the largest coefficient with the largest weight.

    Attributes
    ----------
    weights : FloatArray of shape (p,)
        Not increasing, not negative, the first one positive.
    """

    weights: FloatArray

    def value(self, coef: FloatArray) -> float:
        """Return P(coef)."""
        return float(self.weights @ np.sort(np.abs(coef))[::-1])

    def dual(self, z: FloatArray) -> float:
        """Return the largest ratio of partial sums: of sorted |z| over those of the weights."""
        sums = np.cumsum(np.sort(np.abs(z))[::-1])
        return float((sums / np.cumsum(self.weights)).max())

    def prox(self, v: FloatArray, penalty: float) -> FloatArray:
        """Sort, subtract the weights, pool adjacent values that are out of order, cut at zero.

        Pooling adjacent violators with a stack, linear in p once sorted (Bogdan et al. 2015).
        """
        size = np.abs(v)
        order = np.argsort(-size, kind="stable")
        pooled = isotonic_regression(size[order] - penalty * self.weights, increasing=False).x
        out = np.empty_like(v)
        out[order] = np.maximum(pooled, 0)
        return np.asarray(np.sign(v) * out)

    def working_columns(
        self, coef: FloatArray, z: FloatArray, penalty: float, limit: int
    ) -> IntArray:
        """Return the columns in use and those that would enter by the largest |z|.

        Ranked by |z|, a leading set of columns enters if the sums of `|z| - penalty weight` over
        it and over all of its tails are positive, so the set ends where the partial sums peak
        (Larsson, Bogdan and Wallin 2020, Algorithm 1, without its loop).
        """
        size = np.abs(z)
        order = np.argsort(-size, kind="stable")
        sums = np.cumsum(size[order] - penalty * self.weights)
        peak = int(sums.argmax())
        used = coef != 0
        if sums[peak] > 0:
            leading = order[: peak + 1]
            used[leading[~used[leading]][:limit]] = True
        return np.flatnonzero(used)

    def restrict(self, columns: IntArray) -> SortedNorm:
        """Return the norm of coefficients that are zero outside of `columns`.

        Zeros take the smallest weights.
        """
        return SortedNorm(self.weights[: columns.size])

    def newton(self, coef: FloatArray, G: FloatArray, z: FloatArray, penalty: float) -> FloatArray:
        """Solve for the sizes of coefficients, those of equal size staying equal."""
        used = np.flatnonzero(coef)
        used = used[np.argsort(-np.abs(coef[used]), kind="stable")]
        sign, size = np.sign(coef[used]), np.abs(coef[used])
        starts = np.flatnonzero(np.diff(size, prepend=np.inf))
        signed = G[np.ix_(used, used)] * np.outer(sign, sign)
        pooled = np.add.reduceat(np.add.reduceat(signed, starts, axis=0), starts, axis=1)
        slope = np.add.reduceat(sign * z[used] - penalty * self.weights[: used.size], starts)
        step = solve(pooled, slope, assume_a="pos")
        new = coef.copy()
        new[used] += sign * np.repeat(step, np.diff(starts, append=used.size))
        return new

    def level(self, X: FloatArray) -> float:
        """Return the plug-in penalty for noise of standard deviation 1: `1 / sqrt(n)`.

        The weights are already quantiles of the noise; see `benjamini_hochberg_weights`.
        """
        return float(X.std(axis=0).max() / np.sqrt(X.shape[0]))


def benjamini_hochberg_weights(p: int, q: float) -> FloatArray:
    """Return `Phi^-1(1 - i q / (2 p))` for i = 1, ..., p."""
    return np.asarray(normal.isf(np.arange(1, p + 1) * q / (2 * p)))
