"""Means, Monte Carlo errors, verdicts, and how they are printed."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from debinet.experiments.comparison import (
    Comparison,
    Estimate,
    Metric,
    Published,
    compare,
    judge,
    sum_up,
)
from debinet.experiments.plan import Design, Experiment, Method
from debinet.experiments.results import Results
from debinet.experiments.store import Record
from debinet.report.comparison import Column, comparison_table, markdown

ERROR = Metric("error", "error", "error")
COVERAGE = Metric("coverage", "coverage", "coverage", target=0.95)
NEITHER = Metric("mean", "mean", "coef", target=None)


@pytest.mark.parametrize(
    ("text", "value", "rounding"),
    [("0.421", 0.421, 0.0005), ("1.59e-5", 1.59e-5, 0.005e-5), ("154", 154.0, 0.5)],
)
def test_printed_figures_know_how_far_they_are_rounded(text, value, rounding):
    assert Published(text).value == value
    assert math.isclose(Published(text).rounding, rounding)


@pytest.mark.parametrize("statistic", ["mean", "median", "sd"])
def test_monte_carlo_errors_are_those_of_repeated_experiments(statistic):
    """Against the spread of the statistic over 4000 samples; 5 % is six times its own error."""
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(4000, 60))
    found = [sum_up(sample, statistic) for sample in samples]
    spread = np.std([estimate.value for estimate in found])
    assert math.isclose(np.mean([e.error for e in found]), spread, rel_tol=0.05)


def test_sums_of_nothing_and_of_one():
    assert sum_up(np.empty(0), "mean").runs == 0
    assert math.isnan(sum_up(np.empty(0), "mean").value)
    one = sum_up(np.array([3.0]), "mean")
    assert one.value == 3.0
    assert math.isnan(one.error)


@pytest.mark.parametrize(
    ("ours", "paper", "metric", "verdict"),
    [
        (Estimate(0.40, 0.01, 50), Published("0.421"), ERROR, "same"),
        (Estimate(0.30, 0.01, 50), Published("0.421"), ERROR, "better"),
        (Estimate(0.30, 0.01, 50), Published("0.421", 0.418), ERROR, "same"),
        (Estimate(0.60, 0.01, 50), Published("0.421"), ERROR, "worse"),
        (Estimate(0.0014, 1e-6, 50), Published("0.001"), ERROR, "same"),
        (Estimate(0.94, 0.01, 50), Published("0.830"), COVERAGE, "better"),
        (Estimate(1.00, 0.001, 50), Published("0.960"), COVERAGE, "worse"),
        (Estimate(0.70, 0.01, 50), Published("0.590"), NEITHER, "differs"),
        (Estimate(0.70, 0.01, 50), None, NEITHER, ""),
        (Estimate(0.70, math.nan, 1), Published("0.590"), ERROR, ""),
        (Estimate(0.70, 0.0, 50), Published("0.590"), ERROR, ""),
        (Estimate(0.59, 0.0, 50), Published("0.590"), ERROR, "same"),
        (Estimate(0.50, 0.02, 2), Published("0.590"), ERROR, "same"),
        (Estimate(math.nan, math.nan, 0), Published("0.590"), ERROR, ""),
    ],
)
def test_verdicts(ours, paper, metric, verdict):
    assert judge(ours, paper, 50, metric) == verdict


@pytest.mark.parametrize("runs", [2, 3, 10, 50])
def test_equal_methods_are_rarely_called_different(runs):
    """At most 0.3 % of comparisons, and less with few runs; 1 % has a false alarm of 1e-5."""
    rng = np.random.default_rng(1)
    verdicts = []
    for _ in range(2000):
        theirs, ours = rng.normal(size=50), rng.normal(size=runs)
        paper = Published(f"{theirs.mean():.12f}")
        verdicts.append(judge(sum_up(ours, "mean"), paper, 50, NEITHER))
    assert np.mean([verdict != "same" for verdict in verdicts]) < 0.01


def results(values):
    plan = Experiment("e", (Design("d", dict),), (Method("a", dict), Method("b|c", dict)), 3)
    records = [
        Record("", "d", method, k, found, None if found else "ValueError: no", 1.0, [])
        for method, row in values.items()
        for k, found in enumerate(row)
    ]
    return Results(plan, tuple(records))


def test_compare_counts_runs_and_failures():
    found = results(
        {"a": [{"error": 1.0}, {"error": 3.0}, {"error": 2.0}], "b|c": [{"error": 5.0}, None, None]}
    )
    published = {("", "a"): {"error": Published("2.0")}}
    comparison = Comparison("t", found.experiment, (ERROR, COVERAGE), published)
    frame = compare(comparison, found).set_index(["method", "metric"])
    row = frame.loc[("a", "error")]
    assert (row["ours"], row["runs"], row["failures"], row["paper"]) == (2.0, 3, 0, "2.0")
    assert row["verdict"] == "same"
    assert math.isclose(row["error"], 1 / math.sqrt(3))
    assert frame.loc[("b|c", "error"), "failures"] == 2
    assert frame.loc[("b|c", "error"), "runs"] == 1
    assert np.isnan(frame.loc[("a", "coverage"), "ours"])


def test_another_experiment_than_the_published_one_is_not_judged():
    found = results({"a": [{"error": 1.0}, {"error": 1.2}, {"error": 0.8}]})
    published = {("", "a"): {"error": Published("9.0")}}
    comparison = Comparison("t", found.experiment, (ERROR,), published, judged=False)
    assert compare(comparison, found)["verdict"].to_list() == [""]
    assert compare(comparison, found)["paper"].to_list() == ["9.0"]


def test_rows_of_our_own_are_judged_by_the_row_they_go_with():
    values = [{"error": 1.0 + k / 100} for k in range(3)]
    found = results({"a": values, "b|c": values})
    published = {("d", "a"): {"error": Published("9.0")}}
    comparison = Comparison("t", found.experiment, (ERROR,), published, against={"b|c": "a"})
    assert compare(comparison, found)["verdict"].to_list() == ["better", "better"]


def test_the_printed_table():
    found = results(
        {"a": [{"error": 1.0}, {"error": 3.0}, {"error": 2.0}], "b|c": [{"error": 5.0}, None, None]}
    )
    comparison = Comparison(
        "t", found.experiment, (ERROR,), {("", "a"): {"error": Published("90")}}
    )
    text = comparison_table(
        compare(comparison, found),
        [Column("error", "error", ".2f")],
        found.median_seconds(),
        {("d", "a"): 154.0},
    )
    assert text.splitlines() == [
        "| design | method | error              | runs        | sec/run   |",
        "|--------|--------|--------------------|-------------|-----------|",
        "| d      | a      | 2.00 ± 0.58 [90] + | 3           | 1.0 [154] |",
        "| d      | b\\|c   | 5.00               | 1, 2 failed | 1.0       |",
    ]


def test_markdown_is_aligned():
    lines = markdown(["a", "bb"], [["long cell", "x"]]).splitlines()
    assert lines == ["| a         | bb |", "|-----------|----|", "| long cell | x  |"]


def test_small_errors_are_still_shown():
    frame = pd.DataFrame(
        [("d", "m", "error", "", 0.5, 1e-7, 3, 0, "")],
        columns=[
            "design",
            "method",
            "metric",
            "paper",
            "ours",
            "error",
            "runs",
            "failures",
            "verdict",
        ],
    )
    assert "0.500 ± 1e-07" in comparison_table(frame, [Column("error", "error", ".3f")])
