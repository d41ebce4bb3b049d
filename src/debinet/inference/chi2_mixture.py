"""Tail probabilities of weighted sums of chi-squared variables."""

from __future__ import annotations

import numpy as np
from scipy import stats

from debinet.protocols import FloatArray


def mixture_pvalue(statistic: float, weights: FloatArray) -> float:
    """Return `P(sum_k weights_k chi2_1 > statistic)` by the approximation of Liu and others (2009).

    A non-central chi-squared variable with the same first three cumulants, and a fourth that is as
    near as possible.

    Parameters
    ----------
    statistic : float
    weights : FloatArray of shape (r,)
        Not negative, not all zero.

    References
    ----------
    Liu, Tang, Zhang (2009), A new chi-square approximation to the distribution of non-negative
    definite quadratic forms in non-central normal variables. Computational Statistics & Data
    Analysis 53.
    """
    c1, c2, c3, c4 = (float((weights**k).sum()) for k in (1, 2, 3, 4))
    s1, s2 = c3 / c2**1.5, c4 / c2**2
    if s1**2 > s2:
        a = 1.0 / (s1 - np.sqrt(s1**2 - s2))
        shift = s1 * a**3 - a**2
        df = a**2 - 2 * shift
    else:
        a, shift, df = 1.0 / s1, 0.0, 1.0 / s1**2
    standard = (statistic - c1) / np.sqrt(2 * c2)
    value = standard * np.sqrt(2.0) * a + df + shift
    if shift > 0:
        return float(stats.ncx2.sf(value, df, shift))
    return float(stats.chi2.sf(value, df))
