"""`debinet example`: files to try the other commands on."""

from __future__ import annotations

from pathlib import Path

import click

# Those of `debinet.data.examples`, which --help need not wait for.
EXAMPLES = ("wages.csv", "wages.parquet", "wages.xlsx")


@click.command("example", no_args_is_help=True)
@click.argument("name", type=click.Choice(EXAMPLES))
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    show_default=True,
    help="Folder to write to.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def example_command(*, name: str, out: Path, force: bool) -> int:
    """Write an example file, simulated, on which all commands of the documentation run.

    wages: 600 people; log wages, education, union, training, experience, region, firm. One more
    year of education adds 0.08 to lwage, a union 0.10, short training 0.05 and long training 0.12.

    \b
    Example:
      debinet example wages.csv
      debinet fit wages.csv --outcome lwage --treatments educ,union --exclude person
    """  # noqa: D301 - click's marker against rewrapping
    from debinet.cli.writing import require_free, write_frame
    from debinet.data.examples import EXAMPLES as TABLES

    path = out / name
    require_free([path], force)
    frame = TABLES[name]()
    write_frame(frame, path)
    click.echo(f"Written to {path}: {len(frame)} rows, columns {', '.join(frame.columns)}.")
    return 0
