"""The cross-fitting engine: held-out predictions of every row, for any learner and any folds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import delayed

from debinet._random import named_seed, root_seed
from debinet.data.folds import Fold, Folds
from debinet.data.workers import count_workers
from debinet.exceptions import LearnerError, OptionError
from debinet.learners.adapter import (
    FittedLearner,
    fit_learner,
    guarded,
    open_random_states,
    seeded,
    weight_arguments,
)
from debinet.learners.averages import Averaged, Weighted
from debinet.learners.progress import Counter, run_counted
from debinet.protocols import (
    DiagnosedLearner,
    Diagnostics,
    EnsembleLearner,
    FloatArray,
    FoldLearner,
    HeldOut,
    IntArray,
    PenalizedPrepared,
    Pilot,
    Prepared,
    PreparedLearner,
)


@dataclass(frozen=True)
class CrossFitted(HeldOut):
    """Held-out predictions of some targets, and the models behind them.

    Attributes
    ----------
    models : tuple of FittedLearner
    note : str
        What a reader of the results must know about how predictions were made.
    """

    note: str = ""

    @property
    def average(self) -> Averaged:
        """The models, to predict new rows."""
        return Averaged(self.models)


@dataclass(frozen=True)
class CrossFitter:
    """A learner, rows and folds: holds any targets out.

    Attributes
    ----------
    learner : learner
        Unfitted.
    Z : FloatArray of shape (n, p)
        Controls.
    folds : Folds
    seed : int
        Every model's random state is derived from it, the name of the target and the number of the
        fold, so the result does not depend on `n_jobs`.
    weights : FloatArray of shape (n,), optional
    n_jobs : int, optional
        Folds fitted at the same time, in threads unless a joblib context says otherwise.
    groups : IntArray of shape (n, 1) or (n, 2), optional
        Clusters, for learners that split rows themselves.
    prepared : Prepared, optional
        The learner's closed form for these rows. Without one it is fitted again without each fold.
    members : tuple of CrossFitter
        Those of the learners of an ensemble.
    counter : Counter, optional
        Of fits, as many as `count_refits` says for every call of `hold_out`.
    """

    learner: Any
    Z: FloatArray
    folds: Folds
    seed: int
    weights: FloatArray | None = None
    n_jobs: int | None = None
    groups: IntArray | None = None
    prepared: Prepared | None = None
    members: tuple[CrossFitter, ...] = ()
    counter: Counter | None = None

    @property
    def label(self) -> str:
        """The learner and the folds, in words."""
        return f"{type(self.learner).__name__} and {self.folds.label}"

    def hold_out(self, M: FloatArray, *names: str | int) -> CrossFitted:
        """Predict every row of targets (n, m); `names` distinguish the random states of fits."""
        if self.prepared is not None:
            prepared = self.prepared
            return _checked(self, lambda: prepared.hold_out(M, self.folds), M)
        seed = named_seed(self.seed, *names) if names else self.seed
        if isinstance(self.learner, EnsembleLearner):
            return _stacked(self, M, seed)
        if isinstance(self.learner, FoldLearner):
            return _all_folds_at_once(self, M, seed)
        return _fold_by_fold(self, M, seed)

    def reusable(self) -> CrossFitter:
        """Return a copy that keeps only what other folds of the same rows can use again.

        What was drawn at random is drawn anew.
        """
        if self.members:
            return replace(self, members=tuple(member.reusable() for member in self.members))
        return replace(self, prepared=None) if open_random_states(self.learner) else self

    def gls(self, y: FloatArray, D: FloatArray, *, joint: bool = False) -> Pilot | None:
        """Return the estimate of the learner's mixed model, if it has one."""
        return None if self.prepared is None else self.prepared.gls(y, D, joint=joint)

    def adjoint(self, X: FloatArray, held: HeldOut) -> FloatArray:
        """Return `L' X`, `L m` being the held-out residuals of the one target m of `held`."""
        assert self.prepared is not None
        return self.prepared.adjoint(X, self.folds, held)

    def scaled(self, factor: float) -> CrossFitter | None:
        """Return the same with all penalties multiplied, if the learner has penalties."""
        if not isinstance(self.prepared, PenalizedPrepared):
            return None
        return replace(self, prepared=self.prepared.scaled(factor))

    def hold_again(self, M: FloatArray, held: HeldOut) -> CrossFitted:
        """Hold out the targets of an earlier fit, at its penalties times the factor."""
        prepared = self.prepared
        assert isinstance(prepared, PenalizedPrepared)
        return _checked(self, lambda: prepared.hold_again(M, self.folds, held), M)

    def gls_again(self, y: FloatArray, D: FloatArray, pilot: Pilot) -> Pilot | None:
        """Repeat an earlier estimate of the mixed model, at its penalty times the factor."""
        assert isinstance(self.prepared, PenalizedPrepared)
        return self.prepared.gls_again(y, D, pilot)

    def diagnostics(self, held: CrossFitted) -> Diagnostics:
        """Return the diagnostics of the first model."""
        if self.prepared is not None:
            return self.prepared.diagnostics(held)
        model = held.models[0].models[0]
        return model.diagnostics() if isinstance(model, DiagnosedLearner) else Diagnostics()


def make_cross_fitter(
    learner: Any,
    Z: FloatArray,
    M: FloatArray,
    folds: Folds,
    *,
    seed: int,
    weights: FloatArray | None = None,
    n_jobs: int | None = None,
    groups: IntArray | None = None,
    name: str | None = None,
    before: CrossFitter | None = None,
    counter: Counter | None = None,
) -> CrossFitter:
    """Prepare to cross-fit targets, those of M (n, m) first.

    Parameters
    ----------
    learner, Z, folds, seed, weights, n_jobs, groups, counter
        As in `CrossFitter`.
    M : FloatArray of shape (n, m)
    name : str, optional
        Of these targets, as in `CrossFitter.hold_out`.
    before : CrossFitter, optional
        Of the same learner and rows, whose preparation is used again with other folds.
    """
    if n_jobs is not None:
        count_workers(n_jobs)  # refused before any work is done
    own = seed if name is None else named_seed(seed, name)
    fitter = CrossFitter(learner, Z, folds, seed, weights, n_jobs, groups, counter=counter)
    if isinstance(learner, EnsembleLearner):
        return replace(fitter, members=_make_members(fitter, M, own, before))
    if not _needs_no_refits(learner, folds):
        return fitter
    if before is not None and before.prepared is not None:
        return replace(fitter, prepared=before.prepared)
    weight_arguments(learner, weights)
    model = seeded(learner, own, "joint")
    return replace(fitter, prepared=guarded(model, lambda: model.prepare(Z, M, weights)))


def _make_members(
    fitter: CrossFitter, M: FloatArray, seed: int, before: CrossFitter | None
) -> tuple[CrossFitter, ...]:
    """Prepare the learners of an ensemble, once for all targets."""
    if fitter.folds.in_sample:
        raise OptionError(
            "held-out predictions to weight learners by",
            "crossfit=None, whose predictions are of the training rows",
            "Use crossfit='auto' or a number of folds.",
        )
    learners = fitter.learner.members(len(M))
    old = before.members if before is not None and before.members else (None,) * len(learners)
    return tuple(
        make_cross_fitter(
            learner,
            fitter.Z,
            M,
            fitter.folds,
            seed=_member_seed(fitter, seed, k),
            weights=fitter.weights,
            n_jobs=fitter.n_jobs,
            groups=fitter.groups,
            before=old[k],
            counter=fitter.counter,
        )
        for k, learner in enumerate(learners)
    )


def _member_seed(fitter: CrossFitter, seed: int, number: int) -> int:
    own = fitter.learner.random_state
    return named_seed(seed if own is None else root_seed(own), "member", number)


def cross_fit(
    learner: Any, Z: FloatArray, M: FloatArray, folds: Folds, **options: Any
) -> CrossFitted:
    """Predict every row of M (n, m) from models fitted without its fold.

    Parameters
    ----------
    learner, Z, M, folds, **options
        As in `make_cross_fitter`.
    """
    return make_cross_fitter(learner, Z, M, folds, **options).hold_out(M)


def has_closed_form(learner: Any) -> bool:
    """Whether the learner predicts held-out rows without refits."""
    return isinstance(learner, PreparedLearner)


def _needs_no_refits(learner: Any, folds: Folds) -> bool:
    return has_closed_form(learner) and (folds.complementary or folds.in_sample)


def count_refits(learner: Any, folds: Folds) -> int:
    """Return how many fits hold targets out: one per fold and learner without a closed form."""
    if isinstance(learner, EnsembleLearner):
        return sum(count_refits(member, folds) for member in learner.members(folds.n))
    return 0 if _needs_no_refits(learner, folds) else len(folds)


def fold_seeds(seed: int, count: int) -> list[int]:
    """Return the random states of the models of all folds, as separate fits would have them."""
    return [named_seed(named_seed(seed, "fold", k), "random_state", "joint") for k in range(count)]


def _checked(fitter: CrossFitter, closed_form: Callable[[], HeldOut], M: FloatArray) -> CrossFitted:
    held = guarded(fitter.learner, closed_form)
    predictions = np.asarray(held.predictions, dtype=np.float64)
    if predictions.shape != M.shape or not np.isfinite(predictions).all():
        what = "NaN or infinity" if predictions.shape == M.shape else str(predictions.shape)
        raise LearnerError(
            f"finite held-out predictions of shape {M.shape}",
            f"{what} from {type(fitter.learner).__name__}",
            "Check the learner's prepare method with debinet.testing.check_learner.",
        )
    fits = tuple(FittedLearner((model,), np.ones(M.shape[1])) for model in held.models)
    return CrossFitted(predictions, fits, held.fit)


def _fold_by_fold(fitter: CrossFitter, M: FloatArray, seed: int) -> CrossFitted:
    # Threads: the same numerical libraries with the same settings as one worker, so the same
    # bits, and no copies of the data.
    # A counter stays in this process, whatever the workers are.
    plain = replace(fitter, counter=None)
    work = (delayed(_predict_fold)(plain, M, fold, seed, k) for k, fold in enumerate(fitter.folds))
    done = run_counted(work, fitter.counter, n_jobs=fitter.n_jobs, prefer="threads")
    predictions = np.empty_like(M)
    for fold, (fold_predictions, _) in zip(fitter.folds, done, strict=True):
        predictions[fold.test] = fold_predictions
    return CrossFitted(predictions, tuple(fit for _, fit in done))


def _predict_fold(
    fitter: CrossFitter, M: FloatArray, fold: Fold, seed: int, number: int
) -> tuple[FloatArray, FittedLearner]:
    train = fold.train(len(M))
    fit = fit_learner(
        fitter.learner,
        fitter.Z[train],
        M[train],
        seed=named_seed(seed, "fold", number),
        weights=None if fitter.weights is None else fitter.weights[train],
    )
    return fit.predict(fitter.Z[fold.test]), fit


def _stacked(fitter: CrossFitter, M: FloatArray, seed: int) -> CrossFitted:
    parts = [
        replace(member, seed=_member_seed(fitter, seed, k)).hold_out(M)
        for k, member in enumerate(fitter.members)
    ]
    predictions = np.array([part.predictions for part in parts])
    weights = fitter.learner.weigh(predictions, M, fitter.weights)
    combined = np.asarray(np.einsum("km,knm->nm", weights, predictions))
    model = Weighted(tuple(part.average for part in parts), weights)
    shown = ", ".join(
        f"{type(member.learner).__name__} {mean:.2f}"
        for member, mean in zip(fitter.members, weights.mean(axis=1), strict=True)
    )
    note = f"weights of the stacked learners, averaged over outputs: {shown}"
    return CrossFitted(combined, (FittedLearner((model,), np.ones(M.shape[1])),), note=note)


def _all_folds_at_once(fitter: CrossFitter, M: FloatArray, seed: int) -> CrossFitted:
    rows = [fold.train(len(M)) for fold in fitter.folds]
    arguments: dict[str, Any] = {**weight_arguments(fitter.learner, fitter.weights)}
    if fitter.groups is not None:
        arguments["groups"] = fitter.groups[:, 0]
    seeds = fold_seeds(seed, len(rows))
    models = guarded(
        fitter.learner, lambda: fitter.learner.fit_folds(fitter.Z, M, rows, seeds, **arguments)
    )
    if fitter.counter is not None:
        fitter.counter.advance(len(rows))
    fits = tuple(FittedLearner((model,), np.ones(M.shape[1])) for model in models)
    predictions = np.empty_like(M)
    for fold, fit in zip(fitter.folds, fits, strict=True):
        predictions[fold.test] = fit.predict(fitter.Z[fold.test])
    return CrossFitted(predictions, fits)
