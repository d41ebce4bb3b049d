"""Joint statements about many coefficients, from the multiplier bootstrap.

With Gaussian multipliers `xi_i`, the bootstrap statistic `sum_i xi_i phi_i` (phi the influence of
row i) is, given the data, exactly normal with covariance `sum_i phi_i phi_i'`: the covariance
matrix itself. So it is drawn from there, at a cost that does not grow with n, for every
covariance alike, clusters and HC3 included. Draws are divided by an independent
`sqrt(chi2_df / df)`, so that one coefficient alone gets its usual t interval.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import stats

from debinet._random import named_generator
from debinet.protocols import FloatArray

DRAWS = 20_000
_CHUNK = 1_000


def critical_value(covariance: FloatArray, df: float, level: float, seed: int) -> float:
    """Return c with P(max_j |t_j| <= c) = level: the sup-t band is `coef -+ c se`."""
    if covariance.shape[0] == 1:
        return float(stats.t.ppf((1 + level) / 2, df))
    maxima = [np.abs(draws).max(axis=1) for draws in _draw(covariance, df, seed)]
    return float(np.quantile(np.concatenate(maxima), level))


def romano_wolf(statistic: FloatArray, covariance: FloatArray, df: float, seed: int) -> FloatArray:
    """Return step-down max-T adjusted p-values (Romano and Wolf 2005), of shape (q,)."""
    order = np.argsort(-np.abs(statistic), kind="stable")
    observed = np.abs(statistic)[order]
    exceeding = np.zeros(order.size)
    for draws in _draw(covariance, df, seed):
        # Step k compares with the maximum over the hypotheses not yet rejected: k, k + 1, ...
        tails = np.maximum.accumulate(np.abs(draws)[:, order[::-1]], axis=1)[:, ::-1]
        exceeding += (tails >= observed).sum(axis=0)
    stepwise = (1 + exceeding) / (1 + DRAWS)
    adjusted = np.empty(order.size)
    adjusted[order] = np.maximum.accumulate(stepwise)
    return np.minimum(adjusted, 1.0)


def _draw(covariance: FloatArray, df: float, seed: int) -> Iterator[FloatArray]:
    se = np.sqrt(np.diag(covariance))
    values, vectors = np.linalg.eigh(covariance / np.outer(se, se))
    # Two-way cluster covariances may have small negative eigenvalues.
    root = vectors * np.sqrt(np.maximum(values, 0))
    rng = named_generator(seed, "joint")
    for _ in range(DRAWS // _CHUNK):
        normal = rng.standard_normal((_CHUNK, se.size)) @ root.T
        yield normal / np.sqrt(rng.chisquare(df, (_CHUNK, 1)) / df)
