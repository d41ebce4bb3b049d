"""Rows to average over, and their distances from points, in chunks of points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from debinet.protocols import FloatArray, IntArray

# Distances computed at a time: 2 MB, so that a pass over them stays in the cache.
_CHUNK = 2**18


@dataclass(frozen=True)
class StandardizedRows:
    """Observations to average over.

    Attributes
    ----------
    Z : FloatArray of shape (n, p)
        Standardized inputs.
    M : FloatArray of shape (n, m)
        Standardized targets.
    weight : FloatArray of shape (n,)
        Positive, 1 on average.
    """

    Z: FloatArray
    M: FloatArray
    weight: FloatArray


@dataclass(frozen=True)
class Points:
    """Where to predict.

    Attributes
    ----------
    Z : FloatArray of shape (r, p)
        Standardized inputs.
    codes : pair of IntArray of shapes (r,) and (n,), or None
        Folds of the points and of the rows: rows of a point's own fold have no weight.
    """

    Z: FloatArray
    codes: tuple[IntArray, IntArray] | None = None

    def chunks(self, rows: StandardizedRows) -> Iterator[slice]:
        """Yield slices of the points whose distances from all rows are worked on at a time."""
        n, p = rows.Z.shape
        step = max(1, _CHUNK // max(n, p * p))
        for start in range(0, self.Z.shape[0], step):
            yield slice(start, start + step)

    def distances(
        self, part: slice, rows: StandardizedRows, inverse: FloatArray | None = None
    ) -> FloatArray:
        """Return squared distances of points from rows, infinite for rows that may not be used.

        `inverse` of shape (p,) are factors of the features. Differences are taken feature
        by feature: the faster `|a|^2 - 2ab + |b|^2` is too coarse for small bandwidths.
        """
        if inverse is None:
            distance = cdist(self.Z[part], rows.Z, "sqeuclidean")
        else:
            distance = cdist(self.Z[part] * inverse, rows.Z * inverse, "sqeuclidean")
        return self.hide(part, distance)

    def hide(self, part: slice, distance: FloatArray) -> FloatArray:
        """Set the distances from rows of a point's own fold to infinity, in place."""
        if self.codes is not None:
            distance[self.codes[0][part, None] == self.codes[1]] = np.inf
        return distance


@dataclass(frozen=True)
class Neighbourhood:
    """Points, and the weights of the rows for each.

    Attributes
    ----------
    Z : FloatArray of shape (r, p)
        The points.
    W : FloatArray of shape (r, n)
        Kernel weights, not to be changed; no row is all zero.
    whole : bool
        Whether the bandwidths are infinite, so that all usable rows have the same weight.
    """

    Z: FloatArray
    W: FloatArray
    whole: bool


def each_without_itself(rows: StandardizedRows) -> Points:
    """Return the rows as points that leave themselves out."""
    everyone = np.arange(rows.Z.shape[0])
    return Points(rows.Z, (everyone, everyone))
