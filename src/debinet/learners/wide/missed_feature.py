"""A feature of which the residuals are some function, however rough."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from debinet.data.value_groups import value_groups
from debinet.protocols import FloatArray

# Groups of neighbouring rows, and the number of rows in one at least.
_GROUPS, _FEWEST = 16, 20
# Probability of finding a feature where there is none: a false alarm only costs time.
_FALSE_ALARM = 0.05


def missed_feature(Z: FloatArray, residual: FloatArray, root_weight: FloatArray) -> int | None:
    """Return the feature whose groups of neighbouring values have means of residuals least zero.

    A function that goes up and down several times has next to no linear or quadratic part. Where
    all scales are small, none of them then has a derivative that would show it.

    Parameters
    ----------
    Z : FloatArray of shape (n, p)
    residual : FloatArray of shape (n, m)
        Weighted residuals of m targets.
    root_weight : FloatArray of shape (n,)

    Returns
    -------
    int or None
        By a test of every feature and target, with variances robust to heteroskedasticity; None if
        none passes Bonferroni's level.
    """
    (n, p), m = Z.shape, residual.shape[1]
    count = min(_GROUPS, n // _FEWEST)
    if count < 3:
        return None
    r = root_weight[:, None] * residual
    least = np.ones(p)
    for j, column in enumerate(Z.T):
        code = value_groups(column, count)
        used = int(code.max()) + 1
        if used < 3:
            continue
        score = np.stack([np.bincount(code, one, used) for one in r.T])
        variance = np.stack([np.bincount(code, one**2, used) for one in r.T])
        statistic = (score**2 / np.maximum(variance, np.finfo(np.float64).tiny)).sum(axis=1)
        least[j] = chi2.sf(statistic.max(), used)
    best = int(least.argmin())
    return best if least[best] * p * m < _FALSE_ALARM else None
