"""The fit that `debinet fit` was asked for, on a table in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from debinet.cli.fit_options import FitOptions, read_crossfit
from debinet.cli.reading import read_file, require_columns, split_names, without_missing

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FileFit:
    """A model fitted to a file.

    Attributes
    ----------
    model : PartiallyLinear, DebiNet or Compared
    left_out : int
        Rows with missing values that were left out.
    notes : tuple of str
        What was found out about the file.
    """

    model: Any
    left_out: int = 0
    notes: tuple[str, ...] = ()


def fit_file(path: Path, asked: FitOptions) -> FileFit:
    """Read a table and fit the model."""
    _require_roles(asked)
    table = read_file(path, asked.written)
    fit = _fit_formula if asked.formula is not None else _fit_columns
    return replace(fit(table.frame, asked), notes=table.notes)


def _require_roles(asked: FitOptions) -> None:
    if asked.formula is not None:
        if asked.select or asked.outcome or asked.treatments or asked.controls:
            raise click.UsageError(
                "--formula replaces --outcome, --treatments, --controls, --select."
            )
        if asked.instruments or asked.endogenous:
            raise click.UsageError("--formula names instruments, too: '... | educ ~ nearc4'.")
        return
    if asked.instruments is None and (asked.endogenous or asked.iv_method):
        name = "endogenous" if asked.endogenous else "iv-method"
        raise click.UsageError(f"--{name} requires --instruments.")
    if asked.instruments is not None and (asked.select or asked.compare):
        name = "select" if asked.select else "compare"
        raise click.UsageError(f"--instruments cannot be used with --{name}.")
    if asked.outcome is None:
        raise click.UsageError("Give --outcome and --treatments or --select, or give --formula.")
    if (asked.treatments is None) == (asked.select is None):
        raise click.UsageError("Give either --treatments or --select.")
    if asked.controls and asked.exclude:
        raise click.UsageError("--controls names all controls: leave out --exclude.")
    if asked.select and asked.references:
        raise click.UsageError("--ref is for --treatments or --formula: categories are controls.")


def _fit_formula(frame: pd.DataFrame, asked: FitOptions) -> FileFit:
    from debinet.data.formula import formula_columns
    from debinet.data.safe_formula import require_safe_formula
    from debinet.models.plm import plm

    assert asked.formula is not None
    excluded = split_names(asked.exclude)
    require_columns(frame, excluded)
    frame = frame.drop(columns=excluded)
    require_safe_formula(asked.formula, frame.columns)
    apart = [*asked.groups, *_given(asked.weights)]
    require_columns(frame, apart)
    used = [*formula_columns(asked.formula, frame, apart), *apart]
    frame, left_out = without_missing(frame[list(dict.fromkeys(used))], asked.drop_missing)
    fit = plm(
        asked.formula,
        frame,
        asked.learner,
        ref=asked.references or None,
        groups=asked.groups or None,
        sample_weight=asked.weights,
        crossfit=read_crossfit(asked.crossfit),
        method=asked.iv_method or "auto",
        random_state=asked.seed,
        verbose=asked.progress,
    )
    return FileFit(fit, left_out)


def _fit_columns(frame: pd.DataFrame, asked: FitOptions) -> FileFit:
    assert asked.outcome is not None
    treatments, controls = split_names(asked.treatments), split_names(asked.controls)
    instruments = split_names(asked.instruments)
    excluded = split_names(asked.exclude)
    apart = [asked.outcome, *asked.groups, *_given(asked.weights)]
    require_columns(frame, [*apart, *treatments, *instruments, *controls, *excluded])
    require_unused(excluded, [asked.outcome, *treatments, *instruments, *_given(asked.weights)])
    if not controls:
        others = {*apart, *treatments, *instruments, *excluded}
        controls = [c for c in frame.columns if c not in others]
    treated = [*treatments, *instruments]
    used = list(dict.fromkeys([*apart, *treated, *controls]))
    frame, left_out = without_missing(frame[used], asked.drop_missing)
    model = _model(asked, treatments)
    model.fit(
        frame[[*treated, *(c for c in controls if c not in treated)]],
        frame[asked.outcome],
        groups=frame[asked.groups] if asked.groups else None,
        sample_weight=None if asked.weights is None else frame[asked.weights],
    )
    return FileFit(model, left_out)


def require_unused(excluded: list[str], used: list[str]) -> None:
    """Require that no excluded column has a role; clusters are no controls anyway."""
    both = [name for name in excluded if name in used]
    if both:
        raise click.UsageError(f"--exclude {both[0]}: the column is used by another option.")


def _model(asked: FitOptions, treatments: list[str]) -> Any:
    """Return the model, importing only what it needs."""
    if asked.compare is not None:
        from debinet.cli.comparing import Compared

        return Compared(asked, treatments)
    options: dict[str, Any] = {
        "learner": asked.learner,
        "crossfit": read_crossfit(asked.crossfit),
        "random_state": asked.seed,
        "verbose": asked.progress,
    }
    if asked.select is None:
        from debinet.models.partially_linear import PartiallyLinear

        if asked.instruments is not None:
            options["instruments"] = split_names(asked.instruments)
            options["endogenous"] = split_names(asked.endogenous) or None
            options["method"] = asked.iv_method or "auto"
        return PartiallyLinear(treatments, ref=asked.references or None, **options)
    from debinet.models.debinet import DebiNet

    return DebiNet(asked.select, **options)


def _given(name: str | None) -> list[str]:
    return [] if name is None else [name]
