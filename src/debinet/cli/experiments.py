"""`debinet reproduce` and `debinet simulate`: commands that run experiments."""

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
            raise click.UsageError("--scheduler requires --backend dask.")
        yield
        return
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise click.UsageError("--backend dask needs: pip install 'debinet[dask]'") from error
    with Client(scheduler) if scheduler else Client(processes=True, threads_per_worker=1):
        yield


@click.command("reproduce", no_args_is_help=True)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--quick", is_flag=True, help="Small designs and few runs, as a test.")
@running_options
def reproduce_command(
    names: tuple[str, ...],
    *,
    quick: bool,
    out: Path,
    workers: int | None,
    scheduler: str | None,
    quiet: bool,
    **options: Any,
) -> int:
    """Rerun tables and figures of the paper, with the paper's numbers beside ours.

    NAME is table1 to table5, table4_inputs (other inputs of table4), figure2 to figure7, or all.
    A run that was stopped is resumed by the same command.

    \b
    Examples:
      debinet reproduce table2 --runs 50 --out results/
      debinet reproduce all --quick
    """  # noqa: D301 - click's marker against rewrapping
    from debinet.data.workers import count_workers
    from debinet.exceptions import DataNotFoundError, MissingDependencyError
    from debinet.experiments.paper.reproduce import Running, read_names, reproduce

    running = Running(quick, workers=workers or count_workers(-1), progress=not quiet, **options)
    failures = 0
    with dask_client(running.backend, scheduler):
        for name in read_names(names):
            try:
                done = reproduce(name, out, running)
            except (DataNotFoundError, MissingDependencyError) as error:
                if len(names) == 1 and names != ("all",):
                    raise
                click.echo(f"{name} left out: {error}", err=True)
                failures += 1
                continue
            failures += done.failures
            if not quiet:
                click.echo(done.text)
    if not quiet:
        click.echo(f"Written to {out}.")
    return 1 if failures else 0


@click.command("simulate", no_args_is_help=True)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@running_options
def simulate_command(
    file: Path,
    *,
    out: Path,
    workers: int | None,
    backend: Any,
    scheduler: str | None,
    quiet: bool,
    **options: Any,
) -> int:
    """Run the simulation that FILE describes (TOML): designs x methods x replications.

    \b
    Example of a file:
      name = "small"
      runs = 100
      [[designs]]
      make = "sparse_linear"
      n = 300
      [[methods]]
      name = "default"
      [[methods]]
      name = "forest"
      learner = { RandomForestRegressor = { n_estimators = 200 } }
      crossfit = 5

    \b
    Example:
      debinet simulate small.toml --out results/
    """  # noqa: D301 - click's marker against rewrapping
    from debinet.data.workers import count_workers
    from debinet.experiments.running import run_experiment
    from debinet.experiments.simulation import simulation_table
    from debinet.experiments.toml_plan import read_experiment

    experiment = read_experiment(file)
    with dask_client(backend, scheduler):
        results = run_experiment(
            experiment,
            out,
            workers=workers or count_workers(-1),
            backend=backend,
            progress=not quiet,
            **options,
        )
    text = simulation_table(results, out)
    if not quiet:
        click.echo(text)
        click.echo(f"Written to {out}.")
    return 1 if results.failures else 0
