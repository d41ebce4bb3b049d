"""Learners by name, for the command line."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any


def _make(module: str, name: str, **options: Any) -> Any:
    return getattr(import_module(module), name)(**options)


def _lasso() -> Any:
    from sklearn.linear_model import LassoCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LassoCV())


_FOREST = {"n_estimators": 500, "min_samples_leaf": 5}
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
