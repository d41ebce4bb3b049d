"""`debinet trust`: whether the intervals of a saved result can be trusted."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("trust", no_args_is_help=True)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "json_", is_flag=True, help="Print JSON.")
def trust_command(file: Path, *, json_: bool) -> int:
    """Check what `debinet fit --save`, `model.save` or `result.save` wrote.

    \b
    Example:
      debinet fit wages.csv --outcome lwage --treatments educ --save wages.npz
      debinet trust wages.npz

    Exit code 1 if the verdict is "do not trust".
    """  # noqa: D301 - click's mark for lines to leave alone
    from debinet.models.storing import load_any_result

    trust = load_any_result(file).trust()
    checks = [vars(check) for check in trust.checks]
    click.echo(json.dumps({"verdict": trust.verdict, "checks": checks}) if json_ else str(trust))
    return 1 if trust.verdict == "do not trust" else 0
