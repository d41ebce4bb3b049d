"""Huber's M-estimator as the last stage: rows with large residuals count less.

The coefficients solve

    sum_i w_i R_D_i psi(e_i) = 0,    e_i = R_y_i - R_D_i' coef,    psi(e) = max(-k, min(e, k))

with `k = c s` and `s` the median absolute residual, divided by its value for standard normal
noise. With c = 1.345 the estimate is 95 % as efficient as least squares if the noise is normal.
It is found by iterated weighted least squares; the scale is estimated again in each step. The
covariance is the sandwich of these scores, given the scale.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from debinet.data.options import positive_number
from debinet.exceptions import InputError, OptionError
from debinet.inference.covariance import spread
from debinet.inference.regression import ResidualRegression, regress
from debinet.inference.without_instruments import require_no_instruments
from debinet.protocols import FloatArray

if TYPE_CHECKING:
    from debinet.inference.result import Inference

NOTE = (
    "the last stage is robust against large residuals, the learner's predictions need not be; "
    "the covariance does not include the estimation of f"
)
# Median absolute deviation of the standard normal distribution.
_NORMAL_MAD = float(stats.norm.ppf(0.75))
_STEPS = 1000
# A step of this share of a standard error is far below what any table shows.
_SMALL_STEP = 1e-9


def make_robust(result: Inference, c: float) -> Inference:
    """Return the result with the coefficients of Huber's M-estimator and their covariance."""
    require_no_instruments(result.provenance, "Huber's M-estimator")
    c = positive_number("c", c)
    rows = [one.all_rows("Huber's M-estimator") for one in result.regressions]
    for fit in rows:
        _require_regression(fit, result.provenance.method)
    fits = tuple(huberize(fit, c) for fit in rows)
    kind = "HC1" if result.groups is None else "cluster"
    repeated = result.provenance.huber is not None
    return replace(
        result,
        regressions=fits,
        **vars(spread(fits, kind, result.groups)),
        provenance=replace(result.provenance, huber=c),
        notes=result.notes if repeated else (*result.notes, NOTE),
    )


def huberize(fit: ResidualRegression, c: float) -> ResidualRegression:
    """Return the regression with the coefficients of Huber's M-estimator."""
    coef = regress(fit.R_y, fit.R_D, fit.weights)
    # In these units a step of the coefficients is one of the fitted values.
    units = np.sqrt(np.average(fit.R_D**2, axis=0, weights=fit.w))
    for _ in range(_STEPS):
        e = fit.R_y - fit.R_D @ coef
        clip = c * _scale(e, fit.w)
        shrink = clip / np.maximum(np.abs(e), clip)
        new = regress(fit.R_y, fit.R_D, fit.w * shrink)
        step = np.abs(units * (new - coef)).max()
        coef = new
        if step <= _SMALL_STEP * clip / np.sqrt(fit.n):
            break
    else:
        raise InputError(
            f"residuals from which Huber's M-estimator converges in {_STEPS} steps",
            f"coefficients that still change by {step / clip:.1g} clipped residuals",
            "Use a larger c.",
        )
    clip = c * _scale(fit.R_y - fit.R_D @ coef, fit.w)
    return replace(fit, coef=coef, clip=float(clip), influence=None, noise=None)


def _scale(e: FloatArray, w: FloatArray) -> float:
    """Return the weighted median of `|e|` as an estimate of the standard deviation."""
    size = np.abs(e[w > 0])
    mass = w[w > 0]
    order = np.argsort(size)
    below = np.cumsum(mass[order])
    half = 0.5 * below[-1]
    middle = int(np.searchsorted(below, half))
    # As the usual median, the mean of two values where the weights divide evenly.
    upper = min(middle + 1, size.size - 1) if np.isclose(below[middle], half) else middle
    found = 0.5 * (size[order[middle]] + size[order[upper]])
    if found == 0:
        raise InputError(
            "residuals half of which are not zero",
            "zeros, from which no scale can be estimated",
            "Use the estimate of least squares.",
        )
    return float(found / _NORMAL_MAD)


def _require_regression(fit: ResidualRegression, method: str | None) -> None:
    """Require coefficients that are a regression of residuals on residuals."""
    if fit.least_squares and fit.error is None and fit.regressors is None:
        return
    raise OptionError(
        "coefficients from least squares of residuals on residuals",
        "corrected coefficients" if fit.error is not None else f"method={method!r}",
        "Use method='structured', 'robinson' or 'dml2', without a correction.",
    )
