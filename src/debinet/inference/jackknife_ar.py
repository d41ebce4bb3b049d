"""The jackknifed Anderson-Rubin test, for as many instruments as a share of the rows.

Mikusheva and Sun (2022), Inference with many weak instruments, Review of Economic Studies 89.
Products of a row with itself are left out of `e(b)' P e(b)`, so that its mean is zero at the truth
however many instruments there are; errors may have any variances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial
from scipy import stats

from debinet.exceptions import OptionError
from debinet.inference.instrumented import InstrumentedRegression, without_exogenous
from debinet.inference.interval_union import IntervalUnion, union_between
from debinet.protocols import FloatArray

# Rows of the projection matrix that are held at the same time.
_BLOCK = 1024


@dataclass(frozen=True)
class JackknifeMoments:
    """The test as polynomials of b, for one endogenous treatment.

    Attributes
    ----------
    numerator : FloatArray of shape (3,)
        Coefficients of `sum_{i != j} P_ij e_i e_j`, of 1, b and b^2.
    variance : FloatArray of shape (5,)
        Coefficients of its estimated variance.
    """

    numerator: FloatArray
    variance: FloatArray

    def statistic(self, b: float) -> float:
        """Return the statistic, standard normal at the truth; large values speak against b."""
        above, below = (Polynomial(part)(b) for part in (self.numerator, self.variance))
        return float(above / np.sqrt(max(float(below), np.finfo(np.float64).tiny)))

    def ends(self, limit: float) -> list[float]:
        """Return all b at which the statistic may be the limit."""
        square = Polynomial(self.numerator) ** 2 - limit**2 * Polynomial(self.variance)
        roots = square.roots()
        real = np.abs(roots.imag) <= 1e-6 * (1 + np.abs(roots.real))
        return [float(root) for root in roots.real[real]]


def jackknife_moments(fit: InstrumentedRegression) -> JackknifeMoments:
    """Return the polynomials of a fit with one endogenous treatment."""
    if fit.endogenous.sum() != 1:
        raise OptionError(
            "one endogenous treatment for the jackknifed Anderson-Rubin test",
            f"{int(fit.endogenous.sum())}",
            "Use confidence_set(), which projects.",
        )
    y, D, W = without_exogenous(fit)
    d = D[:, 0]
    Q = np.linalg.qr(W)[0]
    share = (Q**2).sum(axis=1)
    rest = 1 - share
    left = [column - Q @ (Q.T @ column) for column in (y, d)]
    # e_i (M e)_i for e = y - d b.
    H = np.column_stack([y * left[0], -(y * left[1] + d * left[0]), d * left[1]])
    V = np.column_stack([y, d])
    products = (Q.T @ V).T @ (Q.T @ V) - V.T @ (share[:, None] * V)
    weighted = np.zeros((3, 3))
    for start in range(0, len(y), _BLOCK):
        rows = slice(start, start + _BLOCK)
        P = Q[rows] @ Q.T
        P[np.arange(len(P)), np.arange(len(P)) + start] = 0.0
        square = P**2
        weighted += H[rows].T @ (square / (np.outer(rest[rows], rest) + square)) @ H
    numerator = np.array([products[0, 0], -2 * products[0, 1], products[1, 1]])
    variance = np.array([2 * np.trace(weighted[::-1], offset) for offset in range(-2, 3)])
    return JackknifeMoments(numerator, variance)


def jackknife_set(moments: list[JackknifeMoments], level: float) -> IntervalUnion:
    """Return all b that the one-sided test does not reject in at least half of the repetitions."""
    limit = float(stats.norm.ppf(level))

    def inside(b: float) -> bool:
        accepted = [one.statistic(b) <= limit for one in moments]
        return 2 * sum(accepted) >= len(accepted)

    return union_between((end for one in moments for end in one.ends(limit)), inside)
