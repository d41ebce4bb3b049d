"""Learners by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from debinet.data.options import one_of
from debinet.learners.adapter import require_learner
from debinet.learners.mean import MeanLearner
from debinet.learners.tangent import TangentNet
from debinet.learners.wide import WideNet

# Up to this many rows "wide" is solved exactly, at a cost of n^3 (docs/decisions/0009).
EXACT_ROWS = 5000
# Random features beyond: 10 sqrt(n) of them, the order that kernel ridge regression needs to lose
# no accuracy (Rudi and Rosasco 2017), up to the default of TangentNet.
_FEATURES_PER_ROOT = 10
_MOST_FEATURES = 2000


def _make(module: str, name: str, **options: Any) -> Any:
    """Return an instance of a class that is imported only if it is asked for."""
    return getattr(import_module(module), name)(**options)


_MAKERS: dict[str, Callable[[], Any]] = {
    "wide": WideNet,
    "mean": MeanLearner,
    "lasso": partial(_make, "debinet.learners.lasso", "LassoLearner"),
    "spline": partial(_make, "debinet.learners.splines", "SplineSmoother"),
    "forest": partial(
        _make, "sklearn.ensemble", "RandomForestRegressor", n_estimators=500, min_samples_leaf=5
    ),
    "boosting": partial(
        _make, "sklearn.ensemble", "HistGradientBoostingRegressor", early_stopping=True
    ),
    "linear": partial(_make, "sklearn.linear_model", "LinearRegression"),
    "net": partial(_make, "debinet.learners.net.net", "Net"),
}
NAMES = tuple(_MAKERS)


@dataclass(frozen=True)
class Resolved:
    """A learner, and what a reader of its results must know of how it was chosen.

    Attributes
    ----------
    learner : learner
    note : str
        Empty if the learner is what was asked for.
    """

    learner: Any
    note: str = ""


def wide_features(n: int) -> int:
    """Return the number of random features that "wide" uses on n rows, where it is not exact."""
    features: int = round(_FEATURES_PER_ROOT * n**0.5)
    return min(features, _MOST_FEATURES)


def resolve_learner(learner: Any, n: int = 0) -> Resolved:
    """Return the learner that a name stands for on n rows, or the learner itself, checked."""
    if not isinstance(learner, str):
        require_learner(learner)
        return Resolved(learner)
    one_of("learner", learner, NAMES, "Or pass a regressor, such as RandomForestRegressor().")
    if learner == "wide" and n > EXACT_ROWS:
        note = (
            "the wide network is approximated by random features (TangentNet), as its exact "
            f"solution takes long with {n} rows; learner=WideNet() is always exact"
        )
        return Resolved(TangentNet(width=wide_features(n)), note)
    return Resolved(_MAKERS[learner]())
