"""Confidence sets that need not be intervals: unions, empty and unbounded ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from debinet.data.arrays import require


@dataclass(frozen=True)
class IntervalUnion:
    """A union of closed intervals of the real line.

    Attributes
    ----------
    intervals : tuple of (float, float)
        Disjoint, from left to right; ends may be infinite.
    """

    intervals: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        ends = [end for interval in self.intervals for end in interval]
        require(ends == sorted(ends), "intervals")

    @property
    def kind(self) -> str:
        """The shape: "empty", "interval", "union", "unbounded" or "everything"."""
        if not self.intervals:
            return "empty"
        low, high = self.intervals[0][0], self.intervals[-1][1]
        if np.isfinite(low) and np.isfinite(high):
            return "interval" if len(self.intervals) == 1 else "union"
        return "everything" if self.intervals == ((-np.inf, np.inf),) else "unbounded"

    @property
    def bounded(self) -> bool:
        """Whether both ends are finite, as are those of an empty set."""
        return self.kind in {"empty", "interval", "union"}

    def __contains__(self, value: float) -> bool:
        return any(low <= value <= high for low, high in self.intervals)

    def __str__(self) -> str:
        if self.kind == "empty":
            return "empty"
        return " or ".join(_written(low, high) for low, high in self.intervals)


def _written(low: float, high: float) -> str:
    left = f"[{low:.4g}" if np.isfinite(low) else "(-inf"
    right = f"{high:.4g}]" if np.isfinite(high) else "inf)"
    return f"{left}, {right}"


def union_between(ends: Iterable[float], inside: Callable[[float], bool]) -> IntervalUnion:
    """Return the set whose boundary is among the `ends`, given whether single points are inside."""
    points = np.unique([end for end in ends if np.isfinite(end)])
    if not points.size:
        return IntervalUnion(((-np.inf, np.inf),) if inside(0.0) else ())
    reach = 1.0 + float(np.abs(points).max()) + float(np.ptp(points))
    middles = [points[0] - reach, *(points[:-1] + points[1:]) / 2, points[-1] + reach]
    bounds = [-np.inf, *points.tolist(), np.inf]
    found: list[tuple[float, float]] = []
    for low, high, middle in zip(bounds[:-1], bounds[1:], middles, strict=True):
        if not inside(float(middle)):
            continue
        if found and found[-1][1] == low:
            found[-1] = (found[-1][0], high)
        else:
            found.append((low, high))
    return IntervalUnion(tuple(found))
