"""Plots of residuals, stopping paths and the relevance of controls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from debinet.report.forest import INK, TRUTH, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# More panels than this are too small to read.
MOST_PANELS = 6
# More bars than this cannot be told apart.
_BARS = 30
# More points than this cover each other; every k-th is drawn.
_POINTS = 4000


def residual_plot(R_y: np.ndarray, R_D: pd.DataFrame, coef: pd.Series) -> Figure:
    """Draw residuals of y against those of each treatment, with the coefficient as a line.

    Parameters
    ----------
    R_y : array of shape (n,)
        Residuals of the outcome.
    R_D : DataFrame of shape (n, q)
        Residuals of the treatments; the first six are drawn.
    coef : Series
        Coefficients by the same names.
    """
    import matplotlib.pyplot as plt

    names = list(R_D.columns[:MOST_PANELS])
    figure, axes = panel_grid(len(names))
    step = max(1, len(R_y) // _POINTS)
    for ax, name in zip(axes, names, strict=True):
        x = R_D[name].to_numpy()
        others = R_D.drop(columns=name).to_numpy() @ coef.drop(name).to_numpy()
        ax.scatter(x[::step], (R_y - others)[::step], s=6, alpha=0.4, color=INK, linewidths=0)
        ends = np.array([x.min(), x.max()])
        ax.plot(ends, coef[name] * ends, color=TRUTH, linewidth=1.8)
        ax.set_xlabel(f"{plain(str(name))}, residual", fontsize="small")
    axes[0].set_ylabel("outcome, residual", fontsize="small")
    plt.setp([ax.get_xticklabels() for ax in axes], fontsize="x-small")
    return figure


def overlap_plot(R_D: pd.DataFrame, sd: pd.Series) -> Figure:
    """Draw the variation of treatments given Z, in units of their own standard deviations.

    Parameters
    ----------
    R_D : DataFrame of shape (n, q)
        Residuals of the treatments; the first six are drawn.
    sd : Series
        Standard deviations of the treatments themselves.
    """
    names = list(R_D.columns[:MOST_PANELS])
    figure, axes = panel_grid(len(names))
    for ax, name in zip(axes, names, strict=True):
        scaled = R_D[name].to_numpy() / sd[name]
        ax.hist(scaled, bins=40, color=INK, alpha=0.8)
        ax.set_xlim(min(-3.0, scaled.min()), max(3.0, scaled.max()))
        left = 100 * float(np.mean(scaled**2))
        ax.set_title(f"{plain(str(name))}: {left:.0f} % left", fontsize="small")
        ax.set_yticks([])
    axes[0].set_ylabel("rows", fontsize="small")
    return figure


def stopping_plot(
    x: pd.DataFrame, value: pd.DataFrame, chosen: pd.Series, *, along: str, measure: str
) -> Figure:
    """Draw the criterion that stopped the learner, and where that was.

    Parameters
    ----------
    x, value : DataFrame of shape (g, m)
        Positions on the path and the criterion there; the first six columns are drawn.
    chosen : Series of length m
        Where the learner stopped.
    along, measure : str
        Labels of the two axes.
    """
    count = min(x.shape[1], MOST_PANELS)
    figure, axes = panel_grid(count)
    for j, ax in enumerate(axes):
        # By position: an outcome and a treatment may have the same name.
        ax.plot(x.iloc[:, j], value.iloc[:, j], color=INK, linewidth=1.8)
        ax.axvline(float(chosen.iloc[j]), color=TRUTH, linewidth=1.5, linestyle="--")
        low, high = _interesting(value.iloc[:, j].to_numpy())
        ax.set_ylim(low, high)
        ax.set_title(f"{plain(str(x.columns[j]))}: {chosen.iloc[j]:.3g}", fontsize="small")
        ax.set_xlabel(along, fontsize="small")
        ax.tick_params(labelsize="x-small")
    axes[0].set_ylabel(measure, fontsize="small")
    return figure


def relevance_plot(values: pd.Series | pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Draw the relevance of controls as bars, the largest first.

    Parameters
    ----------
    values : Series or DataFrame
        By control, and by output if each has its own; the largest thirty are drawn.
    ax : matplotlib Axes, optional
        Where to draw.
    """
    import matplotlib.pyplot as plt

    table = values.to_frame() if isinstance(values, pd.Series) else values
    order = table.max(axis=1).sort_values(ascending=False).index
    shown = table.loc[order].head(_BARS)[::-1]
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 0.8 + 0.26 * len(shown)), layout="constrained")
    height = 0.7 / table.shape[1]
    shades = plt.get_cmap("viridis")(np.linspace(0.15, 0.85, table.shape[1]))
    for k, name in enumerate(shown):
        # the first output on top
        at = np.arange(len(shown)) + 0.35 - (k + 0.5) * height
        color = INK if table.shape[1] == 1 else shades[k]
        label = plain(str(name))
        ax.barh(at, shown[name].to_numpy(), color=color, alpha=0.85, height=height, label=label)
    if table.shape[1] > 1:
        ax.legend(fontsize="small", frameon=False)
    ax.set_yticks(np.arange(len(shown)), [plain(str(name)) for name in shown.index])
    ax.tick_params(labelsize="small")
    ax.axvline(1.0, color=TRUTH, linewidth=1.2, linestyle="--")
    left_out = len(values) - len(shown)
    note = f", {left_out} smaller ones not shown" if left_out else ""
    ax.set_xlabel(f"relevance (all features equal: 1){note}", fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _interesting(values: np.ndarray) -> tuple[float, float]:
    """Return the range around the least value, as far ends would flatten the curve."""
    least, first = float(values.min()), float(values[0])
    reach = max(first - least, 0.2 * float(np.ptp(values)), 1e-12)
    return least - 0.1 * reach, least + 1.3 * reach


def panel_grid(count: int) -> tuple[Figure, list]:  # type: ignore[type-arg]
    """Return a figure and the axes of some panels, at most three in a row."""
    import matplotlib.pyplot as plt

    columns = min(count, 3)
    rows = -(-count // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(3.2 * columns, 2.6 * rows), squeeze=False, layout="constrained"
    )
    flat = list(axes.flat)
    for ax in flat[count:]:
        ax.remove()
    for ax in flat[:count]:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, flat[:count]
