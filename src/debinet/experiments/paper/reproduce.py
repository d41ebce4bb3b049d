"""Rerun tables and figures of the paper, and write them to a folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from debinet.exceptions import OptionError
from debinet.experiments.comparison import Comparison
from debinet.experiments.paper.drawing import Drawing
from debinet.experiments.results import Results
from debinet.experiments.running import Backend, run_experiment
from debinet.experiments.simulation import make_page, write_table
from debinet.report.page import save_figure

# The module of each; imported when needed, as some need more packages than others.
_WHERE = {
    "table1": "table1",
    "table2": "table2",
    "table3": "table3",
    "table4": "table1",
    "table4_inputs": "table1",
    "table5": "table5",
    "figure2": "losses",
    "figure3": "intervals",
    "figure4": "table3",
    "figure5": "losses",
    "figure6": "losses",
    "figure7": "losses",
}
NAMES = tuple(_WHERE)


@dataclass(frozen=True)
class Running:
    """How experiments are run; see `run_experiment`.

    Attributes
    ----------
    quick : bool
        Smaller designs or fewer runs, as a test.
    runs : int or None
    workers : int
    backend : "processes" or "dask"
    seed : int
    retry : bool
    progress : bool
    """

    quick: bool = False
    runs: int | None = None
    workers: int = 1
    backend: Backend = "processes"
    seed: int = 0
    retry: bool = False
    progress: bool = True

    def options(self) -> dict[str, Any]:
        """Return what `run_experiment` takes."""
        return {name: value for name, value in vars(self).items() if name != "quick"}


@dataclass(frozen=True)
class Reproduced:
    """A table or figure that has been rerun.

    Attributes
    ----------
    name : str
    text : str
        To print.
    files : tuple of Path
        What was written.
    failures : int
        Cells that failed.
    """

    name: str
    text: str
    files: tuple[Path, ...]
    failures: int


def read_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tables and figures asked for, each once, in the paper's order."""
    strange = [name for name in names if name != "all" and name not in NAMES]
    if strange or not names:
        raise OptionError(
            f"names of tables and figures: all, {', '.join(NAMES)}",
            ", ".join(map(repr, strange)) or "none",
            "For example: table2, or all.",
        )
    return tuple(name for name in NAMES if "all" in names or name in names)


def reproduce(name: str, folder: Path | str, running: Running | None = None) -> Reproduced:
    """Rerun one table or figure.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    folder : path
        Where its files go. Cells stored there are not run again.
    running : Running, optional
        How to run it.

    Returns
    -------
    Reproduced
    """
    if name not in NAMES:
        read_names((name,) if name != "all" else ())  # raises an error with the names
    running, target = running or Running(), Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    make: Callable[..., Comparison | Drawing] = getattr(
        import_module(f"debinet.experiments.paper.{_WHERE[name]}"), name
    )
    plan = make(quick=running.quick)
    plan.needs()
    experiment, stem = plan.experiment, name
    if running.quick:  # never overwrites the full one
        experiment, stem = replace(experiment, name=f"{experiment.name}-quick"), f"{name}-quick"
    options = running.options()
    if experiment.runs == 1:
        options["runs"] = None  # a figure of a single draw
    results = run_experiment(experiment, target, **options)
    write = write_table if isinstance(plan, Comparison) else _write_figure
    text, files = write(stem, plan, results, target)  # type: ignore[arg-type]
    text = "\n".join([text, *results.remarks()])
    return Reproduced(name, text, tuple(files), len(results.failures))


def _write_figure(
    name: str, drawing: Drawing, results: Results, folder: Path
) -> tuple[str, list[Path]]:
    if len(results.failures) == len(results.records):
        return make_page(drawing.title, "Nothing to draw.", list(drawing.notes)), []
    files = save_figure(partial(drawing.draw, results), folder, name)
    return make_page(drawing.title, "\n".join(map(str, files)), list(drawing.notes)), files
