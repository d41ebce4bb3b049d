"""The runs of a design, size and method summed up, with Monte Carlo errors."""

from __future__ import annotations

import math

import pandas as pd

from debinet.experiments.dashboard.estimates import VERDICTS


def summarize(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per design, size and method.

    Parameters
    ----------
    runs : DataFrame
        As `tabulate_runs` returns it.

    Returns
    -------
    DataFrame
        Columns: design, n, method; runs (without failure), failures; error (root mean squared
        error over the ideal standard error), error_se; coverage, coverage_se; length; seconds
        (median); for every verdict v: "share v", "coverage v".
    """
    grouped = runs.groupby(["design", "n", "method"], sort=False)
    rows = [
        {"design": design, "n": n, "method": method, **_sum_up(part)}
        for (design, n, method), part in grouped
    ]
    return pd.DataFrame(rows)


def root_mean(squared: pd.Series) -> tuple[float, float]:
    """Return the root of the mean of squares and its Monte Carlo error (by linearization)."""
    root = math.sqrt(squared.mean()) if len(squared) else math.nan
    if len(squared) < 2 or root == 0:
        return root, math.nan
    return root, float(squared.std()) / math.sqrt(len(squared)) / (2 * root)


def share(covered: pd.Series) -> tuple[float, float]:
    """Return a mean of shares and its Monte Carlo error.

    The error is that of a proportion, each run counted once, with two successes and two failures
    added (Agresti and Coull), so that it is not zero when all runs cover.
    """
    count = len(covered)
    if count == 0:
        return math.nan, math.nan
    nearer = (covered.sum() + 2) / (count + 4)
    return float(covered.mean()), math.sqrt(nearer * (1 - nearer) / (count + 4))


def _sum_up(part: pd.DataFrame) -> dict[str, float]:
    done = part[part["failure"].isna()]
    error, error_se = root_mean(done["squared"])
    coverage, coverage_se = share(done["covered"])
    values = {
        "runs": len(done),
        "failures": len(part) - len(done),
        "error": error,
        "error_se": error_se,
        "coverage": coverage,
        "coverage_se": coverage_se,
        "length": float(done["length"].mean()),
        "seconds": float(done["seconds"].median()),
    }
    judged = done[done["verdict"] != ""]
    for verdict in VERDICTS:
        of_verdict = judged[judged["verdict"] == verdict]
        values[f"share {verdict}"] = len(of_verdict) / len(judged) if len(judged) else math.nan
        values[f"coverage {verdict}"] = share(of_verdict["covered"])[0]
    return values
