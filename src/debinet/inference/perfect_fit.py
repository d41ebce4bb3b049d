"""Fits that leave nothing but rounding errors: their standard errors say nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from debinet.inference.trust_check import Check
from debinet.inference.trust_evidence import TrustEvidence
from debinet.inference.trust_limits import TrustLimits
from debinet.protocols import FloatArray

if TYPE_CHECKING:
    from debinet.inference.result import Inference

# Residuals of this share of the outcome's standard deviation are rounding errors: y and its
# prediction agree to 8 digits, which is the half of what arithmetic has.
ROUNDING = 1e-8

NOTE = (
    "the fit is perfect: residuals are rounding errors, and so are standard errors and p-values; "
    "y may have been computed from the columns of X"
)


def is_perfect(residuals: FloatArray, weights: FloatArray, total: float) -> bool:
    """Return whether residuals (n,) are rounding errors of an outcome of variance `total`."""
    left = float(np.average(residuals**2, weights=weights))
    return left <= ROUNDING**2 * total


def perfect_fit(
    result: Inference,
    evidence: TrustEvidence | None,
    limits: TrustLimits,  # noqa: ARG001 - as all checks are called
) -> Check | None:
    """Say so if nothing is left of the outcome."""
    if evidence is None:
        return None
    fit = result.regressions[0]
    weights = getattr(fit, "w", np.ones(fit.R_y.size))
    residuals = fit.R_y - fit.R_D @ fit.coef
    if not is_perfect(residuals, weights, float(evidence.total[0])):
        return None
    advice = "find out how y was made: it may be a sum or a copy of columns of X"
    finding = "residuals are rounding errors, and standard errors are made of them"
    return Check("perfect fit", "do not trust", finding, advice)
