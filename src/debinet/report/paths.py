"""Path plot: every coefficient along a range of penalties or steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from debinet.report.forest import TRUTH, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More names than this cannot be read.
NAMED = 10


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
