"""Learners by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from debinet.data.options import one_of
from debinet.learners.adapter import require_learner
from debinet.learners.budget import landmarks_within, solves_exactly
from debinet.learners.linear import LinearLearner
from debinet.learners.mean import MeanLearner
from debinet.learners.tangent import TangentNet
from debinet.learners.wide import WideNet
from debinet.learners.wide.network_inputs import relevance_can_be_learned

# Hidden units of the network with equal weights of the features, beyond what is solved exactly: the
# order sqrt(n) is what kernel ridge regression needs to lose no accuracy (Rudi and Rosasco 2017).
_UNITS_PER_ROOT, _MOST_UNITS = 10, 2000
_EQUAL_EXACT = 5000


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
    "linear": LinearLearner,
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


def resolve_learner(learner: Any, n: int = 0, p: int = 0) -> Resolved:
    """Return the learner that a name stands for on n rows and p controls, or the learner itself."""
    if not isinstance(learner, str):
        require_learner(learner)
        return Resolved(learner)
    one_of("learner", learner, NAMES, "Or pass a regressor, such as RandomForestRegressor().")
    return resolve_wide(n, p) if learner == "wide" else Resolved(_MAKERS[learner]())


def resolve_wide(n: int, p: int, *, exact: bool = True) -> Resolved:
    """Return the network that "wide" stands for (docs/decisions/0020 and 0023).

    A smooth one whose weights of the features are learned, where they can be; exactly solved where
    that is quick and `exact` allows it.
    """
    if relevance_can_be_learned(n, p):
        if exact and solves_exactly(n):
            return Resolved(WideNet(activation="erf"))
        note = (
            f"the wide network is solved on {landmarks_within(n)} landmarks (TangentNet), as its "
            f"exact solution takes long with {n} rows; learner=WideNet(activation='erf') is exact"
        )
        return Resolved(TangentNet(width=landmarks_within(n)), note)
    note = "" if p == 1 else f"all {p} controls have the same weight in the network"
    if exact and n <= _EQUAL_EXACT:
        return Resolved(WideNet(), note)
    units = min(round(_UNITS_PER_ROOT * n**0.5), _MOST_UNITS)
    about = "the wide network is approximated by random features (TangentNet)"
    return Resolved(
        TangentNet(width=units, features="units"), f"{about}; {note}" if note else about
    )
