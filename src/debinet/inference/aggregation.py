"""Repeated cross-fitting: the median over repetitions, with the spread added to the variance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from debinet.inference.regression import Regression
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class Spread:
    """Coefficients with one covariance of them.

    Attributes
    ----------
    estimate : FloatArray of shape (q,)
    covariance : FloatArray of shape (q, q)
    vcov_type : str
        Name of the covariance.
    df : float
        Degrees of freedom of the t distribution.
    """

    estimate: FloatArray
    covariance: FloatArray
    vcov_type: str
    df: float


def spread(regressions: tuple[Regression, ...], kind: str, groups: IntArray | None) -> Spread:
    """Aggregate repetitions under the covariance named `kind`."""
    coefs = [regression.coef for regression in regressions]
    covariances = [regression.covariance(kind, groups) for regression in regressions]
    covariance = median_covariance(coefs, covariances)
    covariance.flags.writeable = False
    df = regressions[0].degrees_of_freedom(kind, groups)
    return Spread(median_coef(coefs), covariance, kind, df)


def median_coef(coefs: Sequence[FloatArray]) -> FloatArray:
    """Return the coordinate-wise median over repetitions, of shape (q,)."""
    return np.median(np.stack(coefs), axis=0)


def median_covariance(coefs: Sequence[FloatArray], covariances: Sequence[FloatArray]) -> FloatArray:
    """Return the covariance of the median estimate.

    Variances are `median_r(V_r + (coef_r - coef)^2)` (Chernozhukov et al. 2018, section 3.4). An
    entry-wise median of matrices need not be positive semi-definite, so correlations are those of
    the mean of the same matrices, which is.
    """
    if len(coefs) == 1:
        return covariances[0]
    shifts = np.stack(coefs) - median_coef(coefs)
    moments = np.stack(covariances) + shifts[:, :, None] * shifts[:, None, :]
    se = np.sqrt(np.median(np.diagonal(moments, axis1=1, axis2=2), axis=0))
    mean = moments.mean(axis=0)
    scale = se / np.sqrt(np.diag(mean))
    return np.asarray(mean * np.outer(scale, scale))
