"""Forest plot: one interval per coefficient."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#1f4e79"
TRUTH = "#c0504d"


def forest_plot(
    frame: pd.DataFrame, *, truth: pd.Series | None = None, ax: Axes | None = None, label: str = ""
) -> Axes:
    """Draw `coef` with the interval from `lower` to `upper`, one row per coefficient.

    Parameters
    ----------
    frame : DataFrame
        With columns `coef`, `lower`, `upper`; the index names the rows.
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
