"""Estimates of several models: their table and their forest plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from debinet.report.forest import INK, TRUTH, plain
from debinet.report.tables import format_number, format_pvalue

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# How a verdict is drawn: marker and colour.
_MARKS = {
    "ok": ("o", INK),
    "look": ("o", "#e08214"),
    "do not trust": ("X", TRUTH),
    "not known": ("o", "#7f7f7f"),
}


def shown_models(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame of a comparison as text, a row per treatment and model."""
    numbers = ["coef", "se", "lower", "upper"]
    shown = frame[["model"]].astype(str)
    for column in numbers:
        shown[column] = [_number(value) for value in frame[column]]
    shown["trust"] = frame["trust"]
    shown["seconds"] = ["" if np.isnan(v) else f"{v:.2f}" for v in frame["seconds"]]
    return shown.set_axis(pd.Index(frame["treatment"].astype(str), name="treatment"))


def shown_agreement(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the tests of agreement as text."""
    return pd.DataFrame(
        {
            "largest difference": [_number(value) for value in frame["difference"]],
            "between": frame["between"],
            "in se": [f"{value:.2f}" for value in frame["in se"]],
            "F": [_number(value) for value in frame["statistic"]],
            "df": [str(int(value)) for value in frame["df_num"]],
            "pvalue": ["" if np.isnan(v) else format_pvalue(v) for v in frame["pvalue"]],
            "verdict": frame["verdict"],
        },
        index=frame.index,
    )


def plot_models(frame: pd.DataFrame, *, ax: Axes | None = None, label: str = "") -> Axes:
    """Draw an interval per treatment and model, those of a treatment together.

    Parameters
    ----------
    frame : DataFrame
        With columns treatment, model, coef, lower, upper and trust.
    ax : matplotlib Axes, optional
        Where to draw; a new figure of fitting height if left out.
    label : str
        Text below the axis.
    """
    import matplotlib.pyplot as plt

    treatments = list(dict.fromkeys(frame["treatment"]))
    several = len(treatments) > 1
    height = 0.0
    ticks: list[float] = []
    names: list[str] = []
    headings: list[int] = []
    if ax is None:
        rows = len(frame) + len(treatments) * several
        _, ax = plt.subplots(figsize=(6.4, min(1.4 + 0.3 * rows, 40)), layout="constrained")
    drawn: set[str] = set()
    for treatment in treatments:
        if several:
            headings.append(len(ticks))
            ticks.append(height)
            names.append(plain(str(treatment)))
            height -= 1
        for row in frame[frame["treatment"] == treatment].to_dict("records"):
            ticks.append(height)
            names.append(plain(str(row["model"])))
            _draw(ax, row, height, drawn)
            height -= 1
    ax.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
    ax.set_yticks(ticks, names)
    for position in headings:
        ax.get_yticklabels()[position].set_fontweight("bold")
    ax.set_ylim(height + 0.4, 0.6)
    ax.set_xlabel(plain(label))
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    if drawn - {"ok"}:
        ax.legend(frameon=False, fontsize="small", loc="best", title="trust")
    return ax


def _draw(ax: Axes, row: dict[str, object], height: float, drawn: set[str]) -> None:
    coef, lower, upper = (float(str(row[key])) for key in ("coef", "lower", "upper"))
    if not np.isfinite(coef):
        ax.annotate(
            str(row["trust"]),
            (0.02, height),
            xycoords=("axes fraction", "data"),
            color="0.4",
            fontsize="small",
            va="center",
        )
        return
    verdict = str(row["trust"])
    marker, colour = _MARKS[verdict]
    # An interval that is not finite has no ends to draw.
    ends = np.array([[coef - lower], [upper - coef]])
    ends[~np.isfinite(ends)] = np.nan
    ax.errorbar(
        [coef],
        [height],
        xerr=ends,
        fmt=marker,
        color=colour,
        markersize=4.5,
        linewidth=1.4,
        label="_" if verdict in drawn else verdict,
    )
    drawn.add(verdict)


def _number(value: float) -> str:
    return "" if np.isnan(value) else format_number(float(value))
