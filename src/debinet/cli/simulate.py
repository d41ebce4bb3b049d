"""`debinet simulate`: your own simulation, described in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from debinet.cli.running import dask_client, running_options


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
    """  # noqa: D301 - click's mark for lines to leave alone
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
