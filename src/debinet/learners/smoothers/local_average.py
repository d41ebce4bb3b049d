"""Local averages with Gaussian weights, all outputs and many bandwidths from one pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from debinet.protocols import FloatArray, IntArray

# Distances that are worked on at a time: temporaries stay below 8 MB.
_CHUNK = 2**20
_BANDWIDTHS = 40


@dataclass(frozen=True)
class Rows:
    """Observations to average over.

    Attributes
    ----------
    Z : FloatArray of shape (n, p)
        Standardized inputs.
    M : FloatArray of shape (n, m)
        Targets.
    weight : FloatArray of shape (n,)
        Not negative.
    """

    Z: FloatArray
    M: FloatArray
    weight: FloatArray


def average_at(
    rows: Rows, Z: FloatArray, bandwidth: FloatArray, codes: tuple[IntArray, IntArray] | None = None
) -> FloatArray:
    """Return local averages (r, m) at points (r, p), output j with `bandwidth[j]`.

    Parameters
    ----------
    rows : Rows
        n observations.
    Z : FloatArray of shape (r, p)
    bandwidth : FloatArray of shape (m,)
        In units of the standardized inputs.
    codes : pair of IntArray of shapes (r,), (n,), optional
        Folds of the points and of the observations: a point never sees its own fold.
    """
    out = np.empty((Z.shape[0], rows.M.shape[1]))
    for part, distance in _distances(rows, Z, codes):
        for h in np.unique(bandwidth):
            j = np.flatnonzero(bandwidth == h)
            out[part, j] = _average(distance, h, rows.M[:, j], rows.weight)
    return out


def leave_one_out_error(rows: Rows, bandwidths: FloatArray) -> FloatArray:
    """Return the mean squared leave-one-out error (b, m) for every bandwidth and output."""
    everyone = np.arange(rows.Z.shape[0])
    total = np.zeros((bandwidths.size, rows.M.shape[1]))
    for part, distance in _distances(rows, rows.Z, (everyone, everyone)):
        for k, h in enumerate(bandwidths):
            error = rows.M[part] - _average(distance, h, rows.M, rows.weight)
            total[k] += rows.weight[part] @ error**2
    return np.asarray(total / rows.weight.sum())


def bandwidth_grid(rows: Rows) -> FloatArray:
    """Return bandwidths from a tenth of the nearest neighbours' distance to global averages."""
    step = max(1, rows.Z.shape[0] // 500)
    sample = rows.Z[::step][:500]
    distance = euclidean_distances(sample)
    np.fill_diagonal(distance, np.inf)
    near = np.median(distance.min(axis=1))
    far = np.median(distance[np.isfinite(distance)])
    low = max(0.1 * near, 1e-3 * far, np.finfo(np.float64).tiny)
    return np.geomspace(low, max(10.0 * far, 2 * low), _BANDWIDTHS)


def _distances(
    rows: Rows, Z: FloatArray, codes: tuple[IntArray, IntArray] | None
) -> Iterator[tuple[slice, FloatArray]]:
    """Yield slices of the points, with their squared distances less the least of them.

    Weights are relative, so subtracting the least distance changes nothing, and a point far from
    all observations takes the nearest one instead of 0 / 0.
    """
    step = max(1, _CHUNK // rows.Z.shape[0])
    for start in range(0, Z.shape[0], step):
        part = slice(start, start + step)
        distance = euclidean_distances(Z[part], rows.Z, squared=True)
        distance[:, rows.weight == 0] = np.inf
        if codes is not None:
            distance[codes[0][part, None] == codes[1]] = np.inf
        distance -= distance.min(axis=1, keepdims=True)
        yield part, distance


def _average(distance: FloatArray, h: float, M: FloatArray, weight: FloatArray) -> FloatArray:
    share = np.exp(distance * (-0.5 / h**2)) * weight
    return np.asarray(share @ M / share.sum(axis=1, keepdims=True))
