"""Learners by name, for those who do not write Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _forest() -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(n_estimators=500, min_samples_leaf=5)


def _boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(early_stopping=True)


def _lasso() -> Any:
    from sklearn.linear_model import LassoCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LassoCV())


def _linear() -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def _net() -> Any:
    from debinet.learners.net.net import Net

    return Net()


def _splines() -> Any:
    from debinet.learners.splines import SplineSmoother

    return SplineSmoother()


LEARNERS: dict[str, Callable[[], Any]] = {
    "wide": lambda: "wide",
    "net": _net,
    "splines": _splines,
    "forest": _forest,
    "boosting": _boosting,
    "lasso": _lasso,
    "linear": _linear,
    "mean": lambda: "mean",
}
