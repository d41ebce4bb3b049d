"""Intervals that cover for every f of a bounded size (Armstrong, Kolesar and Kwon).

An estimate `coef = A' y` has the bias `A' f`. If f has the norm C in the space of the kernel,
scaled such that 1 is the size that the prior of the mixed model expects, the bias is at most
`C sqrt(bias_jj)`, with `bias` its second moments under that prior. The estimate is then normal
around a point at most that far from the coefficient, and the half length of the shortest interval
around it is `se cv(C sqrt(bias_jj) / se)`, cv(t) the quantile of `|t + T|`, where T has the
distribution of the other intervals, Student's with the result's degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from debinet.exceptions import InputError, OptionError
from debinet.inference.regression import ResidualRegression
from debinet.inference.without_instruments import require_no_instruments
from debinet.protocols import FloatArray

if TYPE_CHECKING:
    from debinet.inference.result import Inference

# Beyond this ratio of bias and standard error only one of the two tails counts.
_FAR = 30.0


@dataclass(frozen=True)
class BiasBounds:
    """The noise and the largest bias of every coefficient.

    Attributes
    ----------
    se : FloatArray of shape (q,)
        Standard errors without the expected bias.
    bias : FloatArray of shape (q,)
        Largest bias at norm 1.
    df : float
        Degrees of freedom of Student's distribution.
    """

    se: FloatArray
    bias: FloatArray
    df: float

    def reach(self, level: float, norm: float) -> FloatArray:
        """Return the half lengths (q,) of intervals that cover for every f of that norm."""
        half = [
            se * folded_quantile(level, norm * bias / se, self.df) if se > 0 else norm * bias
            for se, bias in zip(self.se, self.bias, strict=True)
        ]
        return np.asarray(half)


def folded_quantile(level: float, t: float, df: float = np.inf) -> float:
    """Return the quantile of `|t + T|`, T of Student's distribution; normal if df is infinite."""
    t = abs(t)
    if t > _FAR:
        return float(t + stats.t.ppf(level, df))

    def excess(c: float) -> float:
        return float(stats.t.cdf(c - t, df) - stats.t.cdf(-c - t, df)) - level

    highest = t + float(stats.t.ppf((1 + level) / 2, df)) + 1.0
    return float(brentq(excess, 0.0, highest, xtol=1e-12))


def bias_bounds(result: Inference) -> BiasBounds:
    """Return what honest intervals need.

    Raises
    ------
    OptionError
        If the method's bias is not known.
    """
    require_no_instruments(result.provenance, "honest intervals")
    fits = [one for one in result.regressions if isinstance(one, ResidualRegression)]
    known = [np.diag(one.bias) for one in fits if one.bias is not None]
    if not known or len(known) < len(result.regressions):
        method = result.provenance.method or "a result without a method"
        raise OptionError(
            "a fit in memory by method='joint' or 'gls', whose bias is known, for honest intervals",
            f"method={method!r}" if fits else "a result of streamed data",
            "Use method='joint' with learner='wide', or 'gls' with any learner that has a mixed "
            "model.",
        )
    second = np.median(np.stack(known), axis=0)
    variance = np.diag(result.covariance)
    if result.vcov_type == "full":  # which contains the bias: it must not be counted twice
        variance = np.maximum(variance - second, 0.0)
    return BiasBounds(np.sqrt(variance), np.sqrt(second), result.df)


def honest_reach(result: Inference, level: float, norm: float | None, *, joint: bool) -> FloatArray:
    """Return the half lengths (q,) of honest intervals; norm None is 1."""
    if joint:
        raise OptionError(
            "joint=False with honest=True, as the bound of the bias is that of one coefficient",
            "both",
            "Use level=1 - 0.05 / q with honest=True for all q coefficients at once.",
        )
    norm = 1.0 if norm is None else float(norm)
    if not (np.isfinite(norm) and norm >= 0):
        raise InputError(
            "a norm of f that is finite and not negative", repr(norm), "Use norm=1 to start with."
        )
    return bias_bounds(result).reach(level, norm)


def breakdown_norms(result: Inference, level: float) -> FloatArray:
    """Return the smallest norms (q,) at which honest intervals contain 0.

    It is 0 if the interval contains 0 without any bias, infinite if there is no bias at all.
    """
    bounds = bias_bounds(result)
    pairs = zip(result.estimate, bounds.se, bounds.bias, strict=True)
    return np.array([_breakdown(abs(c), se, bias, level, result.df) for c, se, bias in pairs])


def _breakdown(coef: float, se: float, bias: float, level: float, df: float) -> float:
    one = BiasBounds(np.array([se]), np.array([bias]), df)

    def distance(norm: float) -> float:
        return float(one.reach(level, norm)[0]) - coef

    if distance(0.0) >= 0:
        return 0.0
    # the half length is at least the bias
    return float(brentq(distance, 0.0, coef / bias)) if bias > 0 else float("inf")
