"""Tables of results, as files and as text to print."""

from __future__ import annotations

from pathlib import Path

from debinet.experiments.comparison import Comparison, Metric, compare
from debinet.experiments.results import Results, write_text
from debinet.report.comparison import LEGEND, Column, comparison_table

METRICS = (
    Metric("error", "squared error", "error", form=".3g"),
    Metric("bias", "bias", "bias", form=".3f"),
    Metric("coverage", "coverage", "coverage"),
    Metric("width", "width of intervals", "width"),
    Metric("test", "test MSE", "test", form=".3f"),
)


def simulation_table(results: Results, folder: Path) -> str:
    """Write the table of a user's simulation, without published values; return it with seconds."""
    name = results.experiment.name
    text, _ = write_table(name, Comparison(name, results.experiment, METRICS), results, folder)
    return "\n".join([text, *results.remarks()])


def write_table(
    name: str, table: Comparison, results: Results, folder: Path
) -> tuple[str, list[Path]]:
    """Write `<name>.csv` and `<name>.md`; return the page with seconds, and the files."""
    frame = compare(table, results)
    columns = [Column(metric.name, metric.label, metric.form) for metric in table.metrics]
    notes = [*([LEGEND] if table.published else []), *table.notes]
    files = [folder / f"{name}.csv", folder / f"{name}.md"]
    write_text(files[0], frame.to_csv(index=False))
    write_text(files[1], make_page(table.title, comparison_table(frame, columns), notes))
    # Run times differ from run to run, so they are not written to the files.
    timed = comparison_table(frame, columns, results.median_seconds(), table.seconds)
    return make_page(table.title, timed, notes), files


def make_page(title: str, table: str, notes: list[str]) -> str:
    """Return a page of Markdown: title, table, notes."""
    return "\n".join([f"## {title}", "", table, "", *(f"{note}  " for note in notes), ""])
