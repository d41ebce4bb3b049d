"""`debinet dashboard`: run the dashboard, and make its page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from debinet.cli.experiments import dask_client, running_options

_FOLDER = "results/dashboard"


def _listed(context: click.Context, parameter: click.Parameter, value: str) -> tuple[str, ...]:  # noqa: ARG001
    return tuple(filter(None, (part.strip() for part in value.split(","))))


def _numbers(context: click.Context, parameter: click.Parameter, value: str) -> tuple[int, ...]:
    parts = _listed(context, parameter, value)
    if not all(part.isascii() and part.isdigit() and int(part) > 0 for part in parts):
        raise click.BadParameter("numbers of rows such as 250,500 are expected")
    return tuple(map(int, parts))


def _command_line(options: Mapping[str, Any]) -> str:
    """Return the command with the options that decide the results: not where, nor how fast."""
    words = ["debinet", "dashboard", "run"]
    for name in ("runs", "designs", "sizes", "methods", "seed"):
        value = options[name]
        if value:
            text = ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
            words += [f"--{name}", text]
    return " ".join(words)


@click.group("dashboard", no_args_is_help=True)
def dashboard_command() -> None:
    """Errors and coverage of this library and its peers, by design and number of rows."""


@dashboard_command.command("run", context_settings={"default_map": {"out": _FOLDER}})
@click.option("--designs", default="", callback=_listed, help="For example waves,steps.")
@click.option("--sizes", default="", callback=_numbers, help="For example 250,500.")
@click.option("--methods", default="", callback=_listed, help="For example debinet,econml.")
@running_options
def run_command(
    *,
    out: Path,
    workers: int | None,
    backend: Any,
    scheduler: str | None,
    quiet: bool,
    **options: Any,
) -> int:
    """Run designs x sizes x methods; all of them if none are named. Resumed by the same command.

    Methods are left out of sizes that would take them too long or are too small for them. A package
    that is not installed is a failure with that reason, and is tried again next time.

    \b
    Example:
      debinet dashboard run --runs 100 --sizes 250,500 --methods debinet,doubleml-forest
    """  # noqa: D301 - click's marker against rewrapping
    from debinet.data.workers import count_workers
    from debinet.experiments.dashboard.running import run_dashboard

    with dask_client(backend, scheduler):
        results = run_dashboard(
            out,
            command=_command_line(options),
            workers=workers or count_workers(-1),
            backend=backend,
            progress=not quiet,
            **options,
        )
    if not quiet:
        click.echo("\n".join([f"{len(results.records)} cells in {out}.", *results.remarks()]))
    return 1 if results.failures else 0


@dashboard_command.command("page")
@click.option(
    "--results",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(_FOLDER),
    show_default=True,
    help="Folder with the results.",
)
@click.option(
    "--to",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("docs/dashboard.md"),
    show_default=True,
    help="Page to write, in Markdown.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
def page_command(*, results: Path, to: Path, seed: int) -> None:
    """Write the page of stored results, with every loss of ours marked.

    \b
    Example:
      debinet dashboard page --results results/dashboard --to docs/dashboard.md
    """  # noqa: D301 - click's marker against rewrapping
    from debinet.experiments.dashboard.page import write_dashboard

    write_dashboard(results, to, seed=seed)
    click.echo(f"Written to {to}.")
