"""The curve of a dose, with the doses of the data below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from debinet.report.forest import INK, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The histogram takes this share of the height.
_HEIGHT = 0.15
_BINS = 40


def dose_plot(
    frame: pd.DataFrame,
    doses: pd.DataFrame,
    supported: tuple[float, float],
    *,
    label: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw a curve with its pointwise and its joint band.

    Parameters
    ----------
    frame : DataFrame
        By dose, in any order: in the first column the curve; lower, upper, joint_lower,
        joint_upper.
    doses : DataFrame
        `dose` and `share` of every row of the data, drawn as a histogram at the bottom.
    supported : tuple of float
        Doses below the first and above the second are greyed out.
    label : str
        Text beside the vertical axis.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.
    """
    if ax is None:
        # pyplot, so that notebooks and plt.show() find the figure.
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    curve = frame.sort_index()
    x = curve.index.to_numpy(dtype=float)
    for low, high, alpha, name in (
        ("joint_lower", "joint_upper", 0.14, "joint band"),
        ("lower", "upper", 0.26, "pointwise band"),
    ):
        ax.fill_between(x, curve[low], curve[high], color=INK, alpha=alpha, lw=0, label=name)
    ax.plot(x, curve.iloc[:, 0], color=INK, linewidth=1.8, marker="o" if x.size == 1 else "")
    ax.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
    ax.margins(x=0.03)
    left, right = ax.get_xlim()
    _histogram(ax, doses[doses["dose"].between(left, right)])
    bottom, top = ax.get_ylim()
    ax.set_ylim(bottom - _HEIGHT * 1.2 * (top - bottom), top)
    for start, end in ((left, supported[0]), (supported[1], right)):
        if start < end:
            ax.axvspan(start, end, color="white", alpha=0.7, lw=0, zorder=3)
            ax.axvspan(start, end, color="0.5", alpha=0.18, lw=0, zorder=3)
    ax.set_xlim(left, right)
    ax.set_xlabel(plain(str(frame.index.name or "dose")))
    ax.set_ylabel(plain(label))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize="small", loc="best")
    return ax


def _histogram(ax: Axes, doses: pd.DataFrame) -> None:
    """Draw the weight of doses at the bottom of the axes: of each, if they are few, or of bins."""
    values, place = np.unique(doses["dose"], return_inverse=True)
    if values.size <= _BINS:
        mass = np.bincount(place, doses["share"])
        width = 0.6 * float(np.diff(values).min(initial=np.inf) if values.size > 1 else 1.0)
        centres = values
    else:
        mass, edges = np.histogram(doses["dose"], bins=_BINS, weights=doses["share"])
        width = float(edges[1] - edges[0])
        centres = edges[:-1] + width / 2
    across = ax.get_xaxis_transform()
    height = _HEIGHT * mass / mass.max()
    ax.bar(centres, height, width, color="0.45", transform=across, zorder=1, label="doses")
