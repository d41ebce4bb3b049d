"""The derivative of the effect of a dose, averaged over the rows of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from debinet.data.observed_dose import ObservedDose
from debinet.data.options import share
from debinet.inference.covariance import clustered
from debinet.protocols import FloatArray

if TYPE_CHECKING:
    from debinet.inference.result import Inference


@dataclass(frozen=True)
class AverageDerivative:
    """The mean derivative of the effect of a dose.

    Attributes
    ----------
    estimate : float
    se : float
        Standard error, in which the doses are a sample, too.
    pvalue : float
        Two-sided, that it is zero.
    lower, upper : float
        Interval of the level that was asked for.
    """

    estimate: float
    se: float
    pvalue: float
    lower: float
    upper: float


def average_derivative(result: Inference, dose: ObservedDose, level: float) -> AverageDerivative:
    """Return `a'b` with `a = mean B'(D_i)`; its variance is `a'V a + var(B'(D)'b) / n`."""
    share("level", level, "Use level=0.95 for 95 % intervals.")
    terms = list(dose.basis.terms)
    derivatives = dose.basis.derivatives(dose.values)
    slopes, a = derivatives @ result.coef[terms].to_numpy(), dose.shares @ derivatives
    estimate = float(dose.shares @ slopes)
    variance = float(a @ result.vcov.loc[terms, terms].to_numpy() @ a)
    variance += _variance_of_sum(result, dose.shares * (slopes - estimate))
    se = float(np.sqrt(variance))
    half = float(stats.t.ppf((1 + level) / 2, result.df)) * se
    pvalue = float(2 * stats.t.sf(abs(estimate) / se, result.df))
    return AverageDerivative(estimate, se, pvalue, estimate - half, estimate + half)


def _variance_of_sum(result: Inference, parts: FloatArray) -> float:
    """Return the variance of the sum of parts (n,), independent between rows or clusters."""
    if result.vcov_type in {"cluster", "full"} and result.groups is not None:
        fit = result.regressions[0].all_rows("the mean derivative of a dose")
        return float(clustered(parts[:, None], result.groups, fit)[0, 0])
    return float(parts @ parts)
