"""Sizes that a method was not run on because it would take too long."""

from __future__ import annotations

import math

import pandas as pd

from debinet.experiments.dashboard.methods import METHODS


def expected_seconds(summary: pd.DataFrame) -> pd.DataFrame:
    """Return a row per design, size and method that was left out, with the seconds it would take.

    Seconds are those of the largest size it was run on, times the ratio of the sizes to the power
    of its growth; NaN if it has failed there. Columns: design, n, method, seconds.
    """
    rows = []
    for design, part in summary.groupby("design", sort=False):
        sizes = sorted(part["n"].unique())
        for method, done in part.groupby("method", sort=False):
            cost = METHODS[str(method)].cost
            largest = done.nlargest(1, "n").iloc[0]
            for n in sizes:
                if not cost.allows(n):
                    seconds = largest["seconds"] * (n / largest["n"]) ** cost.growth
                    rows.append((design, n, method, seconds))
    return pd.DataFrame(rows, columns=["design", "n", "method", "seconds"])


def in_words(seconds: float) -> str:
    """Return a time with its unit."""
    if math.isnan(seconds):
        return "too long"
    for unit, length in (("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"about {seconds / length:.0f} {unit} a run"
    return f"about {seconds:.0f} seconds a run"
