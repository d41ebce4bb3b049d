"""`debinet reproduce`: the paper's tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from debinet.cli.running import dask_client, running_options


@click.command("reproduce", no_args_is_help=True)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--quick", is_flag=True, help="Small designs and few runs, to see everything work.")
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
    """  # noqa: D301 - click's mark for lines to leave alone
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
