"""`debinet fit`: from a file to coefficients, tables and a report."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from debinet.cli.fit_options import IV_METHODS, LEARNERS, FitOptions, read_references, read_vcov
from debinet.cli.reading import FORMAT, format_options

if TYPE_CHECKING:
    from debinet.inference.result import Inference

_FILE = click.Path(dir_okay=False, path_type=Path)
_EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)
_SELECTORS = (
    "lasso",
    "adaptive_lasso",
    "elastic_net",
    "group_lasso",
    "sparse_group_lasso",
    "slope",
    "forward_backward",
)


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
@click.option(
    "--exclude", metavar="COLUMNS", help="Columns that are not used, such as identifiers."
)
@click.option("--ref", metavar="COLUMN=LEVEL", multiple=True, help="Reference of a category.")
@click.option("--formula", help='"y ~ d1 + d2 | z1 + C(z2)" in place of these three.')
@click.option("--instruments", metavar="COLUMNS", help="Instruments for the treatments.")
@click.option("--endogenous", metavar="COLUMNS", help="Treatments they are for.  [default: all]")
@click.option("--iv-method", type=click.Choice(IV_METHODS), help="With instruments.  [2sls]")
@click.option("--select", type=click.Choice(_SELECTORS), help="Find the treatments.")
@click.option("--learner", type=click.Choice(LEARNERS), default="wide", show_default=True)
@click.option("--compare", metavar="NAMES", help="Fit several learners or methods: forest,lasso.")
@click.option("--crossfit", default="auto", show_default=True, help="auto, loo, none, 5, or 5x3.")
@click.option("--vcov", metavar="KIND", help="iid, HC0 to HC3, full, cluster:COLUMN[,COLUMN].")
@click.option("--weights", metavar="COLUMN", help="Sample weights.")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95)
@click.option("--joint", is_flag=True, help="Intervals that cover all coefficients at once.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--drop-missing", is_flag=True, help="Leave out rows with missing values.")
@format_options
@click.option("--stream", is_flag=True, is_eager=True, help="FILE is Parquet files of any size.")
@click.option("--width", type=click.IntRange(min=1), help="Hidden units.  [with --stream]")
@click.option("--checkpoint", type=_FILE, help="Resume from here if interrupted.  [with --stream]")
@click.option("--scheduler", metavar="ADDRESS", help="Dask cluster to use.  [with --stream]")
@click.option(
    "--table", type=_FILE, multiple=True, help="Write a .csv, .xlsx, .md, .tex or .html table."
)
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
    """Estimate coefficients from a table: csv, tsv, txt, dat, parquet, feather, dta or xlsx.

    Separators, decimal commas and encodings are found out, unless options say what they are.

    With --stream, FILE is a Parquet file, a folder of them or a pattern in quotes. They are read in
    passes, on all cores, and need not fit in memory.

    \b
    Examples:
      debinet example wages.csv
      debinet fit wages.csv --outcome lwage --treatments educ,union --exclude person
      debinet fit wages.csv --outcome lwage --treatments training --ref training=none
      debinet fit wages.csv --outcome lwage --select lasso --table wages.tex
      debinet fit wages.csv --formula "lwage ~ educ | exper + log(tenure + 1)" --vcov cluster:firm
      debinet fit wages.parquet --stream --outcome lwage --treatments educ --exclude person
    """  # noqa: D301 - click's marker against rewrapping
    from debinet.cli.fitting import FileFit, fit_file
    from debinet.cli.sensitivity import with_sensitivity
    from debinet.cli.streaming import Streaming, fit_stream, require_no_streaming
    from debinet.cli.writing import as_json, require_free, require_tables, write_table
    from debinet.inference.reporting import write_report

    require_tables(table)
    outputs = [*table, *(path for path in (save, report) if path is not None)]
    require_free(outputs, force, inputs=[file])
    kind, groups = read_vcov(vcov)
    written = {name: options.pop(name) for name in FORMAT}
    references = read_references(options.pop("ref"))
    progress = not quiet and _is_terminal()
    asked = FitOptions(
        groups=groups,
        references=references,
        written=written,
        progress=progress,
        level=level,
        **options,
    )
    if asked.compare is not None:
        from debinet.cli.comparing import require_comparable, show_comparison

        require_comparable(asked, stream=stream, save=save, report=report, vcov=kind, joint=joint)
        compared = fit_file(file, asked).model.found
        return show_comparison(compared, table, as_json=json_, quiet=quiet)
    streaming = Streaming(width, checkpoint, scheduler)
    if stream:
        found = FileFit(fit_stream(file, asked, kind, streaming))
    else:
        require_no_streaming(streaming)
        found = fit_file(file, asked)
    model = found.model
    model.verbose = False  # a saved model does not depend on whether it was made in a terminal
    if kind is not None and kind != model.result_.vcov_type:
        model.result_ = model.result_.with_vcov(kind)
    if found.notes:
        model.result_ = replace(model.result_, notes=(*found.notes, *model.result_.notes))
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
        _show(result, found.left_out, level, joint)
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
