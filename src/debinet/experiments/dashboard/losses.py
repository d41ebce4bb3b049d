"""Where our default loses: another method is more precise, or intervals do not cover."""

from __future__ import annotations

import math

import pandas as pd

from debinet.experiments.dashboard.methods import DEFAULT
from debinet.experiments.dashboard.summary import root_mean, share

TOLERATED = 1.1  # of the best other method's error
LEAST_COVERAGE = 0.90
COLUMNS = ["design", "n", "error", "coverage", "best", "best_error", "best_coverage", "lost"]


def find_losses(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per design and size at which our default loses.

    Its error is more than 10 % above that of the best other method, in the runs that both have, or
    its coverage is below 0.90, or it has failed in a run.

    Parameters
    ----------
    runs : DataFrame
        As `tabulate_runs` returns it.

    Returns
    -------
    DataFrame
        Columns: design, n; error and coverage of our default; best (the other method against which
        its error is largest), best_error and best_coverage; lost (which of "error", "coverage" and
        "failures").
    """
    rows = []
    for (design, n), part in runs.groupby(["design", "n"], sort=False):
        if DEFAULT in set(part["method"]) and (found := _compare(part))["lost"]:
            rows.append({"design": design, "n": n, **found})
    return pd.DataFrame(rows, columns=COLUMNS)


def _compare(runs: pd.DataFrame) -> dict[str, float | str]:
    """Compare the runs of one design and size; `lost` is empty if our default does not lose."""
    done = runs[runs["failure"].isna()]
    ours = done[done["method"] == DEFAULT].set_index("replication")
    failures = int((runs["method"] == DEFAULT).sum()) - len(ours)
    coverage = share(ours["covered"])[0]
    error, best, best_error, best_coverage = root_mean(ours["squared"])[0], "", math.nan, math.nan
    worst = 0.0
    for method, part in done[done["method"] != DEFAULT].groupby("method", sort=False):
        other = part.set_index("replication")
        common = ours.index.intersection(other.index)
        if common.empty:
            continue
        mine = root_mean(ours.loc[common, "squared"])[0]
        theirs = root_mean(other.loc[common, "squared"])[0]
        ratio = mine / theirs if theirs > 0 else math.inf
        if ratio > worst:
            worst, error, best, best_error = ratio, mine, str(method), theirs
            best_coverage = share(other["covered"])[0]
    lost = [
        *(["error"] if worst > TOLERATED else []),
        *(["coverage"] if coverage < LEAST_COVERAGE else []),
        *(["failures"] if failures else []),
    ]
    return {
        "error": error,
        "coverage": coverage,
        "best": best,
        "best_error": best_error,
        "best_coverage": best_coverage,
        "lost": ", ".join(lost),
    }
