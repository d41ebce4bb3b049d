"""Intervals of several methods side by side, readable for hundreds of coefficients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from debinet.exceptions import InputError
from debinet.report.forest import INK, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# One colour per true value, the first for the largest; distinct for colour-blind readers too.
_COLOURS = (INK, "#e08214", "#3f8f5b", "#8e5ea2", "#7f7f7f")
_NAMED_ROWS = 40


def plot_intervals(
    results: Mapping[str, Any],
    truth: Mapping[str, float] | pd.Series | None = None,
    *,
    level: float = 0.95,
    joint: bool = False,
) -> Figure:
    """Draw the intervals of every method in a panel of its own, on one scale.

    Parameters
    ----------
    results : mapping from str to Inference or DataFrame
        Results by the name of the method; frames have columns `coef`, `lower`, `upper`.
    truth : Series or mapping, optional
        Known coefficients by name. Intervals are coloured by them, true values are dashed lines,
        and the title of each panel has the share of intervals that cover.
    level, joint
        As in `Inference.confint`.

    Returns
    -------
    matplotlib Figure
        Rows are sorted by truth, then by the estimates of the first method.
    """
    import matplotlib.pyplot as plt

    if not results:
        raise InputError("at least one result to draw", "none", "Pass {'name': result}.")
    frames = {
        name: result if isinstance(result, pd.DataFrame) else result.to_frame(level, joint)
        for name, result in results.items()
    }
    known = None if truth is None else pd.Series(truth, dtype=float)
    order = _order(frames, known)
    height = min(1.6 + 0.22 * len(order), 8.0)
    figure, axes = plt.subplots(
        1,
        len(frames),
        figsize=(2.2 + 2.6 * len(frames), max(height, 2.4)),
        sharex=True,
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for ax, (name, frame) in zip(axes[0], frames.items(), strict=True):
        _panel(ax, name, frame, order, known)
    if known is not None:
        axes[0, 0].legend(frameon=False, fontsize="small", loc="lower right", markerscale=3)
    axes[0, 0].set_ylabel("coefficient" if len(order) > _NAMED_ROWS else "")
    figure.supxlabel(f"{100 * level:g} % {'joint ' if joint else ''}intervals", fontsize="medium")
    return figure


def _order(frames: Mapping[str, pd.DataFrame], truth: pd.Series | None) -> pd.Index:
    """Return all coefficients, the one to be drawn lowest first."""
    first = next(iter(frames.values()))
    names = list(dict.fromkeys(name for frame in frames.values() for name in frame.index))
    keys = pd.DataFrame({"coef": first["coef"].reindex(names)}, index=names)
    keys["truth"] = 0.0 if truth is None else truth.reindex(names)
    order: pd.Index = keys.sort_values(["truth", "coef"], kind="stable").index
    return order


def _panel(
    ax: Axes, name: str, frame: pd.DataFrame, order: pd.Index, truth: pd.Series | None
) -> None:
    rows = pd.Series(np.arange(len(order)), index=order).reindex(frame.index).to_numpy()
    width = 1.6 if len(order) <= _NAMED_ROWS else max(0.4, 120 / len(order))
    ax.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
    title = plain(name)
    if truth is None:
        groups = {"": np.ones(len(frame), dtype=bool)}
    else:
        known = truth.reindex(frame.index)
        groups = _by_truth(known)
        inside = (frame["lower"] <= known) & (known <= frame["upper"])
        if known.notna().any():
            title += f"\n{100 * inside[known.notna()].mean():.0f} % cover"
    for (label, mask), colour in zip(groups.items(), _COLOURS, strict=False):
        chosen = frame[mask]
        ax.hlines(rows[mask], chosen["lower"], chosen["upper"], colour, linewidth=width)
        ax.plot(chosen["coef"], rows[mask], ".", color=colour, markersize=3 * width, label=label)
        if truth is not None and mask.any():
            _mark_truth(ax, truth.reindex(chosen.index), rows[mask], colour)
    ax.set_title(title, fontsize="medium")
    if len(order) <= _NAMED_ROWS:
        ax.set_yticks(np.arange(len(order)), [plain(str(n)) for n in order], fontsize="small")
    else:
        ax.set_yticks([])
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)


def _by_truth(known: pd.Series) -> dict[str, Any]:
    """Group coefficients by their true value, or by whether it is zero if there are many."""
    values = np.sort(known.dropna().unique())[::-1]
    if values.size < len(_COLOURS):
        groups = {f"truth {value:g}": (known == value).to_numpy() for value in values}
    else:
        groups = {
            "truth not 0": (known != 0).to_numpy() & known.notna().to_numpy(),
            "truth 0": (known == 0).to_numpy(),
        }
    unknown = known.isna().to_numpy()
    return {**groups, "unknown": unknown} if unknown.any() else groups


def _mark_truth(ax: Axes, known: pd.Series, rows: Any, colour: str) -> None:
    if (known == known.iloc[0]).all():
        ax.plot(
            [known.iloc[0]] * 2, [rows.min() - 0.5, rows.max() + 0.5], "--", color=colour, lw=0.9
        )
    else:
        ax.plot(known, rows, "|", color=colour, markersize=4)
