"""What to fit, from the options of `debinet fit`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

# Those of `debinet.learners.named`, which --help need not wait for.
LEARNERS = ("wide", "net", "spline", "forest", "boosting", "lasso", "linear", "mean")

# Those of `debinet.inference.k_class`.
IV_METHODS = ("2sls", "liml", "fuller", "jive")


@dataclass(frozen=True)
class FitOptions:
    """What to fit: options of the command line.

    Attributes
    ----------
    groups : list of str
        Columns of clusters.
    references : dict from str to str
        Reference categories.
    written : dict from str to str
        How the file is written, as far as options say.
    progress : bool
        Whether to show progress.
    """

    outcome: str | None
    treatments: str | None
    controls: str | None
    exclude: str | None
    formula: str | None
    select: str | None
    learner: str
    crossfit: str
    groups: list[str]
    references: dict[str, str]
    written: dict[str, str | None]
    weights: str | None
    seed: int
    drop_missing: bool
    progress: bool
    compare: str | None = None
    level: float = 0.95
    instruments: str | None = None
    endogenous: str | None = None
    iv_method: str | None = None


def read_vcov(text: str | None) -> tuple[str | None, list[str]]:
    """Return the kind of covariance and the columns of clusters."""
    from debinet.cli.reading import split_names

    if text is None:
        return None, []
    kind, _, columns = text.partition(":")
    if kind == "cluster" and not split_names(columns):
        raise click.UsageError("--vcov cluster needs its column: cluster:firm.")
    if kind != "cluster" and columns:
        raise click.UsageError(f"--vcov {kind} takes no columns.")
    return (None if kind == "cluster" else kind), split_names(columns)


def read_references(texts: Sequence[str]) -> dict[str, str]:
    """Return the reference categories by column."""
    found: dict[str, str] = {}
    for text in texts:
        column, equals, level = text.partition("=")
        if not (equals and column.strip() and level.strip()):
            raise click.UsageError(f"--ref {text!r}: use COLUMN=LEVEL, such as arm=control.")
        if column.strip() in found:
            raise click.UsageError(f"--ref {text!r}: the column has another reference already.")
        found[column.strip()] = level.strip()
    return found


def read_crossfit(text: str) -> Any:
    """Return the value of `crossfit` that the option's text stands for."""
    if text in {"auto", "loo"}:
        return text
    if text == "none":
        return None
    folds, by, times = text.partition("x")
    if all(part.isascii() and part.isdigit() for part in ((folds, times) if by else (folds,))):
        return (int(folds), int(times)) if by else int(folds)
    raise click.UsageError(f"--crossfit {text!r}: use auto, loo, none, 5, or 5x3.")
