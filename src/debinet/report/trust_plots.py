"""Plots of the trust report: coefficients along the penalty, overlap of the arms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from debinet.report.diagnostics import MOST_PANELS, panel_grid
from debinet.report.forest import INK, TRUTH, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Half the width of a 95 % band, in standard errors.
_BAND = 1.96


def plot_penalty_path(coef: pd.DataFrame, se_difference: pd.DataFrame) -> Figure:
    """Draw coefficients along the penalty, with the band in which noise alone would keep them.

    A coefficient that leaves the band as the penalty falls is biased by the penalty.

    Parameters
    ----------
    coef : DataFrame of shape (g, q)
        Coefficients; the index has the factors by which penalties are multiplied, 1 first. The
        first six columns are drawn.
    se_difference : DataFrame of shape (g, q)
        Standard errors of the differences from the first row.
    """
    count = min(coef.shape[1], MOST_PANELS)
    figure, axes = panel_grid(count)
    factor = coef.index.to_numpy(dtype=float)
    for j, ax in enumerate(axes):
        path, half = coef.iloc[:, j].to_numpy(), _BAND * se_difference.iloc[:, j].to_numpy()
        ax.fill_between(factor, path[0] - half, path[0] + half, color=INK, alpha=0.15, linewidth=0)
        ax.axhline(path[0], color="0.6", linewidth=0.8)
        ax.plot(factor, path, color=INK, marker="o", markersize=4, linewidth=1.6)
        ax.set_xscale("log")
        ax.set_xticks(factor, [f"{one:g}" for one in factor], minor=False)
        ax.minorticks_off()
        ax.invert_xaxis()
        ax.set_title(plain(str(coef.columns[j])), fontsize="small")
        ax.set_xlabel("penalty, relative to the fit's", fontsize="small")
        ax.tick_params(labelsize="x-small")
    axes[0].set_ylabel("coefficient", fontsize="small")
    return figure


def plot_overlap(counts: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw histograms of predicted probabilities, treated rows upwards and others downwards.

    Parameters
    ----------
    counts : mapping from str to DataFrame
        By treatment, of which the first six are drawn: rows of the arms, in columns "0" and "1",
        by prediction. The index has the left ends of bins of equal width.
    """
    shown = list(counts.items())[:MOST_PANELS]
    figure, axes = panel_grid(len(shown))
    for ax, (name, frame) in zip(axes, shown, strict=True):
        left = frame.index.to_numpy(dtype=float)
        width = float(left[1] - left[0])
        for arm, sign, color in (("1", 1.0, TRUTH), ("0", -1.0, INK)):
            rows = frame[arm].to_numpy()
            share = sign * rows / max(float(rows.sum()), 1.0)
            label = f"{arm} ({rows.sum():,.0f} rows)"
            ax.bar(left, share, width, align="edge", color=color, alpha=0.8, label=label)
        ax.axhline(0.0, color="0.4", linewidth=0.8)
        ax.set_yticks([])
        ax.set_xlim(left[0], left[-1] + width)
        ax.set_xticks(np.linspace(0.0, 1.0, 5))
        ax.set_title(plain(str(name)), fontsize="small")
        ax.set_xlabel("predicted probability", fontsize="small")
        ax.tick_params(labelsize="x-small")
        ax.legend(fontsize="x-small", frameon=False)
    axes[0].set_ylabel("share of the arm", fontsize="small")
    return figure
