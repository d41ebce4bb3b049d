"""Box plots of estimates by method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from debinet.report.forest import INK, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_boxes(
    frame: pd.DataFrame, *, label: str, marks: Mapping[str, float] | None = None, mark: str = ""
) -> Figure:
    """Draw a box per method: quartiles, whiskers of 1.5 times their distance, points beyond.

    Parameters
    ----------
    frame : DataFrame
        Columns method and value; methods are drawn from top to bottom as they first appear.
    label : str
        Below the axis.
    marks : mapping from str to float, optional
        A value to mark beside the box of a method, such as a published one.
    mark : str
        What the marks are, for the legend.
    """
    import matplotlib.pyplot as plt

    kept = frame.dropna(subset="value")
    groups = {str(name): part["value"] for name, part in kept.groupby("method", sort=False)}
    names = list(groups)[::-1]
    figure, ax = plt.subplots(figsize=(6.5, 1.2 + 0.45 * len(names)), layout="constrained")
    ax.boxplot(
        [groups[name].to_numpy() for name in names],
        orientation="horizontal",
        widths=0.55,
        tick_labels=[plain(name) for name in names],
        medianprops={"color": INK, "linewidth": 2},
        flierprops={"marker": ".", "markersize": 3, "markeredgecolor": "0.4"},
    )
    found = (
        [(marks[name], k + 1) for k, name in enumerate(names) if name in (marks or {})]
        if marks
        else []
    )
    if found:
        x, height = np.array(found).T
        ax.plot(x, height, "D", color="#d55e00", markersize=5, label=mark)
        ax.legend(frameon=False, fontsize="small", loc="best")
    ax.axvline(0, color="0.6", linewidth=0.8, linestyle=":")
    ax.set_xlabel(label)
    ax.spines[["top", "right"]].set_visible(False)
    return figure
