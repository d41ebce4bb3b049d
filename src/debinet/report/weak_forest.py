"""Forest plot of intervals that assume strong instruments, beside sets that do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from debinet.report.forest import TRUTH, forest_plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Sets are drawn this far below the interval of the same coefficient.
_BELOW = 0.22
# Beyond this many lengths of the axis of finite ends, unbounded sets are cut, with an arrow.
_MARGIN = 0.15


def weak_forest(
    frame: pd.DataFrame,
    sets: Mapping[str, tuple[tuple[float, float], ...]],
    *,
    ax: Axes | None = None,
    label: str = "",
) -> Axes:
    """Draw a forest plot with a set of intervals below each estimate.

    Parameters
    ----------
    frame : DataFrame
        As for `forest_plot`.
    sets : mapping from str to tuple of (float, float)
        Intervals by the names of the rows; ends may be infinite, which is drawn as an arrow. An
        empty set is written as such.
    ax, label
        As for `forest_plot`.
    """
    ax = forest_plot(frame, ax=ax, label=label)
    ends = [end for one in sets.values() for pair in one for end in pair if np.isfinite(end)]
    low, high = ax.get_xlim()
    low, high = min([low, *ends]), max([high, *ends])
    low, high = low - _MARGIN * (high - low), high + _MARGIN * (high - low)
    ax.set_xlim(low, high)
    rows = dict(zip(frame.index, np.arange(len(frame))[::-1] - _BELOW, strict=True))
    for name, intervals in sets.items():
        row = float(rows[name])
        if not intervals:
            ax.text((low + high) / 2, row, "AR set is empty", color=TRUTH, va="center", ha="center")
        for left, right in intervals:
            ends_drawn = [max(left, low), min(right, high)]
            ax.plot(ends_drawn, [row, row], color=TRUTH, linewidth=1.4, solid_capstyle="butt")
            for end, drawn, marker in ((left, low, "<"), (right, high, ">")):
                shown = end if np.isfinite(end) else drawn
                ax.plot(shown, row, "|" if np.isfinite(end) else marker, color=TRUTH, markersize=6)
    ax.plot([], [], color=TRUTH, linewidth=1.4, label="Anderson-Rubin set")
    ax.set_ylim(-0.8, len(frame) - 0.4)
    ax.legend(loc="best", frameon=False, fontsize="small")
    return ax
