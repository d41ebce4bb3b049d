"""Whether `trust()` notices fits that are far off, and only those."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from debinet.experiments.dashboard.designs import DESIGNS, Use
from debinet.experiments.dashboard.estimates import VERDICTS
from debinet.experiments.dashboard.formats import number, with_error
from debinet.experiments.dashboard.methods import DEFAULT, METHODS
from debinet.experiments.dashboard.summary import share
from debinet.report.comparison import markdown

FAR, NEAR = 3.0, 2.0  # standard errors
_OK = VERDICTS[0]


@dataclass(frozen=True)
class Alarms:
    """Verdicts of fits, by how far they are off.

    Attributes
    ----------
    ok : int
        Fits called ok.
    coverage, coverage_se : float
        Of these, with its Monte Carlo error.
    far, near : int
        Fits that miss by more than three standard errors, and by less than two.
    caught, false : float
        Shares of `far` and of `near` that are not called ok, NaN if there are none.
    """

    ok: int
    coverage: float
    coverage_se: float
    far: int
    near: int
    caught: float
    false: float


def count_alarms(runs: pd.DataFrame, use: Use, method: str = DEFAULT) -> Alarms:
    """Count the fits of a method on the designs of one use.

    Parameters
    ----------
    runs : DataFrame
        As `tabulate_runs` returns it.
    use : "tuning", "held aside" or "neither"
    method : str
    """
    wanted = runs["design"].map(lambda design: DESIGNS[design].use) == use
    ours = (runs["method"] == method) & (runs["verdict"] != "")
    fits = runs[wanted & ours & runs["failure"].isna()]
    called_ok = fits["verdict"] == _OK
    far, near = fits["miss"] > FAR, fits["miss"] < NEAR
    return Alarms(
        int(called_ok.sum()),
        *share(fits.loc[called_ok, "covered"]),
        int(far.sum()),
        int(near.sum()),
        _share_not_ok(called_ok[far]),
        _share_not_ok(called_ok[near]),
    )


def alarms_line(alarms: Alarms, which: str) -> str:
    """Return the counts in a sentence about the designs that `which` names."""
    if not alarms.far + alarms.near + alarms.ok:
        return f"Our default was not run on {which}."
    covered = with_error(alarms.coverage, alarms.coverage_se)
    parts = [
        f"fits called ok ({alarms.ok}) cover {covered}" if alarms.ok else "no fit is called ok",
        _clause(alarms.caught, alarms.far, "more than three"),
        _clause(alarms.false, alarms.near, "less than two"),
    ]
    return f"On {which}, " + "; ".join(parts) + "."


def alarms_table(runs: pd.DataFrame, use: Use) -> str:
    """Return a row for every method that has verdicts on the designs of one use."""
    judged = set(runs.loc[runs["verdict"] != "", "method"])
    found = {m: count_alarms(runs, use, m) for m in METHODS if m in judged}
    rows = [
        [
            method,
            str(one.ok),
            with_error(one.coverage, one.coverage_se),
            str(one.far),
            number(one.caught),
            str(one.near),
            number(one.false),
        ]
        for method, one in found.items()
        if one.ok + one.far + one.near
    ]
    head = ["method", "ok", "their coverage", "miss by > 3", "not ok", "miss by < 2", "not ok "]
    return markdown(head, rows)


def _share_not_ok(called_ok: pd.Series) -> float:
    return float(1 - called_ok.mean()) if len(called_ok) else math.nan


def _clause(not_ok: float, count: int, how_far: str) -> str:
    if not count:
        return f"no fit misses by {how_far} standard errors"
    return f"of fits that miss by {how_far} standard errors ({count}), {number(not_ok)} are not ok"
