"""Our default at a glance: error and coverage by design and size, bold where they miss a bound."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from debinet.experiments.dashboard.designs import DESIGNS
from debinet.experiments.dashboard.formats import number
from debinet.experiments.dashboard.methods import DEFAULT
from debinet.report.comparison import markdown


@dataclass(frozen=True)
class Bounds:
    """What error and coverage of our default should be.

    Attributes
    ----------
    most_error : float
        In ideal standard errors.
    least_coverage : float
        Of 95 % intervals.
    """

    most_error: float
    least_coverage: float


MANY_ROWS = 5000
FEW, MANY = Bounds(1.35, 0.90), Bounds(1.5, 0.88)
HEADING = f"""\
## Overview

Error / coverage of our default, by design and number of rows. Bold: an error above
{FEW.most_error:.2f} or coverage below {FEW.least_coverage:.2f}; from {MANY_ROWS:,} rows on, an
error above {MANY.most_error:.2f} or coverage below {MANY.least_coverage:.2f}.
"""


def bounds_at(n: int) -> Bounds:
    """Return the bounds for n rows."""
    return MANY if n >= MANY_ROWS else FEW


def overview_table(summary: pd.DataFrame) -> str:
    """Return a table with a row per design and a column per size, for our default.

    Parameters
    ----------
    summary : DataFrame
        As `summarize` returns it.
    """
    ours = summary[summary["method"] == DEFAULT]
    if ours.empty:
        return "Our default was not run."
    sizes = sorted(ours["n"].unique())
    cells = {(row["design"], row["n"]): _cell(row) for row in ours.to_dict("records")}
    rows = [
        [
            f"[{design}](#{design})",
            DESIGNS[design].use,
            *(cells.get((design, n), "") for n in sizes),
        ]
        for design in DESIGNS
        if design in set(ours["design"])
    ]
    return markdown(["design", "use", *(f"{n:,}" for n in sizes)], rows)


def _cell(row: Mapping[Hashable, Any]) -> str:
    error, coverage, bounds = row["error"], row["coverage"], bounds_at(int(row["n"]))
    if math.isnan(error):
        return "**failed**"
    return " / ".join(
        [
            _bold(number(error), missed=error > bounds.most_error),
            _bold(number(coverage), missed=coverage < bounds.least_coverage),
        ]
    )


def _bold(text: str, *, missed: bool) -> str:
    return f"**{text}**" if missed else text
