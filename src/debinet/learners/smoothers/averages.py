"""Local averages, the predictions of `NadarayaWatson`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.smoothers.rows import Neighbourhood, StandardizedRows
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class LocalAverages:
    """Averages of the targets.

    Attributes
    ----------
    rows : StandardizedRows
    weighted : FloatArray of shape (n, 1 + m)
        Ones and the targets, times the rows' weights.
    """

    rows: StandardizedRows
    weighted: FloatArray

    @property
    def needed(self) -> int:
        """Number of neighbours that an average needs."""
        return 1

    def of(self, outputs: IntArray) -> LocalAverages:
        """Return the same for k of the m outputs."""
        return LocalAverages(self.rows, self.weighted[:, np.append(0, 1 + outputs)])

    def at(self, near: Neighbourhood) -> FloatArray:
        """Return the averages (r, m) at r points."""
        sums = near.W @ self.weighted
        return sums[:, 1:] / sums[:, :1]


def local_averages(rows: StandardizedRows) -> LocalAverages:
    """Prepare the sums that averages need."""
    ones = np.ones((rows.M.shape[0], 1))
    return LocalAverages(rows, rows.weight[:, None] * np.hstack([ones, rows.M]))
