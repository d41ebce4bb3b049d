"""Figures of simulations: boxes of estimates, and panels of intervals by their true value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from debinet.report.forest import INK, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {1.0: INK, 0.0: "#e08214"}
_GAP = 0.12  # between methods, as a share of a method's width


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
    found = [(marks[name], k + 1) for k, name in enumerate(names) if marks and name in marks]
    if found:
        x, height = np.array(found).T
        ax.plot(x, height, "D", color="#d55e00", markersize=5, label=mark)
        ax.legend(frameon=False, fontsize="small", loc="best")
    ax.axvline(0, color="0.6", linewidth=0.8, linestyle=":")
    ax.set_xlabel(label)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def plot_interval_panels(
    panels: Sequence[tuple[str, Mapping[str, pd.DataFrame]]], *, columns: int = 2
) -> Figure:
    """Draw intervals of coefficients that are truly 1 (dark) or 0 (orange).

    Parameters
    ----------
    panels : sequence of (title, frames)
        The frames of a panel by method, with columns coef, lower, upper and truth.
    columns : int
        Panels in a row.
    """
    import matplotlib.pyplot as plt
    from matplotlib.lines import Line2D

    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(5.6 * columns, 3.5 * rows), squeeze=False, layout="constrained"
    )
    for ax, (title, frames) in zip(axes.flat, panels, strict=False):
        _panel(ax, frames)
        ax.set_title(plain(title), fontsize="medium")
    for ax in axes.flat[len(panels) :]:
        ax.remove()
    figure.legend(
        handles=[
            Line2D([], [], color=colour, linewidth=2, label=f"true coefficient {value:g}")
            for value, colour in _COLOURS.items()
        ],
        frameon=False,
        fontsize="small",
        loc="outside lower center",
        ncols=len(_COLOURS),
    )
    return figure


def _panel(ax: Axes, frames: Mapping[str, pd.DataFrame]) -> None:
    """Give every method the same width, its intervals sorted by truth and estimate."""
    ticks = []
    for k, (name, frame) in enumerate(frames.items()):
        if frame.empty:
            ticks.append((k + 0.5, f"{plain(name)}\nfailed"))
            continue
        ordered = frame.sort_values(["truth", "coef"], ascending=[False, True])
        x = k + np.linspace(_GAP, 1 - _GAP, len(ordered))
        colours = ordered["truth"].map(_COLOURS).to_list()
        # A panel is about 300 points wide; lines take half of it.
        thickness = float(np.clip(150 / len(frames) / len(ordered), 0.25, 1.5))
        ax.vlines(x, ordered["lower"], ordered["upper"], colors=colours, linewidth=thickness)
        ax.scatter(x, ordered["coef"], color=colours, s=5 * thickness, zorder=3)
        covers = (ordered["lower"] <= ordered["truth"]) & (ordered["truth"] <= ordered["upper"])
        ticks.append((k + 0.5, f"{_broken(plain(name))}\n{covers.mean():.2f} cover"))
    for value, colour in _COLOURS.items():
        ax.axhline(value, color=colour, linewidth=0.8, linestyle="--", zorder=0)
    ax.set_xticks([x for x, _ in ticks], [text for _, text in ticks], fontsize="x-small")
    ax.tick_params(axis="x", length=0)
    ax.set_ylabel("coefficient, 95 % interval")
    ax.spines[["top", "right"]].set_visible(False)


def _broken(name: str) -> str:
    """Break a long name into lines."""
    return name.replace(", ", ",\n").replace(" post-", "\npost-").replace("debiased ", "debiased\n")
