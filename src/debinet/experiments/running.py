"""Run an experiment: stored cells are not run again, and finished ones are stored at once."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError

from debinet.data.options import one_of, whole_number
from debinet.exceptions import OptionError
from debinet.experiments.cells import run_cell
from debinet.experiments.plan import Cell, Experiment
from debinet.experiments.results import Results, write_results
from debinet.experiments.store import Appending, Record, read

Backend = Literal["processes", "dask"]
_BACKENDS = {"processes": "loky", "dask": "dask"}
# Failures of the machine, not of the method.
_ENVIRONMENT = ("MissingDependencyError", "DataNotFoundError", "TerminatedWorkerError")


def run_experiment(
    experiment: Experiment,
    folder: Path | str,
    *,
    runs: int | None = None,
    workers: int = 1,
    backend: Backend = "processes",
    seed: int = 0,
    retry: bool = False,
    progress: bool = True,
) -> Results:
    """Run every cell of an experiment that is not stored yet.

    Parameters
    ----------
    experiment : Experiment
    folder : path
        Where cells are kept, as `<name>.jsonl`, and results written, as `<name>-results.csv`
        (the same bytes for any number of workers and any restarts) and `<name>-seconds.csv`.
    runs : int, optional
        Replications; the experiment's own number if left out. More runs add to the stored ones.
    workers : int
        Processes; with `backend="dask"`, cells submitted to the active client at a time.
    backend : "processes" or "dask"
    seed : int
        Root of all seeds.
    retry : bool
        Run cells again that are stored as failed. Those that failed because a package or data
        were missing are always run again.
    progress : bool
        Show a bar with the time left.

    Returns
    -------
    Results
    """
    if runs is not None:
        whole_number("runs", runs, 1)
    whole_number("workers", workers, 1)
    whole_number("seed", seed, 0)
    one_of("backend", backend, _BACKENDS)
    cells = list(experiment.cells(runs or experiment.runs, seed))
    if not cells:
        raise OptionError("an experiment with cells", "none", "Give it runs of at least 1.")
    store = Path(folder) / f"{experiment.name}.jsonl"
    found = read(store)
    kept = {key: r for key, r in found.records.items() if not _again(r, retry)}
    records = {cell.key: kept[cell.key] for cell in cells if cell.key in kept}
    missing = [cell for cell in cells if cell.key not in records]
    with warnings.catch_warnings(), Appending(store) as out:
        # joblib replaces workers whose memory grows, and warns of it from a thread. Where warnings
        # are errors, that thread would die and the run would wait forever.
        warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
        finished = _finished(missing, workers, backend)
        for record in _bar(finished, len(records), len(cells), experiment.name, show=progress):
            out.add(record)
            records[record.key] = record
    results = Results(experiment, tuple(records[cell.key] for cell in cells), found.broken)
    write_results(results, Path(folder))
    return results


def _again(record: Record, retry: bool) -> bool:
    """Return whether to run a stored cell again: what was missing may be there now."""
    if record.failure is None:
        return False
    return retry or record.failure.startswith(_ENVIRONMENT)


def _finished(cells: list[Cell], workers: int, backend: Backend) -> Iterator[Record]:
    """Yield records in the order in which they are finished."""
    token = uuid4().hex
    waiting = {cell.key: cell for cell in cells}
    while waiting:
        try:
            for record in _pool(list(waiting.values()), workers, backend, token):
                del waiting[record.key]
                yield record
        except TerminatedWorkerError:
            # One of the cells that were being run has killed its process.
            for cell in list(waiting.values())[: 2 * workers]:
                del waiting[cell.key]
                yield _alone(cell, token)


def _pool(cells: list[Cell], workers: int, backend: Backend, token: str) -> Iterator[Record]:
    with parallel_config(backend=_BACKENDS[backend], n_jobs=workers):
        pool = Parallel(return_as="generator_unordered", batch_size=1)
        yield from pool(delayed(run_cell)(cell, token) for cell in cells)


def _alone(cell: Cell, token: str) -> Record:
    """Run a cell in a process of its own; if the process dies, the cell has failed."""
    try:
        (record,) = _pool([cell], 2, "processes", token)
    except TerminatedWorkerError:
        failure = "TerminatedWorkerError: the process that ran it died, perhaps out of memory"
        names = (cell.design.name, cell.method.name, cell.replication)
        return Record(cell.key, *names, None, failure, 0.0, [])
    return record


def _bar(
    records: Iterable[Record], done: int, total: int, name: str, *, show: bool
) -> Iterator[Record]:
    from tqdm import tqdm

    every = 0.1 if sys.stderr.isatty() else 30.0  # seconds; a log does not need more
    bar: Any = tqdm(
        initial=done, total=total, desc=name, unit="cell", disable=not show, mininterval=every
    )
    with bar:
        for record in records:
            yield record
            bar.update()
            bar.set_postfix_str(f"{record.design}, {record.method}", refresh=False)
