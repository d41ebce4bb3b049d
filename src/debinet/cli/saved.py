"""`debinet predict` and `debinet trust`: commands for a saved fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from debinet.cli.reading import format_options

if TYPE_CHECKING:
    import pandas as pd


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("predict", no_args_is_help=True)
@click.argument("model", type=_FILE)
@click.argument("file", type=_FILE)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write a table.")
@click.option("--keep", metavar="COLUMNS", help="Columns of FILE to copy, separated by commas.")
@format_options
@click.option("--nuisance", is_flag=True, help="Add f(Z), the part that the controls explain.")
@click.option("--allow-missing", is_flag=True, help="Predict nothing for rows with missing values.")
@click.option("--trusted", is_flag=True, help="Load a MODEL from a trusted source.")
@click.option("--force", is_flag=True, help="Overwrite an existing output.")
def predict_command(
    model: Path,
    file: Path,
    *,
    out: Path | None,
    keep: str | None,
    nuisance: bool,
    allow_missing: bool,
    trusted: bool,
    force: bool,
    **written: str | None,
) -> int:
    """Predict the outcome for the rows of FILE with a MODEL that `debinet fit --save` wrote.

    \b
    Examples:
      debinet fit wages.csv --outcome lwage --treatments educ --save wages.npz
      debinet predict wages.npz wages.csv --out predicted.csv
      debinet predict wages.npz wages.csv --keep person --nuisance
    """  # noqa: D301 - click's marker against rewrapping
    from debinet.cli.reading import read_file, require_columns, split_names
    from debinet.cli.writing import require_frame_file, require_free, write_frame
    from debinet.models.storing import load

    if out is not None:
        require_frame_file(out)
        require_free([out], force, inputs=[model, file])
    fitted = load(model, trusted=trusted)
    frame = read_file(file, written).frame
    kept = split_names(keep)
    require_columns(frame, kept)
    predicted = _predict(fitted, model, frame, nuisance, allow_missing)
    table = frame[kept].assign(**predicted)
    if out is None:
        click.echo(table.to_csv(index=False), nl=False)
    else:
        write_frame(table, out)
    return 0


def _predict(
    fitted: Any, path: Path, frame: pd.DataFrame, nuisance: bool, allow_missing: bool
) -> dict[str, Any]:
    """Return the new columns."""
    import numpy as np

    from debinet.cli.reading import require_columns, without_missing
    from debinet.exceptions import FileFormatError, OptionError

    wanted = ["predict", *(["nuisance"] if nuisance else [])]
    if not hasattr(fitted, "result_"):
        raise FileFormatError(
            "a model, which can predict",
            f"{path}, which holds {type(fitted).__name__}",
            "Use what `debinet fit --save` or `model.save` wrote.",
        )
    if not all(hasattr(fitted, name) for name in wanted):
        raise OptionError(
            "--nuisance for partially linear models", type(fitted).__name__, "Leave it out."
        )
    columns = _columns(fitted)
    require_columns(frame, columns)
    used = frame[columns]
    complete = ~used.isna().any(axis=1).to_numpy() if allow_missing else np.ones(len(frame), bool)
    option = "--allow-missing to leave their predictions empty"
    rows = used[complete]
    if len(rows):
        rows, _ = without_missing(rows, drop=False, option=option)
    found: dict[str, Any] = {}
    for name in wanted:
        values = np.full(len(frame), np.nan)
        if len(rows):
            values[complete] = getattr(fitted, name)(rows)
        found["prediction" if name == "predict" else name] = values
    return found


def _columns(fitted: Any) -> list[str]:
    """Return the columns that the model needs."""
    from debinet.data.formula import apply_columns
    from debinet.exceptions import FileFormatError

    if getattr(fitted, "formula_", None) is not None:
        return apply_columns(fitted.formula_.design)
    if not hasattr(fitted, "feature_names_in_"):
        raise FileFormatError(
            "a model that was fitted to named columns",
            "one that was fitted to an array",
            "Predict in Python, with dn.load(...).predict(array), or fit it to a data frame.",
        )
    return [str(name) for name in fitted.feature_names_in_]


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
    """  # noqa: D301 - click's marker against rewrapping
    from debinet.models.storing import load_any_result

    trust = load_any_result(file).trust()
    checks = [vars(check) for check in trust.checks]
    click.echo(json.dumps({"verdict": trust.verdict, "checks": checks}) if json_ else str(trust))
    return 1 if trust.verdict == "do not trust" else 0
