"""`debinet fit --stream`: Parquet files of any size, read in passes, here or on a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from debinet.cli.fit_options import FitOptions, read_crossfit

# Covariances of streamed fits; `cluster` is followed by its column.
_KINDS = ("iid", "HC0", "HC1", "HC2", "HC3", "full")


@dataclass(frozen=True)
class Streaming:
    """The options of --stream."""

    width: int | None
    checkpoint: Path | None
    scheduler: str | None


def fit_stream(path: Path, asked: FitOptions, kind: str | None, streaming: Streaming) -> Any:
    """Return the model, fitted to a file, a folder or a pattern of files."""
    from debinet.cli.reading import split_names
    from debinet.learners.tangent import TangentNet
    from debinet.models.partially_linear import PartiallyLinear

    _require_possible(path, asked, kind)
    assert asked.outcome is not None
    model = PartiallyLinear(
        split_names(asked.treatments),
        "wide" if streaming.width is None else TangentNet(width=streaming.width),
        crossfit=read_crossfit(asked.crossfit),
        n_jobs=-1,
        random_state=asked.seed,
    )
    return model.fit_stream(
        path,
        asked.outcome,
        controls=_controls(path, asked),
        groups=asked.groups[0] if asked.groups else None,
        sample_weight=asked.weights,
        client=streaming.scheduler,
        checkpoint=streaming.checkpoint,
        progress=asked.progress,
    )


def _controls(path: Path, asked: FitOptions) -> list[str] | None:
    """Return the controls; None if they are all other columns."""
    from debinet.cli.fitting import require_unused
    from debinet.cli.reading import split_names
    from debinet.data.schema import unknown_column
    from debinet.data.sources import open_source

    excluded = split_names(asked.exclude)
    if not excluded:
        return split_names(asked.controls) or None
    with open_source(path) as source:
        names = source.names
    for name in excluded:
        if name not in names:
            raise unknown_column(name, names)
    used = [asked.outcome, *split_names(asked.treatments), asked.weights]
    require_unused(excluded, [name for name in used if name is not None])
    return [name for name in names if name not in {*used, *asked.groups, *excluded}]


def require_no_streaming(streaming: Streaming) -> None:
    """Require that no option of --stream is given."""
    for name in ("width", "checkpoint", "scheduler"):
        if getattr(streaming, name) is not None:
            raise click.UsageError(f"--{name} requires --stream.")


def _require_possible(path: Path, asked: FitOptions, kind: str | None) -> None:
    """Require supported options, before the data are read for hours."""
    from debinet.data.table_files import TABLE_ENDINGS

    for name in ("formula", "select", "instruments", "endogenous", "iv_method"):
        if getattr(asked, name) is not None:
            raise click.UsageError(
                f"--{name.replace('_', '-')} needs all rows in memory: give --outcome and "
                "--treatments with --stream."
            )
    if asked.outcome is None or asked.treatments is None:
        raise click.UsageError("Give --outcome and --treatments with --stream.")
    if asked.learner != "wide":
        raise click.UsageError(
            f"--learner {asked.learner} needs all rows in memory: use wide with --stream."
        )
    given = [name for name, value in asked.written.items() if value is not None]
    if asked.references or given:
        name = "ref" if asked.references else given[0]
        raise click.UsageError(f"--{name} cannot be used with --stream.")
    if asked.drop_missing:
        raise click.UsageError(
            "--drop-missing cannot be used with --stream, which refuses missing values."
        )
    if asked.controls and asked.exclude:
        raise click.UsageError("--controls names all controls: leave out --exclude.")
    if len(asked.groups) > 1:
        raise click.UsageError("--vcov cluster takes one column with --stream.")
    if kind is not None and kind not in _KINDS:
        raise click.UsageError(f"--vcov {kind!r}: use {', '.join(_KINDS)} or cluster:COLUMN.")
    if path.suffix.lower() in set(TABLE_ENDINGS) - {".parquet"} and not path.is_dir():
        raise click.UsageError(f"--stream reads Parquet files, not {path.name!r}.")
