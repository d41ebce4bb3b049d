"""P-values and bands for several coefficients at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats
from scipy.linalg.lapack import dpstrf

from debinet._random import named_generator
from debinet.data.options import one_of
from debinet.protocols import FloatArray

DRAWS = 20_000
_CHUNK = 1_000
# Coefficients beyond which an eigendecomposition costs more than everything else.
_MANY = 400
_LEFT_OUT = 1e-4


def critical_value(
    covariance: FloatArray, df: float, level: float, seed: int, many: int = _MANY
) -> float:
    """Return c with P(max_j |t_j| <= c) = level: the sup-t band is `coef -+ c se`."""
    if covariance.shape[0] == 1:
        return float(stats.t.ppf((1 + level) / 2, df))
    maxima = [np.abs(draws).max(axis=1) for draws in _draw(covariance, df, seed, many)]
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


def _draw(covariance: FloatArray, df: float, seed: int, many: int = _MANY) -> Iterator[FloatArray]:
    root = _root(covariance, many)
    rng = named_generator(seed, "joint")
    for _ in range(DRAWS // _CHUNK):
        normal = rng.standard_normal((_CHUNK, root.shape[1]), dtype=root.dtype) @ root.T
        yield normal / np.sqrt(rng.chisquare(df, (_CHUNK, 1)) / df).astype(root.dtype)


def _root(covariance: FloatArray, many: int) -> npt.NDArray[Any]:
    """Return L with `L L'` the correlations, of shape (q, r)."""
    se = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(se, se)
    if se.size > many:
        low_rank = _pivoted(correlation)
        if low_rank is not None:
            return low_rank
    values, vectors = np.linalg.eigh(correlation)
    # Two-way cluster covariances may have small negative eigenvalues.
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))


def _pivoted(correlation: FloatArray) -> npt.NDArray[np.float32] | None:
    """Return a Cholesky root of as many columns as the rank, or None if there is none.

    With more coefficients than rows the rank is that of the rows, and both the root and the draws
    cost accordingly. Four bytes per number are seven digits, of which a quantile of 20,000 draws
    shows two.
    """
    factor, pivot, rank, _ = dpstrf(correlation.T, lower=1)
    root = np.zeros((pivot.size, rank), dtype=np.float32)
    root[pivot - 1] = np.tril(factor[:, :rank])
    # For a covariance, what the rank leaves out is rounding error; for other matrices it is not.
    return root if np.abs((root**2).sum(axis=1) - 1).max() < _LEFT_OUT else None


def adjusted(method: Any, pvalues: FloatArray) -> FloatArray:
    """Adjust by the method of that name."""
    one_of("method", method, [*_METHODS, "romano-wolf"], "Use 'holm' if in doubt.")
    return _METHODS[method](pvalues)


def holm(pvalues: FloatArray) -> FloatArray:
    """Holm (1979): controls the family-wise error rate under any dependence."""
    m = pvalues.size
    order = np.argsort(pvalues, kind="stable")
    adjusted = np.empty(m)
    adjusted[order] = np.maximum.accumulate(pvalues[order] * np.arange(m, 0, -1))
    return np.minimum(adjusted, 1.0)


def benjamini_hochberg(pvalues: FloatArray) -> FloatArray:
    """Benjamini and Hochberg (1995): controls the false discovery rate."""
    m = pvalues.size
    order = np.argsort(pvalues, kind="stable")[::-1]
    adjusted = np.empty(m)
    adjusted[order] = np.minimum.accumulate(pvalues[order] * m / np.arange(m, 0, -1))
    return np.minimum(adjusted, 1.0)


_METHODS = {"holm": holm, "bh": benjamini_hochberg}
