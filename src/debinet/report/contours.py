"""Contours of a bound over the two strengths of a confounder, with benchmarks as points."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from debinet.data.atomic_write import write_atomically
from debinet.exceptions import OptionError
from debinet.report.forest import INK, TRUTH, plain
from debinet.report.tables import format_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVELS = 9
_PICTURES = (".png", ".svg", ".pdf")
# Sizes of texts and gaps, as shares of the axes.
_LETTER, _LINE, _GAP = 0.0135, 0.045, 0.025


def contour_plot(
    grid: pd.DataFrame,
    points: pd.DataFrame,
    *,
    null: float,
    labels: tuple[str, str],
    title: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw contours of a bound, dashed where it reaches the null.

    Parameters
    ----------
    grid : DataFrame
        Bounds: a row per strength on the side of the outcome, a column per strength on the side of
        the treatment.
    points : DataFrame
        Columns label, cf_d, cf_y and bound, a row per confounder to mark; the first is none at all.
    null : float
    labels : (str, str)
        Of the axes.
    title : str
    ax : matplotlib Axes, optional
        Where to draw; a new figure if left out.
    """
    if ax is None:
        # pyplot, so that notebooks and plt.show() find the figure.
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
    x, y, values = grid.columns.to_numpy(float), grid.index.to_numpy(float), grid.to_numpy()
    _lines(ax, x, y, values, null)
    _mark(ax, points, (x[-1], y[-1]))
    # room for the point at zero
    ax.set_xlim(-0.03 * x[-1], x[-1])
    ax.set_ylim(-0.03 * y[-1], y[-1])
    ax.set_xlabel(plain(labels[0]))
    ax.set_ylabel(plain(labels[1]))
    ax.set_title(plain(title), fontsize="medium")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def require_picture(path: Path) -> None:
    """Require an ending that contours can be written to."""
    if path.suffix.lower() not in _PICTURES:
        raise OptionError(
            f"a picture that ends in {', '.join(_PICTURES)}",
            repr(path.name),
            "Choose one of these.",
        )


def save_contours(ax: Axes, path: Path) -> None:
    """Write contours to a file in the format of its ending, whole or not at all."""
    import matplotlib.pyplot as plt

    figure = ax.get_figure(root=True)
    assert figure is not None
    with write_atomically(path) as draft:
        figure.savefig(draft, format=path.suffix.lower()[1:], dpi=200)
    plt.close(figure)


def _lines(ax: Axes, x: np.ndarray, y: np.ndarray, values: np.ndarray, null: float) -> None:
    """Draw contours at round values, and a dashed one at the null."""
    if values.min() == values.max():
        return  # strengths that move nothing, as with a correlation of 0
    from matplotlib.ticker import MaxNLocator

    ticks = np.asarray(MaxNLocator(_LEVELS).tick_values(values.min(), values.max()))
    levels = ticks[(ticks > values.min()) & (ticks < values.max()) & (ticks != null)]
    lines = ax.contour(x, y, values, levels, colors="0.55", linewidths=0.9, linestyles="solid")
    ax.clabel(lines, fontsize="x-small", fmt=_short)
    if values.min() < null < values.max():
        edge = ax.contour(x, y, values, [null], colors=TRUTH, linewidths=1.6, linestyles="dashed")
        ax.clabel(edge, fontsize="x-small", fmt=_short)


def _short(value: float) -> str:
    return format_number(value, 3)


def _mark(ax: Axes, points: pd.DataFrame, ends: tuple[float, float]) -> None:
    """Draw points with their names and bounds, moved upwards where they would cover each other."""
    texts = [
        f"{label} ({_short(bound)})"
        for label, bound in points[["label", "bound"]].itertuples(index=False)
    ]
    x, y = points["cf_d"].to_numpy() / ends[0], points["cf_y"].to_numpy() / ends[1]
    ax.plot(points["cf_d"][:1], points["cf_y"][:1], "^", color=INK, markersize=7, zorder=3)
    ax.plot(points["cf_d"][1:], points["cf_y"][1:], "D", color=INK, markersize=6, zorder=3)
    for text, place, at in zip(texts, _places(texts, x, y), zip(x, y, strict=True), strict=True):
        ax.annotate(
            plain(text),
            (at[0] * ends[0], at[1] * ends[1]),
            xytext=(place[0] * ends[0], place[1] * ends[1]),
            fontsize="small",
            color=INK,
            va="center",
            zorder=4,
            arrowprops={
                "arrowstyle": "-",
                "color": INK,
                "linewidth": 0.6,
                "relpos": (0.0 if place[0] > at[0] else 1.0, 0.5),
            },
            bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 0.8},
        )


def _places(texts: list[str], x: np.ndarray, y: np.ndarray) -> list[tuple[float, float]]:
    """Return where texts begin, as shares of the axes; points are at (x, y)."""
    placed: list[tuple[float, float, float]] = []
    found = [(0.0, 0.0)] * len(texts)
    for k in np.argsort(y, kind="stable"):
        width = _LETTER * len(texts[k])
        left = x[k] + _GAP if x[k] + _GAP + width < 1 else max(x[k] - _GAP - width, 0.0)
        height = y[k]
        while any(
            abs(height - other) < _LINE and left < end and start < left + width
            for start, end, other in placed
        ):
            height += _LINE / 4
        placed.append((left, left + width, height))
        found[k] = (left, height)
    return found
