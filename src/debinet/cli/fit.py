"""`debinet fit`: from a file to coefficients, tables and a report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from debinet.cli.fit_options import LEARNERS, FitOptions, read_crossfit, read_vcov

if TYPE_CHECKING:
    import pandas as pd

    from debinet.inference.result import Inference

_FILE = click.Path(dir_okay=False, path_type=Path)
_EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)
_SELECTORS = ("lasso", "adaptive_lasso", "elastic_net", "slope", "forward_backward")


def _require_file(context: click.Context, parameter: click.Parameter, value: Path) -> Path:
    """Require that the file exists, unless it may be a pattern or a folder."""
    if not context.params.get("stream"):
        _EXISTING.convert(value, parameter, context)
    return value


@click.command("fit", no_args_is_help=True)
@click.argument("file", type=click.Path(path_type=Path), callback=_require_file)
@click.option("--outcome", metavar="COLUMN", help="The outcome y.")
@click.option("--treatments", metavar="COLUMNS", help="Columns whose effects to estimate.")
@click.option("--controls", metavar="COLUMNS", help="Control columns.  [default: all others]")
@click.option("--formula", help='"y ~ d1 + d2 | z1 + C(z2)" in place of these three.')
@click.option("--select", type=click.Choice(_SELECTORS), help="Find the treatments.")
@click.option("--learner", type=click.Choice(LEARNERS), default="wide", show_default=True)
@click.option("--crossfit", default="auto", show_default=True, help="auto, loo, none, 5, or 5x3.")
@click.option("--vcov", metavar="KIND", help="iid, HC0 to HC3, full, cluster:COLUMN[,COLUMN].")
@click.option("--weights", metavar="COLUMN", help="Sample weights.")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95)
@click.option("--joint", is_flag=True, help="Intervals that cover all coefficients at once.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--drop-missing", is_flag=True, help="Leave out rows with missing values.")
@click.option("--stream", is_flag=True, is_eager=True, help="FILE is Parquet files of any size.")
@click.option("--width", type=click.IntRange(min=1), help="Hidden units.  [with --stream]")
@click.option("--checkpoint", type=_FILE, help="Resume from here if interrupted.  [with --stream]")
@click.option("--scheduler", metavar="ADDRESS", help="Dask cluster to use.  [with --stream]")
@click.option("--table", type=_FILE, multiple=True, help="Write a .csv, .md, .tex or .html table.")
@click.option("--save", type=_FILE, help="Save the fit for predict, trust and dn.load.")
@click.option("--report", type=_FILE, help="Write a report as an HTML page.")
@click.option("--sensitivity", is_flag=True, help="What if a confounder was not measured?")
@click.option("--json", "json_", is_flag=True, help="Print JSON.")
@click.option("--quiet", is_flag=True, help="Print errors only.")
@click.option("--force", is_flag=True, help="Overwrite existing outputs.")
def fit_command(
    file: Path,
    *,
    stream: bool,
    width: int | None,
    checkpoint: Path | None,
    scheduler: str | None,
    vcov: str | None,
    level: float,
    joint: bool,
    table: tuple[Path, ...],
    save: Path | None,
    report: Path | None,
    sensitivity: bool,
    json_: bool,
    quiet: bool,
    force: bool,
    **options: Any,
) -> int:
    """Estimate coefficients from a table: csv, tsv, parquet, feather, dta or xlsx.

    With --stream, FILE is a Parquet file, a folder of them or a pattern in quotes. They are read in
    passes, on all cores, and need not fit in memory.

    \b
    Examples:
      debinet fit wages.csv --outcome lwage --treatments educ,union --report report.html
      debinet fit genes.parquet --outcome y --select lasso --table genes.tex
      debinet fit firms.dta --formula "y ~ d | x1 + log(x2)" --vcov cluster:firm
      debinet fit 'sales/*.parquet' --stream --outcome y --treatments price --save sales.npz
    """  # noqa: D301 - click's marker against rewrapping
    from debinet.cli.sensitivity import with_sensitivity
    from debinet.cli.streaming import Streaming, fit_stream, require_no_streaming
    from debinet.cli.writing import as_json, require_free, require_tables, write_table
    from debinet.inference.reporting import write_report

    require_tables(table)
    require_free([*table, *(path for path in (save, report) if path is not None)], force)
    kind, groups = read_vcov(vcov)
    asked = FitOptions(groups=groups, progress=not quiet and _is_terminal(), **options)
    streaming = Streaming(width, checkpoint, scheduler)
    if stream:
        model, left_out = fit_stream(file, asked, kind, streaming), 0
    else:
        require_no_streaming(streaming)
        model, left_out = _fit(file, asked)
    # The fit of a formula holds the model whose result it shows.
    fitted = getattr(model, "model", model)
    fitted.verbose = False  # a saved model does not depend on whether it was made in a terminal
    if kind is not None and kind != model.result_.vcov_type:
        fitted.result_ = fitted.result_.with_vcov(kind)
    result = model.result_
    for path in table:
        write_table(result, path, level, joint)
    if save is not None:
        model.save(save)
    assessed = result.sensitivity(level=level) if sensitivity else None
    if report is not None:
        write_report(
            result, report, level=level, joint=joint, source=file.name, sensitivity=assessed
        )
    if json_:
        click.echo(with_sensitivity(as_json(result, level, joint), assessed))
    elif not quiet:
        _show(result, left_out, level, joint)
        if assessed is not None:
            click.echo(f"\n{assessed.summary()}")
    return 0


def _is_terminal() -> bool:
    return sys.stderr.isatty()


def _show(result: Inference, left_out: int, level: float, joint: bool) -> None:
    click.echo(result.summary(level, joint))
    if left_out:
        click.echo(f"\n{left_out} rows with missing values were left out.")
    trust = result.trust()
    click.echo(f"\nTrust: {trust.verdict}")
    for check in trust.checks:
        if check.advice and check.verdict != "not known":
            click.echo(f"  {check.name}: {check.finding}\n    -> {check.advice}")


def _fit(file: Path, asked: FitOptions) -> tuple[Any, int]:
    """Return the fitted model and the number of rows left out."""
    from debinet.cli.reading import read_file

    frame = read_file(file)
    if asked.formula is not None:
        return _fit_formula(frame, asked)
    if asked.outcome is None:
        raise click.UsageError("Give --outcome and --treatments or --select, or give --formula.")
    if (asked.treatments is None) == (asked.select is None):
        raise click.UsageError("Give either --treatments or --select.")
    return _fit_columns(frame, asked)


def _fit_formula(frame: pd.DataFrame, asked: FitOptions) -> tuple[Any, int]:
    from debinet.cli.reading import require_columns, without_missing
    from debinet.data.formula import formula_columns
    from debinet.data.safe_formula import require_safe_formula
    from debinet.models.plm import plm

    if asked.select or asked.outcome or asked.treatments or asked.controls:
        raise click.UsageError("--formula replaces --outcome, --treatments, --controls, --select.")
    assert asked.formula is not None
    require_safe_formula(asked.formula, frame.columns)
    apart = [*asked.groups, *_given(asked.weights)]
    require_columns(frame, apart)
    used = [*formula_columns(asked.formula, frame, apart), *apart]
    frame, left_out = without_missing(frame[list(dict.fromkeys(used))], asked.drop_missing)
    fit = plm(
        asked.formula,
        frame,
        asked.learner,
        groups=asked.groups or None,
        sample_weight=asked.weights,
        crossfit=read_crossfit(asked.crossfit),
        random_state=asked.seed,
        verbose=asked.progress,
    )
    return fit, left_out


def _fit_columns(frame: pd.DataFrame, asked: FitOptions) -> tuple[Any, int]:
    from debinet.cli.reading import require_columns, split_names, without_missing

    assert asked.outcome is not None
    treatments, controls = split_names(asked.treatments), split_names(asked.controls)
    apart = [asked.outcome, *asked.groups, *_given(asked.weights)]
    require_columns(frame, [*apart, *treatments, *controls])
    if not controls:
        controls = [c for c in frame.columns if c not in {*apart, *treatments}]
    used = list(dict.fromkeys([*apart, *treatments, *controls]))
    frame, left_out = without_missing(frame[used], asked.drop_missing)
    model = _model(asked, treatments)
    model.fit(
        frame[[*treatments, *(c for c in controls if c not in treatments)]],
        frame[asked.outcome],
        groups=frame[asked.groups] if asked.groups else None,
        sample_weight=None if asked.weights is None else frame[asked.weights],
    )
    return model, left_out


def _model(asked: FitOptions, treatments: list[str]) -> Any:
    """Return the model, importing only what it needs."""
    options: dict[str, Any] = {
        "learner": asked.learner,
        "crossfit": read_crossfit(asked.crossfit),
        "random_state": asked.seed,
        "verbose": asked.progress,
    }
    if asked.select is None:
        from debinet.models.partially_linear import PartiallyLinear

        return PartiallyLinear(treatments, **options)
    from debinet.models.debinet import DebiNet

    return DebiNet(asked.select, **options)


def _given(name: str | None) -> list[str]:
    return [] if name is None else [name]
