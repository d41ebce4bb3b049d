"""What to fit, from the options of `debinet fit`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import click

_FOREST = {"n_estimators": 500, "min_samples_leaf": 5}


@dataclass(frozen=True)
class FitOptions:
    """What to fit: the options of the command line, and the columns of clusters from --vcov."""

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


def _make(module: str, name: str, **options: Any) -> Any:
    return getattr(import_module(module), name)(**options)


def _lasso() -> Any:
    from sklearn.linear_model import LassoCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LassoCV())


LEARNERS: dict[str, Callable[[], Any]] = {
    "wide": lambda: "wide",
    "net": partial(_make, "debinet.learners.net.net", "Net"),
    "splines": partial(_make, "debinet.learners.splines", "SplineSmoother"),
    "forest": partial(_make, "sklearn.ensemble", "RandomForestRegressor", **_FOREST),
    "boosting": partial(
        _make, "sklearn.ensemble", "HistGradientBoostingRegressor", early_stopping=True
    ),
    "lasso": _lasso,
    "linear": partial(_make, "sklearn.linear_model", "LinearRegression"),
    "mean": lambda: "mean",
}
