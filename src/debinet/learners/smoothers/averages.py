"""Local averages: what `NadarayaWatson` makes of the weights of the neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.smoothers.rows import Rows
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class LocalAverages:
    """Averages of the targets.

    Attributes
    ----------
    rows : Rows
    weighted : FloatArray of shape (n, 1 + m)
        Ones and the targets, times the rows' weights.
    """

    rows: Rows
    weighted: FloatArray
    neighbours = 1

    def at(self, W: FloatArray, Z: FloatArray, outputs: IntArray) -> FloatArray:
        """Return the averages (r, k) of k outputs under weights (r, n), at any points Z."""
        del Z
        sums = W @ self.weighted[:, np.append(0, 1 + outputs)]
        return sums[:, 1:] / sums[:, :1]


def local_averages(rows: Rows) -> LocalAverages:
    """Prepare the sums that averages need."""
    ones = np.ones((rows.M.shape[0], 1))
    return LocalAverages(rows, rows.weight[:, None] * np.hstack([ones, rows.M]))
