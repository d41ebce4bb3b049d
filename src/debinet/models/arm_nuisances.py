"""Outcomes and probabilities of arms given the controls, held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from debinet._random import named_generator, named_seed
from debinet.data.crossfit import make_folds
from debinet.data.folds import Folds, leave_one_out
from debinet.exceptions import LearnerError
from debinet.learners.adapter import fit_learner, guarded, set_seeds
from debinet.learners.crossfitting import has_closed_form, make_cross_fitter
from debinet.learners.logistic_net import LogisticNet
from debinet.learners.named import resolve_learner
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class ArmData:
    """Rows with arms.

    Attributes
    ----------
    y : FloatArray of shape (n,)
    code : IntArray of shape (n,)
        Arm of each row, from 0.
    Z : FloatArray of shape (n, p)
    weights : FloatArray of shape (n,), optional
    groups : IntArray of shape (n, ways), optional
    """

    y: FloatArray
    code: IntArray
    Z: FloatArray
    weights: FloatArray | None
    groups: IntArray | None

    @property
    def arms(self) -> int:
        """Number of arms."""
        return int(self.code.max()) + 1

    def weights_of(self, rows: IntArray) -> FloatArray | None:
        """Return the weights of some rows."""
        return None if self.weights is None else self.weights[rows]


def hold_out_outcomes(data: ArmData, learner: Any, crossfit: Any, seed: int) -> FloatArray:
    """Return `E(y | arm, Z)` of every row and arm, (n, arms), by models that did not see the row.

    A learner with a closed form predicts the rows of its own arm without each other, and all other
    rows, from one fit.
    """
    own = resolve_learner(learner, *data.Z.shape).learner
    loo = isinstance(crossfit, str) and crossfit in {"auto", "loo"}
    if loo and data.groups is None and has_closed_form(own):
        columns = [_leave_one_out(data, learner, arm, seed) for arm in range(data.arms)]
        return np.column_stack(columns)
    found = np.empty((data.y.size, data.arms))
    for k, fold in enumerate(_folds(data, crossfit, seed)):
        train = fold.train(data.y.size)
        for arm in range(data.arms):
            rows = train[data.code[train] == arm]
            _require_rows(rows, arm)
            fresh = resolve_learner(learner, rows.size, data.Z.shape[1]).learner
            fit = fit_learner(
                fresh,
                data.Z[rows],
                data.y[rows, None],
                seed=named_seed(seed, "outcome", arm, k),
                weights=data.weights_of(rows),
            )
            found[fold.test, arm] = fit.predict(data.Z[fold.test])[:, 0]
    return found


def hold_out_probabilities(data: ArmData, learner: Any, crossfit: Any, seed: int) -> FloatArray:
    """Return `P(arm | Z)` of every row and arm, (n, arms), by models that did not see the row."""
    if learner is None and data.groups is None and crossfit == "auto":
        net = LogisticNet(random_state=named_seed(seed, "probability"))
        guarded(net, lambda: net.fit(data.Z, data.code, data.weights))
        return net.heldout_
    classifier = LogisticNet() if learner is None else learner
    require_classifier(classifier)
    found = np.empty((data.y.size, data.arms))
    for k, fold in enumerate(_folds(data, crossfit, seed)):
        train = fold.train(data.y.size)
        for arm in range(data.arms):
            _require_rows(train[data.code[train] == arm], arm)
        model = clone(classifier)
        set_seeds(model, named_seed(seed, "probability", k))
        own = {} if data.weights is None else {"sample_weight": data.weights[train]}
        guarded(model, lambda m=model, r=train, o=own: m.fit(data.Z[r], data.code[r], **o))
        found[fold.test] = model.predict_proba(data.Z[fold.test])
    return found


def folds_in_words(data: ArmData, learner: Any, crossfit: Any, seed: int) -> str:
    """Return how rows are held out."""
    own = resolve_learner(learner, *data.Z.shape).learner
    if isinstance(crossfit, str) and data.groups is None and has_closed_form(own):
        return "leave-one-out"
    return _folds(data, crossfit, seed).label


def require_classifier(learner: Any) -> None:
    """Require a classifier with probabilities."""
    if isinstance(learner, type) or not (
        is_classifier(learner) and hasattr(learner, "predict_proba")
    ):
        raise LearnerError(
            "a classifier with predict_proba for the probabilities",
            repr(learner)[:80],
            "For example LogisticRegression(), or leave propensity out for the wide network.",
        )


def _leave_one_out(data: ArmData, learner: Any, arm: int, seed: int) -> FloatArray:
    rows = np.flatnonzero(data.code == arm)
    fitter = make_cross_fitter(
        resolve_learner(learner, rows.size, data.Z.shape[1]).learner,
        data.Z[rows],
        data.y[rows, None],
        leave_one_out(rows.size),
        seed=named_seed(seed, "outcome", arm),
        weights=data.weights_of(rows),
    )
    held = fitter.hold_out(data.y[rows, None], "outcome")
    found = np.empty(data.y.size)
    found[rows] = held.predictions[:, 0]
    others = np.flatnonzero(data.code != arm)
    found[others] = held.average.predict(data.Z[others])[:, 0]
    return found


def _folds(data: ArmData, crossfit: Any, seed: int) -> Folds:
    rng = named_generator(seed, "arm folds")
    given = (data.code[:, None].astype(np.float64), data.Z, data.y)
    return make_folds(crossfit, data.y.size, rng, groups=data.groups, data=given)[0]


def _require_rows(rows: IntArray, arm: int) -> None:
    if rows.size < 2:
        raise LearnerError(
            "rows of every arm outside of every fold",
            f"{rows.size} of arm {arm}",
            "Use fewer folds, or clusters that are smaller.",
        )
