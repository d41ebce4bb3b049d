"""Our values beside published ones: means over replications, Monte Carlo errors, verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from debinet.experiments.plan import Experiment
from debinet.experiments.results import Results
from debinet.protocols import FloatArray

Statistic = Literal["mean", "median", "sd"]
Verdict = Literal["same", "better", "worse", "differs", ""]
# A difference is not due to chance if chance exceeds it with this probability: three errors.
_CHANCE = 0.0027


@dataclass(frozen=True)
class Metric:
    """A column of a table.

    Attributes
    ----------
    name : str
        In files.
    label : str
        In print.
    column : str
        The value of every replication that it summarizes.
    statistic : "mean", "median" or "sd"
        Over replications.
    target : float or None
        The best value: 0 for errors, the level for coverage, None if there is none.
    form : str
        Format of its values.
    """

    name: str
    label: str
    column: str
    statistic: Statistic = "mean"
    target: float | None = 0.0
    form: str = ".3f"


@dataclass(frozen=True)
class Published:
    """A printed value.

    Attributes
    ----------
    text : str
        As printed: its last digit shows how it is rounded.
    sd : float or None
        Printed standard deviation over runs.
    """

    text: str
    sd: float | None = None

    @property
    def value(self) -> float:
        """The number."""
        return float(self.text)

    @property
    def rounding(self) -> float:
        """Half a unit of its last digit."""
        mantissa, _, exponent = self.text.partition("e")
        decimals = len(mantissa.partition(".")[2])
        return 0.5 * 10.0 ** (int(exponent or 0) - decimals)


Rows = Mapping[tuple[str, str], Mapping[str, Published]]


@dataclass(frozen=True)
class Comparison:
    """A published table and the experiment that repeats it.

    Attributes
    ----------
    title : str
        Above the table.
    experiment : Experiment
    metrics : tuple of Metric
        Its columns.
    published : mapping
        Printed values by (design, method) and metric; a design of "" means all designs.
    runs : int
        Replications behind the printed values.
    against : mapping
        Our own rows, and the printed row that each is compared with.
    notes : tuple of str
        Below the table.
    judged : bool
        Whether the experiment is the published one, so that it has verdicts.
    seconds : mapping
        Printed seconds per run by (design, method).
    needs : callable
        Called before anything is run; raises if data are missing.
    """

    title: str
    experiment: Experiment
    metrics: tuple[Metric, ...]
    published: Rows = field(default_factory=dict)
    runs: int = 50
    against: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    judged: bool = True
    seconds: Mapping[tuple[str, str], float] = field(default_factory=dict)
    needs: Callable[[], Any] = dict

    def printed(self, design: str, method: str) -> Mapping[str, Published]:
        """Return the printed values that a row is compared with."""
        row = self.against.get(method, method)
        return self.published.get((design, row)) or self.published.get(("", row), {})


class Estimate(NamedTuple):
    """A statistic over replications.

    Attributes
    ----------
    value : float
    error : float
        Its Monte Carlo error, NaN for one replication.
    runs : int
    """

    value: float
    error: float
    runs: int


def compare(comparison: Comparison, results: Results) -> pd.DataFrame:
    """Return a row per design, method and metric.

    Columns: design, method, metric, paper (the printed value, a text), ours, error (its Monte
    Carlo error), runs (replications without failure), failures, verdict.
    """
    frame = results.to_frame()
    rows = []
    for (design, method), cells in frame.groupby(["design", "method"], sort=False):
        failures = int(cells["failure"].notna().sum())
        printed = comparison.printed(str(design), str(method))
        for metric in comparison.metrics:
            values = cells[metric.column].dropna() if metric.column in cells else pd.Series()
            ours = sum_up(values.to_numpy(dtype=np.float64), metric.statistic)
            paper = printed.get(metric.name)
            rows.append(
                {
                    "design": design,
                    "method": method,
                    "metric": metric.name,
                    "paper": paper.text if paper else "",
                    "ours": ours.value,
                    "error": ours.error,
                    "runs": ours.runs,
                    "failures": failures,
                    "verdict": (
                        judge(ours, paper, comparison.runs, metric) if comparison.judged else ""
                    ),
                }
            )
    return pd.DataFrame(rows)


def sum_up(values: FloatArray, statistic: Statistic) -> Estimate:
    """Return a statistic over replications and its Monte Carlo error.

    The errors of the median and the standard deviation are those of a normal sample.
    """
    n = values.size
    sd = float(values.std(ddof=1)) if n > 1 else math.nan
    if n == 0:
        return Estimate(math.nan, math.nan, 0)
    if statistic == "median":
        return Estimate(float(np.median(values)), math.sqrt(math.pi / 2 / n) * sd, n)
    if statistic == "sd":
        return Estimate(sd, sd / math.sqrt(2 * (n - 1)) if n > 1 else math.nan, n)
    return Estimate(float(values.mean()), sd / math.sqrt(n), n)


def judge(ours: Estimate, paper: Published | None, paper_runs: int, metric: Metric) -> Verdict:
    """Compare a value with a printed one.

    `"same"` is a difference that chance exceeds in 0.3 % of comparisons (t distribution of our
    runs), plus half a unit of the last printed digit. If the paper prints no standard deviation,
    that of our runs is used. If our runs do not have one, only values that are equal as printed get
    a verdict.
    """
    if paper is None or not math.isfinite(ours.value):
        return ""
    gap = abs(ours.value - paper.value)
    if not ours.error > 0:
        return "same" if gap <= paper.rounding and ours.runs > 1 else ""
    theirs = ours.error * math.sqrt(ours.runs / paper_runs)
    if paper.sd is not None and metric.statistic == "mean":
        theirs = paper.sd / math.sqrt(paper_runs)
    reach = float(stats.t.isf(_CHANCE / 2, ours.runs - 1))
    if gap <= reach * math.hypot(ours.error, theirs) + paper.rounding:
        return "same"
    if metric.target is None:
        return "differs"
    nearer = abs(ours.value - metric.target) < abs(paper.value - metric.target)
    return "better" if nearer else "worse"
