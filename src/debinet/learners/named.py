"""Learners by name."""

from __future__ import annotations

from typing import Any

from debinet.exceptions import OptionError
from debinet.learners.adapter import require_learner
from debinet.learners.mean import MeanLearner
from debinet.learners.tangent import TangentNet
from debinet.learners.wide import WideNet

# Up to this many rows "wide" is solved exactly, at a cost of n^3 (docs/decisions/0009).
EXACT_ROWS = 5000


def resolve_learner(learner: Any, n: int = 0) -> Any:
    """Return the learner that a name stands for on n rows, or the learner itself, checked."""
    if not isinstance(learner, str):
        require_learner(learner)
        return learner
    if learner == "wide":
        return WideNet() if n <= EXACT_ROWS else TangentNet()
    if learner == "zero":
        return MeanLearner()
    raise OptionError(
        "learner to be 'wide', 'zero' or a regressor",
        repr(learner),
        "Pass an object such as RandomForestRegressor().",
    )
