"""`debinet fit --stream`: Parquet files of any size, read in passes, here or on a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from debinet.cli.request import Request, read_crossfit

# Covariances that passes over the data take; clusters come with their column.
_KINDS = ("iid", "HC0", "HC1", "HC2", "HC3", "full")


@dataclass(frozen=True)
class Streaming:
    """How the data are read.

    Attributes
    ----------
    width : int or None
        Hidden units.
    checkpoint : Path or None
    scheduler : str or None
        Address of a Dask cluster.
    progress : bool
        Whether to show bars.
    """

    width: int | None
    checkpoint: Path | None
    scheduler: str | None
    progress: bool


def fit_stream(path: Path, request: Request, kind: str | None, streaming: Streaming) -> Any:
    """Return the model, fitted to a file, a folder or a pattern of files."""
    from debinet.cli.reading import split_names
    from debinet.learners.tangent import TangentNet
    from debinet.models.partially_linear import PartiallyLinear

    _require_possible(path, request, kind)
    assert request.outcome is not None
    model = PartiallyLinear(
        split_names(request.treatments),
        "wide" if streaming.width is None else TangentNet(width=streaming.width),
        crossfit=read_crossfit(request.crossfit),
        random_state=request.seed,
    )
    return model.fit_stream(
        path,
        request.outcome,
        controls=split_names(request.controls) or None,
        groups=request.groups[0] if request.groups else None,
        sample_weight=request.weights,
        client=streaming.scheduler,
        checkpoint=streaming.checkpoint,
        progress=streaming.progress,
    )


def require_no_streaming(streaming: Streaming) -> None:
    """Require that no option is given that --stream alone has."""
    for name in ("width", "checkpoint", "scheduler"):
        if getattr(streaming, name) is not None:
            raise click.UsageError(f"--{name} goes with --stream.")


def _require_possible(path: Path, request: Request, kind: str | None) -> None:
    """Require, before hours of reading, options that can be served."""
    from debinet.cli.reading import READERS

    for name in ("formula", "select"):
        if getattr(request, name) is not None:
            raise click.UsageError(
                f"--{name} needs all rows in memory: give --outcome and --treatments with --stream."
            )
    if request.outcome is None or request.treatments is None:
        raise click.UsageError("Give --outcome and --treatments with --stream.")
    if request.learner != "wide":
        raise click.UsageError(
            f"--learner {request.learner} needs all rows in memory: --stream goes with wide."
        )
    if request.drop_missing:
        raise click.UsageError(
            "--drop-missing does not go with --stream, which refuses missing values."
        )
    if len(request.groups) > 1:
        raise click.UsageError("--vcov cluster takes one column with --stream.")
    if kind is not None and kind not in _KINDS:
        raise click.UsageError(f"--vcov {kind!r}: use {', '.join(_KINDS)} or cluster:COLUMN.")
    if path.suffix.lower() in set(READERS) - {".parquet"} and not path.is_dir():
        raise click.UsageError(f"--stream reads Parquet files, not {path.name!r}.")
