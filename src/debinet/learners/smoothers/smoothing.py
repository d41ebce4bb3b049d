"""Predictions at given bandwidths, by local averages or local lines."""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np

from debinet.learners.smoothers.kernels import kernel_weights
from debinet.learners.smoothers.rows import Neighbourhood, Points, StandardizedRows
from debinet.protocols import FloatArray, IntArray


class Local(Protocol):
    """Predictions from weighted neighbours: averages or linear regressions."""

    @property
    def rows(self) -> StandardizedRows:
        """The neighbours."""

    @property
    def needed(self) -> int:
        """Neighbours that a prediction needs."""

    def of(self, outputs: IntArray) -> Self:
        """Return the same for k of the m outputs."""

    def at(self, near: Neighbourhood) -> FloatArray:
        """Return predictions (r, m) at r points."""


def smooth(local: Local, kernel: str, points: Points, bandwidth: FloatArray) -> FloatArray:
    """Return predictions (r, m) at r points.

    Parameters
    ----------
    local : Local
        n rows with m targets.
    kernel : str
        A key of `KERNELS`.
    points : Points
        Where to predict.
    bandwidth : FloatArray of shape (m,) or (m, p)
        One per output, or per output and feature, in standard deviations of the features.
    """
    out = np.empty((points.Z.shape[0], local.rows.M.shape[1]))
    different, group = np.unique(bandwidth, axis=0, return_inverse=True)
    members = [np.flatnonzero(group == g) for g in range(different.shape[0])]
    parts = [local.of(outputs) for outputs in members]
    for chunk in points.chunks(local.rows):
        distance = points.distances(chunk, local.rows) if bandwidth.ndim == 1 else None
        for h, outputs, part in zip(different, members, parts, strict=True):
            if distance is None:
                scaled = points.distances(chunk, local.rows, 1.0 / h)
                W = kernel_weights(kernel, scaled, 1.0)
            else:
                W = kernel_weights(kernel, distance, float(h))
            near = Neighbourhood(points.Z[chunk], W, bool(np.isinf(h).all()))
            out[chunk, outputs] = part.at(near)
    return out
