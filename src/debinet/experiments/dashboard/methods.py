"""The methods of the dashboard: ours by learner and method, and others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

from debinet.data.simulated import Simulated
from debinet.experiments.dashboard import peers
from debinet.experiments.dashboard.estimates import Estimates
from debinet.experiments.dashboard.ours import Ours, Streamed
from debinet.learners.smoothers import LocalLinear, NadarayaWatson
from debinet.learners.splines import SplineSmoother
from debinet.learners.tangent import TangentNet
from debinet.learners.wide import WideNet
from debinet.models.partially_linear import PartiallyLinear

DEFAULT = "debinet"


@dataclass(frozen=True)
class Cost:
    """How the time of a method grows.

    Attributes
    ----------
    most_rows : int or None
        The largest size it is run on.
    growth : float
        Its time grows like this power of the number of rows.
    """

    most_rows: int | None = None
    growth: float = 1.0

    def allows(self, n: int) -> bool:
        """Return whether n rows do not take too long."""
        return self.most_rows is None or n <= self.most_rows


@dataclass(frozen=True)
class Competitor:
    """A method, and the sizes it can do.

    Attributes
    ----------
    label : str
        What it is, in words.
    estimate : callable
        `estimate(sample, seed)` returns `Estimates`.
    cost : Cost
    requires : tuple of str
        Packages it imports beyond the core.
    least_rows : int
        The smallest size it is run on.
    """

    label: str
    estimate: Callable[[Simulated, int], Estimates]
    cost: Cost = Cost()
    requires: tuple[str, ...] = ()
    least_rows: int = 1

    def runs_on(self, n: int) -> bool:
        """Return whether the method is run on n rows."""
        return n >= self.least_rows and self.cost.allows(n)


def _ours(label: str, learner: Any, cost: Cost = Cost(), **options: Any) -> Competitor:  # noqa: B008
    return Competitor(label, Ours(PartiallyLinear((), learner, **options)), cost)


def _doubleml(
    label: str,
    learner: Callable[[int], Any],
    cost: Cost = Cost(),  # noqa: B008
    package: str = "sklearn",
) -> Competitor:
    estimate = partial(peers.fit_doubleml, learner=learner)
    return Competitor(f"DoubleML, {label}", estimate, cost, ("doubleml", package))


# Chosen so that a run takes minutes at most.
_CUBIC, _SQUARE, _SLOW = Cost(1000, 3.0), Cost(5000, 2.0), Cost(5000)
_FOREST, _BOOSTING = RandomForestRegressor(200, min_samples_leaf=5), HistGradientBoostingRegressor()
_STRUCTURED = "structured"

METHODS: dict[str, Competitor] = {
    DEFAULT: Competitor("`PartiallyLinear(treatments)`, all defaults", Ours(PartiallyLinear(()))),
    "debinet-streamed": Competitor(
        "all defaults, `fit_stream`", Streamed(PartiallyLinear(())), least_rows=1000
    ),
    "wide-joint": _ours(
        "WideNet, erf, method joint", WideNet(activation="erf"), _CUBIC, method="joint"
    ),
    "wide-structured": _ours("WideNet, method structured", WideNet(), _CUBIC, method=_STRUCTURED),
    "wide-robinson": _ours("WideNet, method robinson", WideNet(), _CUBIC, method="robinson"),
    "tangent": _ours("TangentNet", TangentNet()),
    "splines": _ours("SplineSmoother", SplineSmoother()),
    "nadaraya-watson": _ours("NadarayaWatson", NadarayaWatson(), _SQUARE),
    "local-linear": _ours("LocalLinear", LocalLinear(), _SQUARE),
    "forest": _ours("random forest, method structured", _FOREST, _SLOW, method=_STRUCTURED),
    "boosting": _ours("boosted trees, method structured", _BOOSTING, method=_STRUCTURED),
    "doubleml-forest": _doubleml("random forest", peers.forest, _SLOW),
    "doubleml-lightgbm": _doubleml("LightGBM", peers.lightgbm, package="lightgbm"),
    "doubleml-lasso": _doubleml("LassoCV", peers.lasso),
    "doubleml-mlp": _doubleml("MLPRegressor of scikit-learn", peers.mlp),
    "econml": Competitor("EconML, LinearDML, its defaults", peers.fit_econml, _SLOW, ("econml",)),
    "least-squares": Competitor("least squares of y on D and Z, HC3", peers.fit_least_squares),
}
