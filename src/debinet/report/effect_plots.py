"""Plots of effects that vary: intervals in groups, bands along curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from debinet.report.forest import INK, TRUTH, forest_plot, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = 3


@dataclass(frozen=True)
class Panel:
    """Effects of one treatment along one column.

    Attributes
    ----------
    treatment : str
    frame : DataFrame
        With columns `coef`, `lower`, `upper` and `joint`, half the length of joint intervals; the
        index has the groups or the values of the column.
    curve : bool
        Whether the index has values of a number.
    """

    treatment: str
    frame: pd.DataFrame
    curve: bool


def plot_effects(panels: Sequence[Panel], *, label: str = "") -> Figure:
    """Draw panels and return the figure; `label` says what the effects are effects on."""
    import matplotlib.pyplot as plt

    columns = min(len(panels), _COLUMNS)
    rows = -(-len(panels) // columns)
    tallest = max(3.2 if one.curve else 1.2 + 0.32 * len(one.frame) for one in panels)
    width = 6.4 if columns == 1 else 1.0 + 4.2 * columns
    figure, axes = plt.subplots(
        rows, columns, figsize=(width, rows * tallest), squeeze=False, layout="constrained"
    )
    for ax, one in zip(axes.flat, panels, strict=False):
        text = f"effect of {one.treatment} {label}"
        if one.curve:
            _band(ax, one.frame, text)
        else:
            forest_plot(one.frame, ax=ax, label=text)
    for ax in list(axes.flat)[len(panels) :]:
        ax.set_axis_off()
    return figure


def plot_sorted(
    frame: pd.DataFrame, average: float, *, label: str = "", ax: Axes | None = None
) -> Axes:
    """Draw effects of rows from the smallest to the largest, with their intervals.

    Parameters
    ----------
    frame : DataFrame
        With columns `effect`, `lower`, `upper`.
    average : float
        One effect for all rows, drawn as a line.
    label : str
        Text beside the vertical axis.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.
    """
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    ordered = frame.sort_values("effect")
    share = 100 * (np.arange(len(ordered)) + 0.5) / len(ordered)
    ax.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
    ax.fill_between(share, ordered["lower"], ordered["upper"], color=INK, alpha=0.2, lw=0)
    ax.plot(share, ordered["effect"], color=INK, linewidth=1.7, label="left-out effect")
    ax.axhline(average, color=TRUTH, linewidth=1.2, linestyle="--", label="coefficient")
    ax.set_xlabel("rows, by their effect, %")
    ax.set_ylabel(plain(label), fontsize="small")
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _band(ax: Axes, frame: pd.DataFrame, label: str) -> None:
    x, coef = frame.index.to_numpy(np.float64), frame["coef"].to_numpy()
    joint = frame["joint"].to_numpy()
    ax.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
    ax.fill_between(x, coef - joint, coef + joint, color=INK, alpha=0.12, lw=0, label="joint")
    ax.fill_between(
        x, frame["lower"], frame["upper"], color=INK, alpha=0.25, lw=0, label="pointwise"
    )
    ax.plot(x, coef, color=INK, linewidth=1.7)
    ax.set_xlabel(plain(str(frame.index.name)))
    ax.set_ylabel(plain(label), fontsize="small")
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
