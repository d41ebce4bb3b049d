"""Learners by name."""

from __future__ import annotations

from typing import Any

from debinet.exceptions import OptionError
from debinet.learners.adapter import require_learner
from debinet.learners.mean import MeanLearner


def resolve_learner(learner: Any) -> Any:
    """Return the learner that a name stands for, or the learner itself once it is checked."""
    if not isinstance(learner, str):
        require_learner(learner)
        return learner
    if learner == "wide":
        from debinet.learners.wide import WideNet

        return WideNet()
    if learner == "zero":
        return MeanLearner()
    raise OptionError(
        "learner to be 'wide', 'zero' or a regressor",
        repr(learner),
        "Pass an object such as RandomForestRegressor().",
    )
