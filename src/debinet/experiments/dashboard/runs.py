"""Stored cells as one row per run: squared error, coverage and length relative to the ideal."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from scipy import stats

from debinet.experiments.dashboard.estimates import VERDICTS, WORDS
from debinet.experiments.dashboard.planning import design_and_size
from debinet.experiments.results import by_word
from debinet.experiments.store import Record

KEYS = ["design", "n", "method", "replication"]
_IDEAL_LENGTH = 2 * float(stats.norm.ppf(0.975))


def tabulate_runs(records: Sequence[Record]) -> pd.DataFrame:
    """Return a row per run.

    Columns: design, n, method, replication; squared (squared error over the squared ideal standard
    error), covered (share of intervals), length (over that of the ideal interval), each a mean over
    treatments; miss (error in standard errors of the method, the largest over treatments); all of
    these NaN if the run failed; verdict ("" without one), seconds, failure.
    """
    runs = pd.DataFrame(
        [
            {
                **_keys(record),
                "verdict": _verdict(record),
                "seconds": record.seconds,
                "failure": record.failure,
            }
            for record in records
        ],
        columns=[*KEYS, "verdict", "seconds", "failure"],
    )
    return runs.merge(_accuracy(records), on=KEYS, how="left")


def _accuracy(records: Sequence[Record]) -> pd.DataFrame:
    frames = [_coefficients(record) for record in records if record.values is not None]
    columns = [*KEYS, "squared", "covered", "length", "miss"]
    if not frames:
        return pd.DataFrame(columns=columns).astype({"n": int, "replication": int})
    each = pd.concat(frames, ignore_index=True)
    # The ideal error varies from run to run; what methods are compared with must not.
    squares = (each["ideal"] ** 2).groupby([each["design"], each["n"], each["name"]])
    variance = squares.transform("mean")
    each["squared"] = (each["coef"] - each["truth"]) ** 2 / variance
    each["covered"] = each["truth"].between(each["lower"], each["upper"]).astype(float)
    each["length"] = (each["upper"] - each["lower"]) / (_IDEAL_LENGTH * variance**0.5)
    each["miss"] = (each["coef"] - each["truth"]).abs() / each["se"]
    grouped = each.groupby(KEYS, sort=False)
    means = grouped[["squared", "covered", "length"]].mean()
    return means.assign(miss=grouped["miss"].max()).reset_index()[columns]


def _coefficients(record: Record) -> pd.DataFrame:
    values = {key: value for key, value in (record.values or {}).items() if key != "trust"}
    return by_word(values, WORDS).rename_axis("name").reset_index().assign(**_keys(record))


def _keys(record: Record) -> dict[str, str | int]:
    design, n = design_and_size(record.design)
    return dict(zip(KEYS, (design, n, record.method, record.replication), strict=True))


def _verdict(record: Record) -> str:
    trust = (record.values or {}).get("trust")
    return "" if trust is None else VERDICTS[int(trust)]
