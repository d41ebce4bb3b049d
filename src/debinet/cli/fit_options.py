"""What to fit, from the options of `debinet fit`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

# Those of `debinet.learners.named`, which --help need not wait for.
LEARNERS = ("wide", "net", "spline", "forest", "boosting", "lasso", "linear", "mean")


@dataclass(frozen=True)
class FitOptions:
    """What to fit: options of the command line, columns of clusters, whether to show progress."""

    outcome: str | None
    treatments: str | None
    controls: str | None
    formula: str | None
    select: str | None
    learner: str
    crossfit: str
    groups: list[str]
    weights: str | None
    seed: int
    drop_missing: bool
    progress: bool
    compare: str | None = None
    level: float = 0.95


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


def read_crossfit(text: str) -> Any:
    """Return the value of `crossfit` that the option's text stands for."""
    if text in {"auto", "loo"}:
        return text
    if text == "none":
        return None
    folds, by, times = text.partition("x")
    if folds.isdigit() and (times.isdigit() if by else True):
        return (int(folds), int(times)) if by else int(folds)
    raise click.UsageError(f"--crossfit {text!r}: use auto, loo, none, 5, or 5x3.")
