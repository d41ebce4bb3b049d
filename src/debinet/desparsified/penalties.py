"""Penalties that theory gives, for columns and noise of unit variance."""

from __future__ import annotations

import numpy as np
from scipy import optimize, stats


def universal(n: int, p: int) -> float:
    """`sqrt(2 log(p) / n)`: above all correlations with noise, with probability near one.

    For one column the penalty of two is used, as it is not defined for one.
    """
    return float(np.sqrt(2 * np.log(max(p, 2)) / n))


def quantile(n: int, p: int) -> float:
    """Penalty of Sun and Zhang (2013), smaller than the universal one but enough for p columns.

    `sqrt(2) L(k/p)` with `L(t) = Q(1 - t) / sqrt(n)`, Q the normal quantile function, and k the
    solution of `k = L(k/p)^4 + 2 L(k/p)^2` for n = 1.
    """
    p = max(p, 2)

    def excess(k: float) -> float:
        length = float(stats.norm.ppf(1 - k / p))
        return k - length**4 - 2 * length**2

    k = optimize.brentq(excess, 1e-6 * p, p / 2)
    return float(np.sqrt(2 / n) * stats.norm.ppf(1 - k / p))
