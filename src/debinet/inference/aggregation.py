"""Repeated cross-fitting: the median over repetitions, with the spread added to the variance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from debinet.protocols import FloatArray


def median_coef(coefs: Sequence[FloatArray]) -> FloatArray:
    """Return the coordinate-wise median over repetitions, of shape (q,)."""
    return np.median(np.stack(coefs), axis=0)


def median_covariance(coefs: Sequence[FloatArray], covariances: Sequence[FloatArray]) -> FloatArray:
    """Return the covariance of the median estimate.

    Variances are `median_r(V_r + (coef_r - coef)^2)` (Chernozhukov et al. 2018, section 3.4).
    An entry-wise median of matrices need not be one that a covariance can be, so correlations
    come from the mean of the same matrices, which is positive semi-definite.
    """
    if len(coefs) == 1:
        return covariances[0]
    shifts = np.stack(coefs) - median_coef(coefs)
    spread = np.stack(covariances) + shifts[:, :, None] * shifts[:, None, :]
    se = np.sqrt(np.median(np.diagonal(spread, axis1=1, axis2=2), axis=0))
    mean = spread.mean(axis=0)
    scale = se / np.sqrt(np.diag(mean))
    return np.asarray(mean * np.outer(scale, scale))
