"""`score` is a constructor parameter here and a method in scikit-learn: this makes it both.

`get_params()["score"]` is the name of the score, `estimator.score(X, y)` is R squared.
"""

from __future__ import annotations

from types import MethodType
from typing import Any

from sklearn.base import RegressorMixin


class ScoreParameter:
    """Data descriptor: assignment stores the parameter, access gives the method."""

    def __set__(self, estimator: Any, value: str) -> None:
        vars(estimator)["score"] = value

    def __get__(self, estimator: Any, owner: type) -> Any:
        method = RegressorMixin.score
        return method if estimator is None else MethodType(method, estimator)


def score_name(estimator: Any) -> Any:
    """Return the parameter behind `estimator.score`."""
    return vars(estimator)["score"]
