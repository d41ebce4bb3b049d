"""The cross-fitting engine: held-out predictions of every row, for any learner and any folds."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from debinet._random import named_seed, root_seed
from debinet.data.folds import Fold, Folds
from debinet.exceptions import LearnerError, OptionError
from debinet.learners.adapter import (
    FittedLearner,
    closed_form,
    fit_learner,
    guarded,
    set_seeds,
    weight_arguments,
)
from debinet.protocols import EnsembleLearner, FloatArray, FoldLearner, IntArray


@dataclass(frozen=True)
class Averaged:
    """Models of the same targets, to predict new rows by their average.

    Attributes
    ----------
    fits : tuple of FittedLearner
        One per fold, or one of all rows for closed forms.
    """

    fits: tuple[FittedLearner, ...]

    def predict(self, Z: FloatArray) -> FloatArray:
        """Predict new rows by the average of the models, as in the paper's Algorithm 4."""
        return np.asarray(np.mean([fit.predict(Z) for fit in self.fits], axis=0))


@dataclass(frozen=True)
class Heldout:
    """What cross-fitting hands on.

    Attributes
    ----------
    predictions : FloatArray of shape (n, m)
        For every row, predictions by a model that did not see its fold.
    fits : tuple of FittedLearner
        The models behind them: one per fold, or one of all rows for closed forms.
    learner : object
        What to pass to cross-fit other targets on the same Z: a closed-form learner may keep its
        factorization there.
    note : str
        What a reader of the results must know of how predictions were made.
    """

    predictions: FloatArray
    fits: tuple[FittedLearner, ...]
    learner: Any
    note: str = ""

    @property
    def average(self) -> Averaged:
        """The models, to predict new rows."""
        return Averaged(self.fits)


def cross_fit(
    learner: Any,
    Z: FloatArray,
    M: FloatArray,
    folds: Folds,
    *,
    seed: int,
    weights: FloatArray | None = None,
    n_jobs: int | None = None,
    groups: IntArray | None = None,
) -> Heldout:
    """Predict every row of M from models fitted without its fold.

    Parameters
    ----------
    learner : learner
        Multi-output learners are fitted once per fold for all columns, others once per column;
        those with a `heldout` method are fitted once.
    Z : FloatArray of shape (n, p - q)
        Nuisance features.
    M : FloatArray of shape (n, m)
        Targets.
    folds : Folds
        Who is held out with whom.
    seed : int
        Every model's random state is derived from it and the number of its fold, so the result
        does not depend on `n_jobs`.
    weights : FloatArray of shape (n,), optional
        Sample weights.
    n_jobs : int, optional
        Folds fitted at the same time, in threads unless a joblib context says otherwise.
    groups : IntArray of shape (n, 1) or (n, 2), optional
        Clusters, for learners that split rows themselves.
    """
    _require_jobs(n_jobs)
    job = _Job(learner, Z, M, seed, weights, groups)
    if closed_form(learner) and (folds.complementary or folds.in_sample):
        return _in_closed_form(job, folds)
    if isinstance(learner, EnsembleLearner):
        return _stacked(job, folds, n_jobs)
    if isinstance(learner, FoldLearner):
        return _all_folds_at_once(job, folds)
    # Threads: the same numerical libraries with the same settings as one worker, so the same
    # bits, and no copies of the data.
    work = (delayed(_predict_fold)(job, fold, k) for k, fold in enumerate(folds))
    done = Parallel(n_jobs=n_jobs, prefer="threads")(work)
    predictions = np.empty_like(M)
    for fold, (fold_predictions, _) in zip(folds, done, strict=True):
        predictions[fold.test] = fold_predictions
    return Heldout(predictions, tuple(fit for _, fit in done), learner)


@dataclass(frozen=True)
class _Job:
    """The arguments of `cross_fit` that all folds share."""

    learner: Any
    Z: FloatArray
    M: FloatArray
    seed: int
    weights: FloatArray | None
    groups: IntArray | None


def _predict_fold(job: _Job, fold: Fold, number: int) -> tuple[FloatArray, FittedLearner]:
    train = fold.train(len(job.Z))
    fit = fit_learner(
        job.learner,
        job.Z[train],
        job.M[train],
        seed=named_seed(job.seed, "fold", number),
        weights=None if job.weights is None else job.weights[train],
    )
    return fit.predict(job.Z[fold.test]), fit


@dataclass(frozen=True)
class Weighted:
    """Cross-fitted learners, averaged.

    Attributes
    ----------
    parts : tuple of Averaged
        Of k learners.
    weights : FloatArray of shape (k, m)
        Of each learner for each output.
    """

    parts: tuple[Averaged, ...]
    weights: FloatArray

    def predict(self, Z: FloatArray) -> FloatArray:
        """Return predictions (rows of Z, m)."""
        found = np.array([part.predict(Z) for part in self.parts])
        return np.asarray(np.einsum("km,knm->nm", self.weights, found))


def _stacked(job: _Job, folds: Folds, n_jobs: int | None) -> Heldout:
    if folds.in_sample:
        raise OptionError(
            "held-out predictions to weight learners by",
            "crossfit=None, whose predictions are of the training rows",
            "Use crossfit='auto' or a number of folds.",
        )
    own = getattr(job.learner, "random_state", None)
    seed = job.seed if own is None else root_seed(own)
    parts = tuple(
        cross_fit(
            member,
            job.Z,
            job.M,
            folds,
            seed=named_seed(seed, "member", k),
            weights=job.weights,
            n_jobs=n_jobs,
            groups=job.groups,
        )
        for k, member in enumerate(job.learner.members(len(job.Z)))
    )
    predictions = np.array([part.predictions for part in parts])
    weights = job.learner.weigh(predictions, job.M, job.weights)
    names = [type(part.learner).__name__ for part in parts]
    fit = FittedLearner(
        (Weighted(tuple(part.average for part in parts), weights),), np.ones(job.M.shape[1])
    )
    combined = np.asarray(np.einsum("km,knm->nm", weights, predictions))
    return Heldout(combined, (fit,), job.learner, _describe(names, weights))


def _describe(names: list[str], weights: FloatArray) -> str:
    shown = ", ".join(
        f"{name} {mean:.2f}" for name, mean in zip(names, weights.mean(axis=1), strict=True)
    )
    return f"weights of the stacked learners, averaged over outputs: {shown}"


def _all_folds_at_once(job: _Job, folds: Folds) -> Heldout:
    rows = [fold.train(len(job.Z)) for fold in folds]
    arguments: dict[str, Any] = {**weight_arguments(job.learner, job.weights)}
    if job.groups is not None:
        arguments["groups"] = job.groups[:, 0]
    seeds = fold_seeds(job.seed, len(rows))
    models = guarded(
        job.learner, lambda: job.learner.fit_folds(job.Z, job.M, rows, seeds, **arguments)
    )
    fits = tuple(FittedLearner((model,), np.ones(job.M.shape[1])) for model in models)
    predictions = np.empty_like(job.M)
    for fold, fit in zip(folds, fits, strict=True):
        predictions[fold.test] = fit.predict(job.Z[fold.test])
    return Heldout(predictions, fits, job.learner)


def fold_seeds(seed: int, count: int) -> list[int]:
    """Return the random states of the models of all folds, as separate fits would have them."""
    return [named_seed(named_seed(seed, "fold", k), "random_state", "joint") for k in range(count)]


def _in_closed_form(job: _Job, folds: Folds) -> Heldout:
    # A shallow copy, not a clone: a factorization of this very Z may be at hand.
    model = copy(job.learner)
    set_seeds(model, job.seed, "joint")
    arguments = weight_arguments(model, job.weights)
    if folds.in_sample:
        guarded(model, lambda: model.fit(job.Z, job.M, **arguments))
        predictions = guarded(model, lambda: np.reshape(model.predict(job.Z), job.M.shape))
    else:
        predictions = guarded(
            model, lambda: np.asarray(model.heldout(job.Z, job.M, folds, **arguments), float)
        )
    width: int = job.M.shape[1]
    if predictions.shape != job.M.shape or not np.isfinite(predictions).all():
        what = "NaN or infinity" if predictions.shape == job.M.shape else str(predictions.shape)
        raise LearnerError(
            f"finite held-out predictions of shape {job.M.shape}",
            f"{what} from {type(model).__name__}.heldout",
            "Check the learner's heldout method with debinet.testing.check_learner.",
        )
    # Other targets on the same Z are to see the same network.
    kept = model.keep_relevance() if hasattr(model, "keep_relevance") else model
    return Heldout(predictions, (FittedLearner((model,), np.ones(width)),), kept)


def _require_jobs(n_jobs: int | None) -> None:
    if n_jobs is not None and (not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0):
        raise OptionError(
            "n_jobs to be None or an integer other than 0", repr(n_jobs), "Use n_jobs=-1 for all."
        )
