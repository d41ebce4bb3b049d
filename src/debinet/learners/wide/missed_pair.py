"""Pairs of features whose product the residuals depend on."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from debinet.protocols import BoolArray, FloatArray

# Probability of finding a pair where there is none: a false alarm only costs time.
_FALSE_ALARM = 0.05


def missed_pair(
    Z: FloatArray, residual: FloatArray, root_weight: FloatArray, faded: BoolArray
) -> tuple[int, int] | None:
    """Return the two features, one of them faded, on whose product residuals depend most.

    If a target has a product `z_j z_k` in it, and both scales are small, raising one of them alone
    does nothing: a search for scales may end there. What such a pair leaves in the residuals r
    shows in `sum_i r_i z_ij z_ik`, which is one matrix product for all pairs.

    Parameters
    ----------
    Z : FloatArray of shape (n, p)
        Standardized features.
    residual : FloatArray of shape (n, m)
        Weighted residuals of m targets.
    root_weight : FloatArray of shape (n,)
    faded : BoolArray of shape (p,)
        Features that the network hardly uses.

    Returns
    -------
    tuple of int, or None
        By a two-sided test of every pair and target, squares included, with variances robust to
        heteroskedasticity; None if none passes Bonferroni's level.
    """
    p, m = Z.shape[1], residual.shape[1]
    statistic = np.zeros((p, p))
    for r in (root_weight[:, None] * residual).T:
        score = Z.T @ (r[:, None] * Z)
        spread = r[:, None] * Z**2
        variance = np.maximum(spread.T @ spread, np.finfo(np.float64).tiny)
        np.maximum(statistic, score**2 / variance, out=statistic)
    # every pair once
    statistic = np.triu(np.where(faded | faded[:, None], statistic, 0.0))
    first, second = np.unravel_index(statistic.argmax(), statistic.shape)
    critical = norm.isf(_FALSE_ALARM / (m * p * (p + 1)))
    return (int(first), int(second)) if statistic[first, second] > critical**2 else None
