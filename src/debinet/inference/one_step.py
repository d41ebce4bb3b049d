"""Average effects of 0/1 treatments from residuals alone: one step from the coefficient.

With residuals `R_D` of D, `p = D - R_D` and `e = R_y - R_D b`, the mean of `R_D e / (p (1 - p))` is
that of `tau(Z) - b`, where tau is the effect: e contains `R_D (tau(Z) - b)`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from debinet.inference.regression import ResidualRegression
from debinet.protocols import FloatArray

# Predictions of a linear probability may leave the range of probabilities.
_LEAST = 0.01
# Average effects that differ from the coefficient at this level are mentioned.
_LEVEL = 0.05


@dataclass(frozen=True)
class OneStep:
    """The average effect of a treatment over all rows.

    Attributes
    ----------
    column : int
        Position among the treatments.
    average : float
    difference : float
        From the coefficient.
    se : float
        Of the difference.
    """

    column: int
    average: float
    difference: float
    se: float

    @property
    def pvalue(self) -> float:
        """Of the hypothesis that average and coefficient are the same."""
        return float(2 * stats.norm.sf(abs(self.difference) / self.se)) if self.se > 0 else 1.0


def one_step_averages(D: FloatArray, fit: ResidualRegression) -> tuple[OneStep, ...]:
    """Return the average effect of every 0/1 treatment among D (n, q)."""
    found, share = [], fit.w / fit.w.sum()
    for j in np.flatnonzero(((D == 0) | (D == 1)).all(axis=0)):
        residual = fit.R_D[:, j]
        p = np.clip(D[:, j] - residual, _LEAST, 1 - _LEAST)
        weight = share * residual / (p * (1 - p))
        terms = weight * fit.residuals
        difference = float(terms.sum())
        # The residuals contain the error of the coefficients.
        terms = terms - share * difference - fit.contributions @ (weight @ fit.R_D)
        se = float(np.sqrt((terms**2).sum()))
        found.append(OneStep(int(j), float(fit.coef[j]) + difference, difference, se))
    return tuple(found)


def average_notes(D: FloatArray, fit: ResidualRegression, names: tuple[str, ...]) -> list[str]:
    """Return a note for every 0/1 treatment whose average effect differs from its coefficient."""
    return [
        f"the effect of {names[one.column]} averaged over all rows is about {one.average:.4g}, not "
        f"its coefficient {fit.coef[one.column]:.4g} (difference {one.difference:.4g}, se "
        f"{one.se:.3g}): effects vary, and the coefficient weights rows by overlap; see "
        "average_effects()"
        for one in one_step_averages(D, fit)
        if one.pvalue < _LEVEL
    ]
