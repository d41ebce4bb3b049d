"""Curves of training: losses, distance of the kernel, movement of weights, coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from debinet.exceptions import InputError
from debinet.report.forest import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Distinct for colour-blind readers (Okabe and Ito), and by line style in black and white.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
_STROKES: tuple[Any, ...] = ("-", (0, (7, 1.5)), (0, (7, 1.5, 1.5, 1.5)), (0, (3, 1)))
_BOUND: Any = (0, (1, 1.6))
# More names than this make a legend longer than its plot.
_NAMED = 14
# Bands of more terms than this cover each other.
_BANDS = 6


def loss_plot(
    frame: pd.DataFrame,
    bound: pd.DataFrame | pd.Series | None = None,
    *,
    ax: Axes | None = None,
    label: str = "loss",
) -> Axes:
    """Draw losses on a logarithmic scale, a curve per column.

    Parameters
    ----------
    frame : DataFrame
        Losses: a row per time or epoch, which are the index, a column per output, optimizer, loss
        function or activation. Where a loss is 0 or missing, its curve has a gap.
    bound : DataFrame or Series, optional
        What the losses should stay below, drawn dotted: a frame has columns of the same names,
        each drawn in the colour of its curve; a series is one line for all.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.
    label : str
        Text beside the vertical axis.
    """
    _require_rows(frame)
    ax = _axes(ax)
    ax.set_yscale("log")
    for name, colour, stroke in _styles(frame.columns):
        _line(ax, frame[name], colour, stroke, str(name))
        if isinstance(bound, pd.DataFrame) and name in bound:
            _line(ax, bound[name], colour, _BOUND, f"{name}, bound", width=1.3)
    if isinstance(bound, pd.Series):
        _line(ax, bound, "0.25", _BOUND, str(bound.name or "bound"), width=1.3)
    _finish(ax, str(frame.index.name or "epoch"), label)
    return ax


def loss_panels(frames: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw losses, a panel per frame with its name above; see `loss_plot`."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(frames), figsize=(1.0 + 3.4 * len(frames), 3.4), squeeze=False, layout="constrained"
    )
    for ax, (name, frame) in zip(axes[0], frames.items(), strict=True):
        loss_plot(frame, ax=ax, label="training loss")
        ax.set_title(plain(name), fontsize="medium")
    for ax in axes[0, :-1]:
        ax.get_legend().remove()  # that of the last panel is the same
    return figure


def kernel_distance_plot(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how far a kernel is from its limit or its start, in percent.

    Parameters
    ----------
    frame : DataFrame
        Relative distances: a row per time, which are the index, a column per distance.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.
    """
    _require_rows(frame)
    ax = _axes(ax)
    for name, colour, stroke in _styles(frame.columns):
        _line(ax, 100 * frame[name], colour, stroke, str(name), marker="o")
    ax.set_ylim(bottom=0.0)
    _finish(ax, str(frame.index.name or "time"), "relative distance of the kernel, %")
    return ax


def movement_plot(
    frame: pd.DataFrame, bound: float | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw how far weights have moved from their start, on a logarithmic scale.

    Parameters
    ----------
    frame : DataFrame
        Movements: a row per time, which are the index, a column per network or layer.
    bound : float, optional
        What they should stay below, drawn dotted.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.
    """
    _require_rows(frame)
    ax = _axes(ax)
    ax.set_yscale("log")
    for name, colour, stroke in _styles(frame.columns):
        _line(ax, frame[name], colour, stroke, str(name), marker="o")
    if bound is not None:
        ax.axhline(bound, color="0.25", linestyle=_BOUND, linewidth=1.3, label="bound")
    _finish(ax, str(frame.index.name or "time"), "greatest movement of a neuron's weights")
    return ax


def plot_coefficient_path(
    frame: pd.DataFrame,
    truth: Mapping[str, float] | pd.Series | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw coefficients with their intervals over the epochs of training.

    Parameters
    ----------
    frame : DataFrame
        With columns `epoch`, `term`, `coef`, `lower`, `upper`. Intervals are drawn for up to six
        terms.
    truth : Series or mapping, optional
        Known coefficients by term, drawn dotted.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.
    """
    _require_rows(frame)
    _require_columns(frame, ("epoch", "term", "coef", "lower", "upper"))
    ax = _axes(ax)
    known = {} if truth is None else dict(truth)
    terms = list(dict.fromkeys(frame["term"]))
    ax.axhline(0.0, color="0.6", linewidth=0.8, zorder=0)
    for name, colour, stroke in _styles(terms):
        path = frame[frame["term"] == name].sort_values("epoch").set_index("epoch")
        _line(ax, path["coef"], colour, stroke, str(name))
        if len(terms) <= _BANDS:
            ax.fill_between(
                path.index, path["lower"], path["upper"], color=colour, alpha=0.16, lw=0
            )
        if name in known:
            ax.axhline(known[name], color=colour, ls=_BOUND, lw=1.3, label=plain(f"{name}, truth"))
    _finish(ax, "epoch", "coefficient")
    return ax


def _axes(ax: Axes | None) -> Axes:
    if ax is None:
        # pyplot, so that notebooks and plt.show() find the figure.
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    return ax


def _styles(names: Iterable[Any]) -> list[tuple[Any, str, Any]]:
    # the lengths have no common factor, so no two of the first 28 curves look the same
    return list(zip(names, cycle(_COLOURS), cycle(_STROKES), strict=False))


def _line(
    ax: Axes,
    curve: pd.Series,
    colour: str,
    stroke: Any,
    label: str,
    *,
    width: float = 1.7,
    marker: str = "",
) -> None:
    values = curve.to_numpy(dtype=np.float64)
    shown = np.isfinite(values)
    if ax.get_yscale() == "log":
        shown &= values > 0  # else drawn as a fall to the lower edge
    ax.plot(
        curve.index.to_numpy(),
        np.where(shown, values, np.nan),
        color=colour,
        linestyle=stroke,
        linewidth=width,
        marker=marker,
        markersize=3.5,
        label=plain(label),
    )


def _finish(ax: Axes, below: str, beside: str) -> None:
    ax.set_xlabel(plain(below))
    ax.set_ylabel(plain(beside))
    ax.spines[["top", "right"]].set_visible(False)
    handles, labels = ax.get_legend_handles_labels()
    if len(handles) > 1:
        # beside the axes, where no curve can be
        ax.legend(
            handles[:_NAMED],
            labels[:_NAMED],
            loc="upper left",
            bbox_to_anchor=(1.0, 1.0),
            frameon=False,
            fontsize="small",
            handlelength=3.2,
            title=f"the first {_NAMED} of {len(handles)}" if len(handles) > _NAMED else None,
            title_fontsize="small",
        )


def _require_rows(frame: pd.DataFrame) -> None:
    if not isinstance(frame, pd.DataFrame) or frame.empty:
        raise InputError(
            "a frame with rows and columns to draw",
            "an empty frame" if isinstance(frame, pd.DataFrame) else type(frame).__name__,
            "Pass a pandas DataFrame with a column per curve.",
        )


def _require_columns(frame: pd.DataFrame, names: tuple[str, ...]) -> None:
    missing = [name for name in names if name not in frame]
    if missing:
        raise InputError(
            f"columns {', '.join(names)}",
            f"a frame without {', '.join(missing)}",
            "Rename the columns of the frame.",
        )
