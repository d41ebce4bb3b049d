"""Overlap: where treated and untreated rows have comparable controls, for treatments of 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.data.arrays import freeze_arrays, require
from debinet.protocols import BoolArray, FloatArray

# Bins of the histograms; predictions beyond 0 and 1 are in the first and the last.
EDGES = np.linspace(0.0, 1.0, 21)
# Predictions beyond these mean that nearly all such rows are in one arm.
EXTREME = (0.01, 0.99)


@dataclass(frozen=True)
class Overlap:
    """Predicted probabilities of a treatment by arm; the arm of zeros comes first.

    Attributes
    ----------
    column : int
        Position among the treatments.
    counts : FloatArray of shape (2, b)
        Rows of each arm by prediction, in the bins of `EDGES`.
    extreme : FloatArray of shape (2,)
        Rows of each arm with predictions beyond `EXTREME`.
    unmatched : FloatArray of shape (2,)
        Rows of each arm with predictions that no row of the other arm reaches.
    effective : float
        Number of rows that the coefficient rests on, `(sum v)^2 / sum v^2` with `v = w R_D^2`.
    """

    column: int
    counts: FloatArray
    extreme: FloatArray
    unmatched: FloatArray
    effective: float

    def __post_init__(self) -> None:
        freeze_arrays(self, counts="arms b", extreme="arms", unmatched="arms")
        require(self.counts.shape == (2, EDGES.size - 1), "counts")
        require(self.column >= 0 and self.effective > 0, "overlap")

    @property
    def share_extreme(self) -> float:
        """Share of all rows with predictions beyond `EXTREME`."""
        return float(self.extreme.sum() / self.counts.sum())


def measure_overlap(D: FloatArray, R_D: FloatArray, w: FloatArray) -> tuple[Overlap, ...]:
    """Measure the overlap of every treatment of zeros and ones.

    Parameters
    ----------
    D : FloatArray of shape (n, q)
    R_D : FloatArray of shape (n, q)
        Their residuals, best held out.
    w : FloatArray of shape (n,)
        Weights; rows of weight zero do not count.
    """
    D, R_D, w = D[w > 0], R_D[w > 0], w[w > 0]
    binary = np.flatnonzero(((D == 0) | (D == 1)).all(axis=0))
    return tuple(_measure(int(j), D[:, j] == 1, R_D[:, j], w) for j in binary)


def _measure(j: int, treated: BoolArray, residual: FloatArray, w: FloatArray) -> Overlap:
    chance = treated - residual
    arms = [chance[~treated], chance[treated]]
    counts = [np.histogram(np.clip(arm, 0.0, 1.0), EDGES)[0] for arm in arms]
    low, high = EXTREME
    extreme = [np.count_nonzero((arm < low) | (arm > high)) for arm in arms]
    unmatched = [
        np.count_nonzero((arm < other.min()) | (arm > other.max()))
        for arm, other in zip(arms, arms[::-1], strict=True)
    ]
    v = w * residual**2
    effective = float(v.sum() ** 2 / (v**2).sum()) if v.any() else float(v.size)
    return Overlap(
        j,
        np.asarray(counts, np.float64),
        np.asarray(extreme, np.float64),
        np.asarray(unmatched, np.float64),
        effective,
    )
