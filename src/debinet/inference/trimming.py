"""Which rows to keep where some arms are improbable: the rule of Crump and others (2009)."""

from __future__ import annotations

import numpy as np

from debinet.protocols import BoolArray, FloatArray


def crump_rows(probabilities: FloatArray, w: FloatArray) -> BoolArray:
    """Return the rows (n,) whose average effect can be estimated most precisely.

    With equal variances of the noise, the variance of an average effect over rows A is proportional
    to `sum_A v / |A|^2`, `v = sum_k 1 / p_k` over the arms. The best A are the rows of smallest v.

    Parameters
    ----------
    probabilities : FloatArray of shape (n, arms)
    w : FloatArray of shape (n,)
        Weights; rows of weight zero do not count.
    """
    v = (1.0 / probabilities).sum(axis=1)
    order = np.argsort(np.where(w > 0, v, np.inf), kind="stable")
    size = np.cumsum(w[order])
    criterion = np.cumsum(w[order] * v[order]) / size**2
    limit = v[order[int(np.argmin(criterion))]]
    return np.asarray(v <= limit)


def least_probability(probabilities: FloatArray, rows: BoolArray) -> float:
    """Return the least probability of an arm among the rows."""
    return float(probabilities[rows].min())
