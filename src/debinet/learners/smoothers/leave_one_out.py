"""The bandwidth of each output that minimizes the exact leave-one-out error over a grid."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from debinet.learners.smoothers.kernels import GRID_RATIO, descend
from debinet.learners.smoothers.rows import Neighbourhood, StandardizedRows, each_without_itself
from debinet.learners.smoothers.smoothing import Local
from debinet.protocols import FloatArray, IntArray

# Number of rows whose neighbours determine the ends of the grid.
_SAMPLE = 500
# Ends of the grid. The Gaussian has neighbours beyond its bandwidth, the others do not.
_LOW = {"gaussian": 0.1, "compact": 0.5}
_HIGH = {"gaussian": 5.0, "compact": 4.0}
# Differences of the error, relative to the variance of the target, that are rounding.
_TIE = 1e-12


def choose_bandwidths(local: Local, kernel: str) -> FloatArray:
    """Return the bandwidth (m,) of each output."""
    grid = bandwidth_grid(local, kernel)
    return np.asarray(grid[best(leave_one_out_errors(local, kernel, grid))])


def best(errors: FloatArray) -> IntArray:
    """Return the first position of the least error in each column, up to rounding."""
    return np.asarray((errors <= errors.min(axis=0) + _TIE).argmax(axis=0))


def leave_one_out_errors(local: Local, kernel: str, grid: FloatArray) -> FloatArray:
    """Return the mean squared leave-one-out error (b, m) for every bandwidth and output."""
    rows = local.rows
    points = each_without_itself(rows)
    total = np.zeros((grid.size, rows.M.shape[1]))
    for part in points.chunks(rows):
        distance = points.distances(part, rows)
        for k, W in enumerate(descend(kernel, distance, grid)):
            near = Neighbourhood(rows.Z[part], W, bool(np.isinf(grid[k])))
            error = rows.M[part] - local.at(near)
            total[k] += rows.weight[part] @ error**2
    return np.asarray(total / rows.weight.sum())


def bandwidth_grid(local: Local, kernel: str) -> FloatArray:
    """Return infinity and bandwidths that fall from global fits to too few neighbours.

    The ends depend on the usual distance of two rows, and on that of the neighbours a prediction
    needs; no bandwidth is below a thousandth of the former.
    """
    near, far = _usual_distances(local.rows, local.needed)
    if far == 0.0:
        return np.array([np.inf])
    kind = "gaussian" if kernel == "gaussian" else "compact"
    high = _HIGH[kind] * far
    low = min(max(_LOW[kind] * near, 1e-3 * far), 0.5 * high)
    count = 1 + int(np.ceil(np.log(high / low) / np.log(GRID_RATIO[kind])))
    return np.append(np.inf, high / GRID_RATIO[kind] ** np.arange(count))


def _usual_distances(rows: StandardizedRows, needed: int) -> tuple[float, float]:
    """Return the median distances from the `needed`-th neighbour and from any row that differs.

    Of rows at even steps of their distance from the centre, which is the same sample in whatever
    order the rows come.
    """
    n = rows.Z.shape[0]
    order = np.argsort((rows.Z**2).sum(axis=1), kind="stable")
    sample = order[np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.int64)]
    distance = np.sqrt(cdist(rows.Z[sample], rows.Z, "sqeuclidean"))
    distance[np.arange(sample.size), sample] = np.inf
    kth = min(needed, n - 1) - 1
    near = np.partition(distance, kth, axis=1)[:, kth]
    different = distance[np.isfinite(distance) & (distance > 0)]
    return float(np.median(near)), float(np.median(different)) if different.size > 0 else 0.0
