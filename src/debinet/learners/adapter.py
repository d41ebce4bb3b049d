"""Any regressor as a learner of several outputs: how it is seeded, weighted, scaled and checked."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import (
    ElasticNet,
    Lars,
    Lasso,
    LassoLars,
    LinearRegression,
    Ridge,
    RidgeCV,
)
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor, RadiusNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from debinet._random import named_seed
from debinet.exceptions import DebiNetError, LearnerError
from debinet.protocols import FloatArray, Learner, OutputScalingLearner

# Learners that accept several outputs and fit each as if it were alone. They see the outputs in
# the user's units, so that an absolute penalty such as Lasso's keeps its meaning; all other
# multi-output learners (trees, networks) trade outputs off against each other and see them
# standardized, or the output of the largest scale would decide everything.
SEPARABLE = (
    ElasticNet,
    Lars,
    Lasso,
    LassoLars,
    LinearRegression,
    Ridge,
    KNeighborsRegressor,
    RadiusNeighborsRegressor,
    MultiOutputRegressor,
)

# Learners that accept several outputs but would tune one penalty for all of them. Outputs differ in
# how well Z predicts them, so each is given its own fit.
ONE_PENALTY = (RidgeCV,)


@dataclass(frozen=True)
class FittedLearner:
    """A learner fitted to the m columns of M.

    Attributes
    ----------
    models : tuple
        One fitted multi-output model, or m single-output ones.
    scale : FloatArray of shape (m,)
        What the outputs were divided by.
    """

    models: tuple[Any, ...]
    scale: FloatArray

    def predict(self, Z: FloatArray) -> FloatArray:
        """Return predictions of shape (rows of Z, m)."""
        n, m = len(Z), self.scale.size
        columns = [_predict(model, Z) for model in self.models]
        if len(columns) == 1 and columns[0].shape in {(n, m), (n,) if m == 1 else None}:
            predictions = columns[0].reshape(n, m)
        elif all(column.shape in {(n,), (n, 1)} for column in columns) and len(columns) == m:
            predictions = np.column_stack([column.reshape(n) for column in columns])
        else:
            raise LearnerError(
                f"predictions of shape {(n, m)}",
                f"{[column.shape for column in columns]} from {_named(self.models[0])}",
                "A learner must predict every column it was fitted on.",
            )
        predictions = predictions * self.scale
        if not np.isfinite(predictions).all():
            raise LearnerError(
                "finite predictions",
                f"NaN or infinity from {_named(self.models[0])}",
                "Scale the inputs, or regularize the learner more.",
            )
        return predictions


def require_learner(learner: Any) -> None:
    """Require an object with fit and predict that is not a class or a classifier."""
    if isinstance(learner, type) or not isinstance(learner, Learner):
        hint = f"Did you mean {learner.__name__}()?" if isinstance(learner, type) else ""
        raise LearnerError(
            "a learner: a name such as 'wide', or an object with fit and predict",
            repr(learner),
            hint or "Pass any scikit-learn regressor.",
        )
    if _classifies(learner) and not hasattr(learner, "predict_proba"):
        raise LearnerError(
            "a regressor, or a classifier with probabilities",
            f"{_named(learner)}, which has no predict_proba",
            "Use LogisticRegression(), or the regressor of the same kind.",
        )


def fit_learner(
    learner: Any, Z: FloatArray, M: FloatArray, *, seed: int, weights: FloatArray | None = None
) -> FittedLearner:
    """Fit a fresh copy of `learner` to all columns of M: once if it can, else once per column."""
    m = M.shape[1]
    arguments = weight_arguments(learner, weights)
    if takes_many_outputs(learner) and (m > 1 or not takes_one_output(learner)):
        scale = np.ones(m) if separable(learner) else _standard_deviations(M, weights)
        model = seeded(learner, seed, "joint")
        return FittedLearner((_fit(model, Z, M / scale, arguments),), scale)
    models = tuple(
        _fit(seeded(learner, seed, "column", j), Z, M[:, j], arguments) for j in range(m)
    )
    return FittedLearner(models, np.ones(m))


def takes_many_outputs(learner: Any) -> bool:
    """Whether the learner accepts a two-dimensional M.

    Without scikit-learn tags it must: that is the protocol.
    """
    if not _has_tags(learner):
        return True
    if _classifies(learner):
        return False
    if any(isinstance(part, ONE_PENALTY) for part in _chain(learner)):
        return False
    return bool(get_tags(learner).target_tags.multi_output)


def takes_one_output(learner: Any) -> bool:
    """Whether the learner accepts a one-dimensional M; those without tags need not."""
    return _has_tags(learner) and bool(get_tags(learner).target_tags.single_output)


def separable(learner: Any) -> bool:
    """Whether the learner, inside its wrappers, gets outputs in the user's units.

    Because it fits every output as if it were alone (exact types: MultiTaskLasso, for one, is a
    Lasso that trades outputs off), or because it declares that it scales them itself.
    """
    return any(
        type(part) in SEPARABLE or (isinstance(part, OutputScalingLearner) and part.scales_outputs)
        for part in _chain(learner)
    )


def weight_arguments(learner: Any, weights: FloatArray | None) -> dict[str, FloatArray]:
    """Return the keyword arguments that pass `weights` to the learner's fit."""
    if weights is None:
        return {}
    prefix = ""
    for part in _chain(learner):
        if isinstance(part, Pipeline):
            prefix += f"{part.steps[-1][0]}__"
        elif _takes_weights(part):
            return {f"{prefix}sample_weight": weights}
    raise LearnerError(
        "a learner whose fit takes sample_weight, as weights were given",
        _named(learner),
        "Use another learner, or leave sample_weight out.",
    )


def seeded(learner: Any, seed: int, *names: str | int) -> Any:
    """Return an unfitted copy whose open random states are derived from `seed` and `names`."""
    copied = clone if hasattr(learner, "get_params") else deepcopy
    fresh = guarded(learner, lambda: copied(learner))
    set_seeds(fresh, seed, *names)
    return fresh


def set_seeds(learner: Any, seed: int, *names: str | int) -> None:
    """Set every `random_state` that the user left at None, in place."""
    states = {name: named_seed(seed, name, *names) for name in open_random_states(learner)}
    if states:
        learner.set_params(**states)


def open_random_states(learner: Any) -> list[str]:
    """Return the names of the random states that the user left at None."""
    if not hasattr(learner, "get_params"):
        return []
    return [
        name
        for name, value in sorted(learner.get_params(deep=True).items())
        if name.split("__")[-1] == "random_state" and value is None
    ]


def guarded(learner: Any, work: Any) -> Any:
    """Run `work()`; a failure becomes a `LearnerError` that names the learner."""
    try:
        return work()
    except DebiNetError:
        raise
    except Exception as error:
        raise LearnerError(
            "a learner that can be copied, fitted to these data and asked to predict",
            f"{_named(learner)} failing with {type(error).__name__}: {error}",
            "Check the learner's options; with few rows per fold, use fewer folds.",
        ) from error


def _fit(model: Any, Z: FloatArray, target: FloatArray, arguments: dict[str, FloatArray]) -> Any:
    labels = _read_classes(model, target) if _classifies(model) else target
    guarded(model, lambda: model.fit(Z, labels, **arguments))
    return model


def _classifies(learner: Any) -> bool:
    return _has_tags(learner) and is_classifier(learner)


def _read_classes(model: Any, target: FloatArray) -> Any:
    """Return a column of zeros and ones as classes."""
    if ((target == 0) | (target == 1)).all():
        return target.astype(np.int64)
    other = target[(target != 0) & (target != 1)][0]
    *_, last = _chain(model)
    name = _named(last)
    regressor = name.replace("Classifier", "Regressor") if "Classifier" in name else "a regressor"
    raise LearnerError(
        f"a regressor, as the outcome or a treatment is not zeros and ones (a value is {other:g})",
        f"the classifier {name}",
        f"Use {regressor}; if only treatments are zeros and ones, use "
        "dn.Columns(outcome=a regressor, treatments=the classifier).",
    )


def _chain(learner: Any) -> Iterator[Any]:
    """Yield a learner and what it wraps: pipelines, searches, transformed targets."""
    part = learner
    while part is not None:
        yield part
        if isinstance(part, Pipeline) and part.steps:
            part = part.steps[-1][1]
        elif _is_search(part):
            part = part.estimator
        elif isinstance(part, TransformedTargetRegressor):
            part = part.regressor
        else:
            return


def _is_search(learner: Any) -> bool:
    """Whether the learner is a search over parameters, such as GridSearchCV."""
    return isinstance(learner, MetaEstimatorMixin) and "refit" in learner.get_params(deep=False)


def _takes_weights(learner: Any) -> bool:
    if _is_search(learner) or isinstance(learner, TransformedTargetRegressor):
        return False  # they pass arguments on: what they wrap decides
    kinds = {parameter.kind for parameter in signature(learner.fit).parameters.values()}
    return has_fit_parameter(learner, "sample_weight") or Parameter.VAR_KEYWORD in kinds


def _predict(model: Any, Z: FloatArray) -> FloatArray:
    if _classifies(model):
        chances = guarded(model, lambda: np.asarray(model.predict_proba(Z), np.float64))
        # Of a one, which may be missing from the training rows.
        return np.asarray(chances @ (np.asarray(model.classes_) == 1))
    predictions: FloatArray = guarded(model, lambda: np.asarray(model.predict(Z), np.float64))
    return predictions


def _standard_deviations(M: FloatArray, weights: FloatArray | None) -> FloatArray:
    centre = np.average(M, axis=0, weights=weights)
    deviations = np.sqrt(np.average((M - centre) ** 2, axis=0, weights=weights))
    # A column that is constant among the training rows of a fold is left as it is.
    return np.where(deviations > 0, deviations, 1.0)


def _has_tags(learner: Any) -> bool:
    return hasattr(learner, "__sklearn_tags__")


def _named(learner: Any) -> str:
    return type(learner).__name__
