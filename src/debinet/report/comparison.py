"""Our results next to published ones, as aligned Markdown that also reads as plain text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

MARKS = {"same": "=", "better": "+", "worse": "-", "differs": "~", "": ""}
LEGEND = (
    "Each cell: our mean ± its Monte Carlo error [the paper's value] and the verdict: "
    "= the same up to chance and rounding, + better than the paper, - worse, "
    "~ different where nothing is better."
)


class Column(NamedTuple):
    """A metric in print.

    Attributes
    ----------
    name : str
        In the frame.
    label : str
        Its heading.
    form : str
        Format of its numbers.
    """

    name: str
    label: str
    form: str


def comparison_table(
    frame: pd.DataFrame,
    columns: Sequence[Column],
    seconds: pd.Series | None = None,
    printed: Mapping[tuple[str, str], float] = MappingProxyType({}),
) -> str:
    """Return a Markdown table, a row per design and method.

    Parameters
    ----------
    frame : DataFrame
        With columns design, method, metric, paper, ours, error, runs, failures and verdict.
    columns : sequence of Column
        Metrics to show.
    seconds : Series, optional
        Seconds per run by (design, method).
    printed : mapping
        Published seconds per run.
    """
    head = ["design", "method", *(c.label for c in columns), "runs"]
    head += [] if seconds is None else ["sec/run"]
    rows = []
    for (design, method), part in frame.groupby(["design", "method"], sort=False):
        rows_of_method: list[dict[str, Any]] = part.to_dict("records")  # type: ignore[assignment]
        by_metric = {str(row["metric"]): row for row in rows_of_method}
        shown = [_cell(by_metric.get(column.name, {}), column.form) for column in columns]
        cells = [str(design), str(method), *shown, _runs(part)]
        if seconds is not None:
            ours = float(seconds.get((design, method), math.nan))
            paper = printed.get((str(design), str(method)), math.nan)
            cells.append(f"{_time(ours)} [{paper:g}]" if paper > 0 else _time(ours))
        rows.append([_escaped(cell) for cell in cells])
    return markdown(head, rows)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return aligned Markdown."""
    widths = [max(len(row[j]) for row in [head, *rows]) for j in range(len(head))]
    lines = [
        "| " + " | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) + " |"
        for row in [head, *rows]
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _cell(row: Mapping[str, Any], form: str) -> str:
    ours, error = float(row.get("ours", math.nan)), float(row.get("error", math.nan))
    text = "" if math.isnan(ours) else format(ours, form)
    if not math.isnan(error):
        text += f" ± {_short(error, form)}"
    if row.get("paper"):
        text += f" [{row['paper']}]"
    return f"{text} {MARKS[str(row.get('verdict', ''))]}".strip()


def _short(error: float, form: str) -> str:
    """Format an error like its number, or with one digit where that would show zero."""
    text = format(error, form)
    return text if error == 0 or float(text) else f"{error:.1g}"


def _runs(part: pd.DataFrame) -> str:
    failures = int(part["failures"].max())
    done = int(part["runs"].max())
    return f"{done}, {failures} failed" if failures else str(done)


def _time(seconds: float) -> str:
    return "" if math.isnan(seconds) else f"{seconds:.1f}" if seconds < 100 else f"{seconds:.0f}"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
