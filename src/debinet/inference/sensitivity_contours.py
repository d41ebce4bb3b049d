"""Contours of a bound over the strengths of a confounder: the numbers behind the plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from debinet.data.options import one_of, positive_number
from debinet.exceptions import OptionError
from debinet.inference.robustness import bias_strength, robustness_value
from debinet.protocols import FloatArray
from debinet.report.diagnostics import MOST_PANELS
from debinet.report.page import Section

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from debinet.inference.sensitivity import Sensitivity

_STEPS = 121
# Plots reach this much farther than the farthest point, and not beyond this share.
_ROOM, _MOST, _LEAST = 1.25, 0.95, 0.02


def draw_contours(
    sensitivity: Sensitivity,
    name: str | None,
    of: str,
    limits: tuple[float, float] | None,
    ax: Axes | None,
) -> Axes:
    """Draw the bound of one coefficient; options as in `Sensitivity.plot`."""
    from debinet.report.contours import contour_plot

    one_of("of", of, ["estimate", "interval"])
    j = _position(sensitivity, name)
    points = confounders(sensitivity, j, of)
    reach = _limits(sensitivity, j, of, points) if limits is None else _given(limits)
    axis = [np.linspace(0.0, end, _STEPS) for end in reach]
    cf_d, cf_y = np.meshgrid(*axis)
    grid = pd.DataFrame(_bound(sensitivity, j, of, cf_y, cf_d), index=axis[1], columns=axis[0])
    level = 100 * sensitivity.scenario.level
    what = "bound" if of == "estimate" else f"{level:g} % confidence bound"
    return contour_plot(
        grid,
        points,
        null=float(sensitivity.null[j]),
        labels=(
            f"share of what is left of {sensitivity.names[j]} that a confounder explains (cf_d)",
            f"share of what is left of {sensitivity.outcome} (cf_y)",
        ),
        title=f"{sensitivity.names[j]}: {what}",
        ax=ax,
    )


def sensitivity_sections(sensitivity: Sensitivity) -> list[Section]:
    """Return parts of a page: the table, what it means, and contours of the first terms."""
    words = Section(
        "What if something was not measured?",
        table=sensitivity.to_html(),
        text="\n\n".join(sensitivity.in_words()),
    )
    pictures = [
        Section(
            f"Sensitivity of {name}",
            figure=draw_contours(sensitivity, name, "interval", None, None),
            caption=f"Contours of the confidence bound of {name} over the two strengths of a "
            "confounder; it reaches the null at the dashed line",
        )
        for name in sensitivity.names[:MOST_PANELS]
    ]
    return [words, *pictures]


def confounders(sensitivity: Sensitivity, j: int, of: str) -> pd.DataFrame:
    """Return cf_d, cf_y and the bound of no confounder, the scenario, and each benchmark."""
    scenario = sensitivity.scenario
    rows = [("no confounder", 0.0, 0.0)]
    if sensitivity.benchmarks is None:
        rows.append(("supposed", scenario.cf_d, scenario.cf_y))
    else:
        found = sensitivity.benchmarks.strength(sensitivity.A)
        rows += list(
            zip(sensitivity.benchmarks.labels, found.cf_d[:, j], found.cf_y[:, j], strict=True)
        )
    frame = pd.DataFrame(rows, columns=["label", "cf_d", "cf_y"])
    frame = frame[frame["cf_d"] < 1]  # others cannot exist
    cf_y, cf_d = (frame[name].to_numpy()[None] for name in ("cf_y", "cf_d"))
    return frame.assign(bound=_bound(sensitivity, j, of, cf_y, cf_d)[0])


def _bound(
    sensitivity: Sensitivity, j: int, of: str, cf_y: FloatArray, cf_d: FloatArray
) -> FloatArray:
    """Return the bound, or the end of its interval, on the side of the null."""
    side = -1.0 if sensitivity.estimate[j] >= sensitivity.null[j] else 1.0
    strength = bias_strength(np.minimum(cf_y, 1.0), cf_d, sensitivity.scenario.rho).reshape(-1, 1)
    bias = sensitivity.bias.pick(j)
    found = bias.bounds(strength, side)
    if of == "interval":
        found = found + side * sensitivity.quantile * bias.errors(strength, side)
    return np.asarray(found.reshape(cf_y.shape))


def _limits(sensitivity: Sensitivity, j: int, of: str, points: pd.DataFrame) -> tuple[float, float]:
    """Return limits of cf_d and cf_y that show all points, and the null if it is not far away."""
    robust = float(robustness_value(sensitivity.f2(interval=of == "interval"))[j])
    ends = []
    for name in ("cf_d", "cf_y"):
        farthest = max(float(points[name].max()), min(robust, 0.5))
        ends.append(min(max(_ROOM * farthest, _LEAST), _MOST))
    return ends[0], ends[1]


def _given(limits: tuple[float, float]) -> tuple[float, float]:
    ends = [
        positive_number(f"limits[{k}]", end, most)
        for k, (end, most) in enumerate(zip(limits, (0.99, 1.0), strict=True))
    ]
    return ends[0], ends[1]


def _position(sensitivity: Sensitivity, name: str | None) -> int:
    names = sensitivity.names
    if name is None:
        return 0
    if name not in names:
        raise OptionError(f"one of {list(names)[:8]}", repr(name), "Check the spelling.")
    return names.index(name)
