"""The table of a simulation of one's own: no published figures beside it."""

from __future__ import annotations

from pathlib import Path

from debinet.experiments.comparison import Comparison, Metric, compare
from debinet.experiments.results import Results, write_text
from debinet.report.comparison import Column, comparison_table

METRICS = (
    Metric("error", "squared error", "error", form=".3g"),
    Metric("bias", "bias", "bias", form=".3f"),
    Metric("coverage", "coverage", "coverage"),
    Metric("width", "width of intervals", "width"),
    Metric("test", "test MSE", "test", form=".3f"),
)


def simulation_table(results: Results, folder: Path) -> str:
    """Write `<name>.csv` and `<name>.md` and return the table with seconds, to print."""
    name = results.experiment.name
    frame = compare(Comparison(name, results.experiment, METRICS), results)
    columns = [Column(metric.name, metric.label, metric.form) for metric in METRICS]
    write_text(folder / f"{name}.csv", frame.to_csv(index=False))
    write_text(folder / f"{name}.md", comparison_table(frame, columns) + "\n")
    table = comparison_table(frame, columns, results.median_seconds())
    return "\n".join([table, *results.remarks()])
