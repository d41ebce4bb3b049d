"""Plots of coefficients: one interval per coefficient, or every coefficient along a path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes


INK = "#1f4e79"
TRUTH = "#c0504d"
# More names than this cannot be read.
NAMED = 10


def forest_plot(
    frame: pd.DataFrame, *, truth: pd.Series | None = None, ax: Axes | None = None, label: str = ""
) -> Axes:
    """Draw `coef` with the interval from `lower` to `upper`, one row per coefficient.

    Parameters
    ----------
    frame : DataFrame
        With columns `coef`, `lower`, `upper`; the index names the rows. Intervals that are not
        finite are left out.
    truth : Series, optional
        Known values by the same names, drawn as open diamonds.
    ax : matplotlib Axes, optional
        Where to draw; a new figure of fitting height if left out.
    label : str
        Text below the axis.
    """
    count = len(frame)
    if ax is None:
        # pyplot, so that notebooks and plt.show() find the figure.
        import matplotlib.pyplot as plt

        height = min(1.2 + 0.32 * max(count, 1), 40)
        _, ax = plt.subplots(figsize=(6.4, height), layout="constrained")
    rows = np.arange(count)[::-1]
    coef = frame["coef"].to_numpy()
    reach = np.vstack([coef - frame["lower"].to_numpy(), frame["upper"].to_numpy() - coef])
    reach[:, ~np.isfinite(reach).all(axis=0)] = np.nan
    ax.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
    ax.errorbar(
        coef, rows, xerr=reach, fmt="o", color=INK, markersize=4, linewidth=1.4, label="estimate"
    )
    if truth is not None:
        known = truth.reindex(frame.index).to_numpy()
        ax.plot(known, rows, "D", color=TRUTH, markersize=6, fillstyle="none", label="truth")
        ax.legend(loc="best", frameon=False)
    ax.set_yticks(rows, [plain(str(name)) for name in frame.index])
    ax.set_ylim(-0.6, count - 0.4)
    ax.set_xlabel(plain(label))
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return ax


def plain(text: str) -> str:
    """Names are data: a dollar sign would start mathematics and fail on bad syntax."""
    return text.replace("$", r"\$")


def path_plot(
    frame: pd.DataFrame,
    *,
    ax: Axes | None = None,
    chosen: float | None = None,
    logarithmic: bool = False,
) -> Axes:
    """Draw one line per column that is ever away from zero.

    Parameters
    ----------
    frame : DataFrame
        Coefficients: a row per penalty or step, which are the index, a column per feature.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.
    chosen : float, optional
        Where to draw a vertical line.
    logarithmic : bool
        Whether the index is drawn on a logarithmic axis, from large to small.
    """
    if ax is None:
        # pyplot, so that notebooks and plt.show() find the figure.
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    values = frame.to_numpy()
    used = np.flatnonzero((values != 0).any(axis=0))
    where = frame.index.to_numpy()
    ax.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
    if used.size:
        ax.plot(where, values[:, used], linewidth=1.1)
    if logarithmic:
        ax.set_xscale("log")
        if not ax.xaxis_inverted():
            ax.invert_xaxis()
    if chosen is not None:
        ax.axvline(chosen, color=TRUTH, linewidth=1.2, linestyle="--")
    end = int(where.argmin() if logarithmic else where.argmax()) if used.size else 0
    ranked = used[np.argsort(-np.abs(values[end, used]), kind="stable")] if used.size else used
    for j in ranked[:NAMED]:
        ax.annotate(
            plain(str(frame.columns[j])),
            (where[end], values[end, j]),
            (3, 0),
            textcoords="offset points",
            fontsize=7,
        )
    ax.set_xlabel(str(frame.index.name or ""))
    ax.set_ylabel("coefficient")
    ax.spines[["top", "right"]].set_visible(False)
    return ax
