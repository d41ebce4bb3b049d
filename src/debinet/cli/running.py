"""Options of all commands that run experiments."""

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
        help="Folder for results. Cells with a stored result are not run again.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        help="Number of processes; results do not depend on it.  [default: one per core]",
    ),
    click.option(
        "--backend",
        type=click.Choice(["processes", "dask"]),
        default="processes",
        show_default=True,
        help="Where to run cells.",
    ),
    click.option("--scheduler", metavar="ADDRESS", help="Dask cluster, with --backend dask."),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True),
    click.option("--retry", is_flag=True, help="Rerun cells that failed."),
    click.option("--quiet", is_flag=True, help="Write files, print nothing."),
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
