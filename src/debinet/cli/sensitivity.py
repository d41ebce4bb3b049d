"""`debinet sensitivity` and `debinet fit --sensitivity`: bounds under unmeasured confounders."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from debinet.cli.reading import format_options

if TYPE_CHECKING:
    import pandas as pd

    from debinet.inference.sensitivity import Sensitivity

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_SHARE = click.FloatRange(0, 1)


@click.command("sensitivity", no_args_is_help=True)
@click.argument("file", type=_FILE)
@click.option("--cf-y", type=_SHARE, default=0.03, show_default=True, help="Share of the outcome.")
@click.option("--cf-d", type=_SHARE, default=0.03, show_default=True, help="Share of a treatment.")
@click.option("--rho", type=click.FloatRange(-1, 1), default=1.0, help="Correlation of the two.")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95)
@click.option("--null", type=float, default=0.0, help="Value that the estimate is compared with.")
@click.option("--benchmark", "groups", multiple=True, metavar="COLUMNS", help="Leave these out.")
@click.option("--data", type=_FILE, help="The table of the fit.  [with --benchmark]")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Write contours.")
@click.option("--term", metavar="NAME", help="Which coefficient to plot.  [default: the first]")
@format_options
@click.option("--json", "json_", is_flag=True, help="Print JSON.")
@click.option("--trusted", is_flag=True, help="Load a FILE from a trusted source.")
@click.option("--force", is_flag=True, help="Overwrite an existing output.")
def sensitivity_command(
    file: Path,
    *,
    cf_y: float,
    cf_d: float,
    rho: float,
    level: float,
    null: float,
    groups: tuple[str, ...],
    data: Path | None,
    plot: Path | None,
    term: str | None,
    json_: bool,
    trusted: bool,
    force: bool,
    **written: str | None,
) -> int:
    """Bound effects under a confounder that was not measured; FILE is a saved fit.

    It explains the share --cf-y of what is left of the outcome and --cf-d of what is left of the
    treatment. --benchmark measures such shares by leaving out controls: once for each of them, or
    with commas for several together.

    \b
    Examples:
      debinet fit wages.csv --outcome lwage --treatments educ --save wages.npz
      debinet sensitivity wages.npz --cf-y 0.1 --cf-d 0.05
      debinet sensitivity wages.npz --data wages.csv --benchmark exper --plot contours.png
    """  # noqa: D301 - click's marker against rewrapping
    from debinet.cli.writing import require_free
    from debinet.models.storing import load, load_any_result
    from debinet.report.contours import require_picture, save_contours

    if plot is not None:
        require_picture(plot)
        require_free([plot], force)
    benchmarks = _benchmark(load(file, trusted=trusted), groups, data, written) if groups else None
    found = load_any_result(file).sensitivity(cf_y, cf_d, rho, level, null, benchmarks=benchmarks)
    if plot is not None:
        save_contours(found.plot(term, of="interval"), plot)
    click.echo(json.dumps(as_content(found), indent=2) if json_ else found.summary())
    return 0


def with_sensitivity(text: str, sensitivity: Sensitivity | None) -> str:
    """Return the JSON of a result with its sensitivity."""
    if sensitivity is None:
        return text
    content = {**json.loads(text), "sensitivity": as_content(sensitivity)}
    return json.dumps(content, indent=2, ensure_ascii=False)


def as_content(sensitivity: Sensitivity) -> dict[str, Any]:
    """Return bounds, robustness values and benchmarks as plain data."""
    content: dict[str, Any] = {
        **asdict(sensitivity.scenario),
        "null": sensitivity.null.tolist(),
        "terms": _records(sensitivity.to_frame().rename_axis("term").reset_index()),
        "jointly": asdict(sensitivity.joint_robustness()),
    }
    if sensitivity.benchmarks is not None:
        content["benchmarks"] = _records(sensitivity.benchmark_frame().reset_index())
    return content


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    rows = frame.to_dict("records")
    return [{str(name): _plain(value) for name, value in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    # JSON has neither NaN nor infinity
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _benchmark(
    model: Any, groups: tuple[str, ...], data: Path | None, written: dict[str, str | None]
) -> Any:
    """Return the `Benchmarks` of a saved model; its data are read again."""
    from debinet.cli.reading import read_file, require_columns, split_names, without_missing
    from debinet.exceptions import FileFormatError

    wanted = [split_names(text) for text in groups]
    if getattr(model, "formula_", None) is not None:
        return model.benchmark(wanted)  # it keeps the columns that it uses
    if not (hasattr(model, "benchmark") and hasattr(model, "feature_names_in_")):
        raise FileFormatError(
            "a model with named treatments, which can be fitted again without some controls",
            f"{type(model).__name__}",
            "Use what `debinet fit --treatments ... --save` or `model.save` wrote.",
        )
    if data is None:
        raise click.UsageError("--benchmark fits the model again: give its table with --data.")
    columns, outcome = [str(name) for name in model.feature_names_in_], model.result_.outcome
    frame = read_file(data, written).frame
    require_columns(frame, [*columns, outcome])
    frame, _ = without_missing(frame[[*columns, outcome]], drop=True)
    return model.benchmark(wanted, frame[columns], frame[outcome])
