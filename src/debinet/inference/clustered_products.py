"""Sums over rows of products of scores, summed within clusters first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from debinet.protocols import FloatArray, IntArray


def no_correction(count: int) -> float:  # noqa: ARG001 - of any number of clusters
    """Return 1."""
    return 1.0


def clustered_products(
    scores: FloatArray,
    groups: IntArray | None,
    correction: Callable[[int], float] = no_correction,
) -> FloatArray:
    """Return `scores' scores` (c, c) of scores (n, c), within one- or two-way clusters.

    `correction` is a factor for a number of clusters.
    """
    if groups is None:
        return np.asarray(scores.T @ scores)
    if groups.shape[1] == 1:
        return _one_way(scores, groups[:, 0], correction)
    pairs = np.unique(groups, axis=0, return_inverse=True)[1].ravel()
    first, second, both = (
        _one_way(scores, codes, correction) for codes in (groups[:, 0], groups[:, 1], pairs)
    )
    return np.asarray(first + second - both)


def _one_way(scores: FloatArray, codes: IntArray, correction: Callable[[int], float]) -> FloatArray:
    codes = np.unique(codes, return_inverse=True)[1]
    count = int(codes.max()) + 1
    sums = np.zeros((count, scores.shape[1]))
    np.add.at(sums, codes, scores)
    return np.asarray(correction(count) * (sums.T @ sums))
