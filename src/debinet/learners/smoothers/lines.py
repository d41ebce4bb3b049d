"""Local linear regressions: what `LocalLinear` makes of the weights of the neighbours.

At a point z with neighbours of mean `c` and covariance `S`, the prediction is an average of their
targets with weights `w_i (1 + (z - c)' S^-1 (z_i - c))`: one vector per point to solve for, however
many outputs there are. The moments of all points are one product of the weights with the products
of pairs of features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from debinet.data.free_memory import bytes_available, gigabytes
from debinet.exceptions import MemoryLimitError
from debinet.learners.smoothers.rows import Rows
from debinet.protocols import FloatArray, IntArray

# Ridge of S: a share of its mean eigenvalue, and, as inputs are standardized, a spread that counts
# as none. The solution is refined once, so that what the ridge distorts is of second order: a
# direction whose share of the mean eigenvalue is s keeps its slope up to (_RIDGE / s)^2.
_RIDGE = 1e-6
_SPREAD = 1e-9
# Neighbours this close to each other are one point; their covariance is rounding.
_ONE_POINT = 1e-12


@dataclass(frozen=True)
class LocalLines:
    """Linear regressions around each point.

    Attributes
    ----------
    rows : Rows
    products : FloatArray of shape (n, 1 + p + p (p + 1) / 2)
        Ones, features and products of two features, times the rows' weights.
    targets : FloatArray of shape (n, m)
        The targets, times the rows' weights.
    """

    rows: Rows
    products: FloatArray
    targets: FloatArray

    def at(self, W: FloatArray, Z: FloatArray, outputs: IntArray) -> FloatArray:
        """Return the regressions' values (r, k) of k outputs at Z (r, p), weights W (r, n)."""
        p = self.rows.Z.shape[1]
        sums = W @ self.products
        centre = sums[:, 1 : p + 1] / sums[:, :1]
        tilt = _tilt(_covariance(sums, centre), Z - centre)
        share = tilt @ self.rows.Z.T
        share += 1.0 - (tilt * centre).sum(axis=1, keepdims=True)
        share *= W
        return share @ self.targets[:, outputs] / sums[:, :1]


def local_lines(rows: Rows) -> LocalLines:
    """Prepare the products that moments need."""
    n, p = rows.Z.shape
    _require_memory(n, p)
    products = np.empty((n, 1 + p + p * (p + 1) // 2))
    products[:, 0] = rows.weight
    np.multiply(rows.Z, rows.weight[:, None], out=products[:, 1 : p + 1])
    at = p + 1
    for j in range(p):
        np.multiply(products[:, 1 + j, None], rows.Z[:, j:], out=products[:, at : at + p - j])
        at += p - j
    return LocalLines(rows, products, rows.weight[:, None] * rows.M)


def _covariance(sums: FloatArray, centre: FloatArray) -> FloatArray:
    """Return the covariances (r, p, p) of the neighbours."""
    r, p = centre.shape
    second = np.empty((r, p, p))
    i, j = np.triu_indices(p)
    second[:, i, j] = second[:, j, i] = sums[:, p + 1 :] / sums[:, :1]
    second -= centre[:, :, None] * centre[:, None, :]
    return second


def _tilt(S: FloatArray, away: FloatArray) -> FloatArray:
    """Return `S^-1 (z - c)`, shape (r, p), by ridge regression refined once."""
    p = away.shape[1]
    spread = S.trace(axis1=1, axis2=2)
    ridge = _RIDGE * np.maximum(spread, 0.0) / p + _SPREAD
    diagonal = np.arange(p)
    S[:, diagonal, diagonal] += ridge[:, None]
    first = np.linalg.solve(S, away[:, :, None])
    # what the first solution left of `away` is ridge times that solution
    second = np.linalg.solve(S, ridge[:, None, None] * first)
    tilt = (first + second)[:, :, 0]
    tilt[spread <= _ONE_POINT] = 0.0
    return tilt


def _require_memory(n: int, p: int) -> None:
    needed, available = 8 * n * (2 + p + p * (p + 1) // 2), bytes_available()
    if available is not None and needed > available:
        raise MemoryLimitError(
            f"{gigabytes(needed)} of free memory for LocalLinear on {n} rows and {p} features",
            gigabytes(available),
            "Use NadarayaWatson, or fewer features: memory and time grow with their square.",
        )
