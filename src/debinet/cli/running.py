"""Options that every command which runs experiments has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--runs", type=click.IntRange(min=1), help="Replications of every design."),
    click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("results"),
        show_default=True,
        help="Folder for results. Cells that are there already are not run again.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        help="Processes. The results do not depend on it.  [default: the machine's cores]",
    ),
    click.option(
        "--backend",
        type=click.Choice(["processes", "dask"]),
        default="processes",
        show_default=True,
        help="Where cells are run.",
    ),
    click.option("--scheduler", metavar="ADDRESS", help="Of a Dask cluster, for --backend dask."),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True),
    click.option("--retry", is_flag=True, help="Run cells again that failed before."),
    click.option("--quiet", is_flag=True, help="No progress, no tables; only files."),
)


def running_options(command: Command) -> Command:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@contextmanager
def dask_client(backend: str, scheduler: str | None) -> Iterator[None]:
    """Connect to a Dask cluster, or start one on this machine, while the block runs."""
    if backend != "dask":
        if scheduler is not None:
            raise click.UsageError("--scheduler goes with --backend dask.")
        yield
        return
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise click.UsageError("--backend dask needs: pip install 'debinet[dask]'") from error
    with Client(scheduler) if scheduler else Client(processes=True, threads_per_worker=1):
        yield


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    from joblib import cpu_count

    return int(cpu_count())
