"""The dashboard as a page of Markdown, from stored results."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from debinet.exceptions import DataNotFoundError
from debinet.experiments.dashboard.alarms import alarms_line, alarms_table, count_alarms
from debinet.experiments.dashboard.designs import DESIGNS
from debinet.experiments.dashboard.estimates import VERDICTS
from debinet.experiments.dashboard.formats import number, percent, with_error
from debinet.experiments.dashboard.losses import find_losses
from debinet.experiments.dashboard.methods import DEFAULT, METHODS
from debinet.experiments.dashboard.not_run import expected_seconds, in_words
from debinet.experiments.dashboard.overview import HEADING, overview_table
from debinet.experiments.dashboard.planning import NAME, still_valid
from debinet.experiments.dashboard.running import read_commands
from debinet.experiments.dashboard.runs import tabulate_runs
from debinet.experiments.dashboard.summary import share, summarize
from debinet.experiments.results import write_text
from debinet.experiments.store import read
from debinet.report.comparison import markdown

_INTRODUCTION = """\
# Dashboard

Errors and coverage of `PartiallyLinear` with all its defaults (**debinet**), of its other learners
and methods, and of other packages, on simulated designs with known coefficients. All methods of a
run see the same data.

- **error**: root mean squared error of the coefficients, divided by the ideal standard error: that
  of least squares if `f(Z)` and `E(D|Z)` were known. Several treatments count equally.
- **coverage**: share of 95 % intervals that contain the true coefficient.
- **length**: mean length of the intervals, divided by that of the ideal interval.
- **seconds**: median time of a run, on one thread, beside other work on the same machine.
- **ok**, **look**, **do not trust**: share of runs with that verdict of `trust()`, in percent.
- ± is the Monte Carlo error. Runs that failed are counted, and are in no average.

Click a heading to sort a table.

<span data-sortable></span>
"""
_LOSSES = """\
## Losses

Designs and sizes at which our default has an error more than 10 % above that of the best other
method (our own others included) in the runs that both have, covers in less than 90 % of runs, or
has failed in a run. With few runs some are due to chance: see the Monte Carlo errors below.
"""
_TRUST = """\
## Coverage by verdict

Coverage of our default by the verdict of `trust()`, over all sizes. Thresholds may be chosen on
designs for tuning, so the rows of the designs that were held aside are the evidence
([decision 21](decisions/0021-designs-held-aside.md)).
"""
_MISSES = """\
A fit misses by the largest error of its coefficients, in the standard errors that it reports. Of
coefficients without any bias, 0.3 % miss by more than three standard errors by chance, which no
check can notice. Learners that are biased show whether `trust()` notices bias. The same for all our
methods that were run, on the designs that were held aside:
"""
_MOST_REASONS = 20


def write_dashboard(folder: Path, page: Path, *, seed: int = 0) -> None:
    """Write the page of the results in a folder, and `dashboard-summary.csv` beside the results.

    Parameters
    ----------
    folder : path
        Where `run_dashboard` kept its cells.
    page : path
        The page, in Markdown.
    seed : int
        That of the runs.
    """
    stored = read(folder / f"{NAME}.jsonl")
    records = still_valid(stored.records.values(), seed)
    if not records:
        raise DataNotFoundError(
            f"results of the dashboard in {folder}",
            "none that belong to its present designs and methods",
            "Run `debinet dashboard run` first.",
        )
    runs = _in_order(tabulate_runs(records))
    summary = summarize(runs)
    write_text(folder / f"{NAME}-summary.csv", summary.to_csv(index=False))
    outdated = len(stored.records) - len(records)
    commands = _commands(read_commands(folder), len(records), outdated)
    write_text(page, make_page(runs, summary, commands))


def make_page(runs: pd.DataFrame, summary: pd.DataFrame, commands: str) -> str:
    """Return the page: overview, losses, coverage by verdict, and a table for every design."""
    losses = find_losses(runs)
    lost = {(row["design"], row["n"]): row["lost"] for row in losses.to_dict("records")}
    designs = [design for design in DESIGNS if design in set(runs["design"])]
    parts = [
        _INTRODUCTION,
        commands,
        HEADING,
        overview_table(summary),
        "",
        _LOSSES,
        _losses_table(losses, ran=DEFAULT in set(runs["method"])),
        "",
        _TRUST,
        _trust_table(runs),
        "",
        alarms_line(count_alarms(runs, "held aside"), "the designs that were held aside"),
        _MISSES,
        alarms_table(runs, "held aside"),
        "",
        "## Methods",
        "",
        markdown(["method", "what it is"], [[m, METHODS[m].label] for m in _present(summary)]),
        "",
        *(_design_part(design, summary, lost) for design in designs),
        *_failures(runs),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _in_order(runs: pd.DataFrame) -> pd.DataFrame:
    """Sort as designs and methods are listed, whatever order the cells were run in."""
    place = {name: k for names in (DESIGNS, METHODS) for k, name in enumerate(names)}
    return runs.sort_values(
        ["design", "n", "method", "replication"],
        key=lambda column: column.map(place) if column.name in {"design", "method"} else column,
        ignore_index=True,
    )


def _present(summary: pd.DataFrame) -> list[str]:
    return [method for method in METHODS if method in set(summary["method"])]


def _commands(commands: Sequence[str], count: int, outdated: int) -> str:
    lines = ["These results were made by", "", *(f"    {line}" for line in commands), ""]
    lines += [f"({count} cells), and this page by `debinet dashboard page`."]
    if outdated:
        lines += ["", f"{outdated} stored cells are of designs or methods that have changed since."]
    return "\n".join([*lines, ""])


def _losses_table(losses: pd.DataFrame, *, ran: bool) -> str:
    if losses.empty:
        return "None." if ran else "Our default was not run."
    head = ["design", "use", "n", "lost", "error", "coverage", "best other", "its error"]
    rows = [
        [
            f"[{row['design']}](#{row['design']})",
            DESIGNS[row["design"]].use,
            str(row["n"]),
            f"**{row['lost']}**",
            number(row["error"]),
            number(row["coverage"]),
            row["best"],
            number(row["best_error"]),
            number(row["best_coverage"]),
        ]
        for row in losses.to_dict("records")
    ]
    return markdown([*head, "its coverage"], rows)


def _trust_table(runs: pd.DataFrame) -> str:
    done = runs[(runs["method"] == DEFAULT) & runs["failure"].isna()]
    use = done["design"].map(lambda design: DESIGNS[design].use)
    rows = []
    for group in ("held aside", "tuning", "neither"):
        for verdict in VERDICTS:
            covered = done.loc[(use == group) & (done["verdict"] == verdict), "covered"]
            if len(covered):
                rows.append([group, verdict, with_error(*share(covered)), str(len(covered))])
    return markdown(["designs", "verdict", "coverage", "runs"], rows)


def _design_part(design: str, summary: pd.DataFrame, lost: dict[tuple[str, int], str]) -> str:
    here = summary[summary["design"] == design]
    head = ["n", "method", "error", "coverage", "length", "seconds"]
    head += [*VERDICTS, "runs", "failed", "mark"]
    rows = [_row(row, lost) for row in here.to_dict("records")]
    for row in expected_seconds(here).to_dict("records"):
        note = f"not run: would take {in_words(row['seconds'])}"
        rows.append([str(row["n"]), row["method"], *[""] * (len(head) - 3), note])
    rows.sort(key=lambda cells: int(cells[0]))
    return "\n".join([f"## {design}", "", _use(design), "", markdown(head, rows), ""])


def _use(design: str) -> str:
    texts = {
        "tuning": "For tuning: options may have been chosen on this design.",
        "held aside": "Held aside: options are not to be chosen on this design.",
        "neither": "An example, or the paper's: neither for tuning nor held aside.",
    }
    return texts[DESIGNS[design].use]


def _row(row: Mapping[Hashable, Any], lost: dict[tuple[str, int], str]) -> list[str]:
    method, n = row["method"], row["n"]
    mark = lost.get((row["design"], n), "") if method == DEFAULT else ""
    return [
        str(n),
        f"**{method}**" if method == DEFAULT else method,
        with_error(row["error"], row["error_se"]),
        with_error(row["coverage"], row["coverage_se"]),
        number(row["length"]),
        number(row["seconds"]),
        *(percent(row[f"share {verdict}"]) for verdict in VERDICTS),
        str(row["runs"]),
        str(row["failures"]),
        f"**loss: {mark}**" if mark else "",
    ]


def _failures(runs: pd.DataFrame) -> list[str]:
    failed = runs[runs["failure"].notna()]
    if failed.empty:
        return []
    counts = failed.value_counts(["method", "failure"]).reset_index()
    rows = [
        [row["method"], str(row["count"]), _one_line(row["failure"])]
        for row in counts.head(_MOST_REASONS).to_dict("records")
    ]
    return ["## Failures", "", markdown(["method", "runs", "reason"], rows)]


def _one_line(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
