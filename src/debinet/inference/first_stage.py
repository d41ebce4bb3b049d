"""How strongly instruments move the endogenous treatments: F statistics of the first stage."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from debinet.exceptions import CovarianceError
from debinet.inference.anderson_rubin import InstrumentMoments
from debinet.protocols import FloatArray

# Bias of two-stage least squares that is tolerated, relative to the worst case.
WORST_BIAS = 0.10
_SIZE = 0.05


@dataclass(frozen=True)
class FirstStage:
    """First stage of one endogenous treatment.

    Attributes
    ----------
    partial_r2 : float
        Share of the variance of its residual that the instruments explain.
    F : float
        F statistic of the excluded instruments under the covariance of the result. With several
        endogenous treatments the conditional one of Sanderson and Windmeijer (2016): of what the
        others do not explain. NaN with too few clusters for the number of instruments.
    pvalue : float
    effective_f : float
        Of Montiel Olea and Pflueger (2013); NaN with several endogenous treatments.
    critical : float
        The value that it exceeds, with 95 % confidence, only if the bias of two-stage least squares
        is below 10 % of the worst case; conservative, as it does not depend on the outcome. NaN
        with several endogenous treatments.
    """

    partial_r2: float
    F: float
    pvalue: float
    effective_f: float
    critical: float


def first_stage(moments: InstrumentMoments) -> FirstStage:
    """Return the first stage of the first treatment of the moments."""
    G, k, q = moments.G, moments.k, len(moments.outer) - 1
    v = np.zeros(1 + q)
    v[1] = 1.0
    if q > 1:
        v[2:] = -np.linalg.lstsq(G[:, 2:], G[:, 1], rcond=None)[0]
    m, omega, df = G @ v, moments.omega(v), k - q + 1
    try:
        F = moments.wald(v) / df
    except CovarianceError:
        F = np.nan
    inside, left = moments.outer[1, 1], moments.inner[1, 1]
    alone = q == 1
    return FirstStage(
        partial_r2=float(inside / (inside + left)),
        F=F,
        pvalue=float(stats.f.sf(F, df, moments.rest)),
        effective_f=float(m @ m / np.trace(omega)) if alone else np.nan,
        critical=critical_effective_F(omega) if alone else np.nan,
    )


def critical_effective_F(omega: FloatArray, bias: float = WORST_BIAS) -> float:
    """Return the critical value of the effective F, by Patnaik's approximation.

    Parameters
    ----------
    omega : FloatArray of shape (k, k)
        Covariance of the first stage's coefficients on orthonormal instruments.
    bias : float
        That is tolerated, as a share of the worst case.
    """
    x = 1 / bias
    trace, largest = float(np.trace(omega)), float(np.linalg.eigvalsh(omega)[-1])
    df = trace**2 * (1 + 2 * x) / (float((omega**2).sum()) + 2 * x * trace * largest)
    return float(stats.ncx2.isf(_SIZE, df, x * df) / df)
