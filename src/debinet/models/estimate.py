"""The one way through: from validated data and options to a result and what predictions need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from debinet._random import named_generator, named_seed
from debinet.data.crossfit import make_folds
from debinet.data.dataset import Dataset
from debinet.data.folds import Folds
from debinet.inference.infer import infer
from debinet.inference.provenance import Clustered, CrossFitting, Provenance
from debinet.inference.result import Inference
from debinet.learners.adapter import guarded
from debinet.learners.crossfitting import CrossFitter, has_closed_form, make_cross_fitter
from debinet.learners.named import resolve_learner
from debinet.models.gather_trust_evidence import defer_evidence
from debinet.models.partialling import (
    ConditionalMeans,
    PartialledOut,
    partial_out,
    require_method,
)
from debinet.protocols import FloatArray

# More coefficients per row than this leave little to judge the noise by (docs/decisions/0011).
CROWDED = 0.25


@dataclass(frozen=True)
class Options:
    """How a partially linear model is to be estimated.

    Attributes
    ----------
    learner, method, crossfit, n_jobs
        Parameters of `PartiallyLinear`.
    seed : int
        From which all that is random is derived.
    """

    learner: Any
    method: str
    crossfit: Any
    n_jobs: int | None
    seed: int


@dataclass(frozen=True)
class Fitted:
    """An estimated model.

    Attributes
    ----------
    result : Inference
    means : tuple of ConditionalMeans
        One per repetition of cross-fitting.
    """

    result: Inference
    means: tuple[ConditionalMeans, ...]

    def predict(self, D: FloatArray, Z: FloatArray) -> FloatArray:
        """Return `E(y|Z) + (D - E(D|Z)) coef` for rows (n, q), (n, p)."""
        return self.nuisance(Z) + D @ self.result.estimate

    def nuisance(self, Z: FloatArray) -> FloatArray:
        """Return `f(Z) = E(y|Z) - E(D|Z) coef` for rows (n, p)."""
        found = [means(Z) for means in self.means]
        m_D = np.mean([part for _, part in found], axis=0)
        return np.asarray(np.mean([part for part, _ in found], axis=0) - m_D @ self.result.estimate)


def estimate(data: Dataset, options: Options) -> Fitted:
    """Cross-fit, partial out, infer.

    Parameters
    ----------
    data : Dataset
    options : Options
    """
    resolved = resolve_learner(options.learner, data.n)
    learner, seed = resolved.learner, options.seed
    closed_form = has_closed_form(learner) and options.method != "dml1"
    repetitions = draw_folds(data, options, closed_form=closed_form)
    require_method(options.method, repetitions)
    fresh = guarded(learner, lambda: clone(learner, safe=False))
    parts = _repeat(fresh, data, repetitions, options)
    result = infer(
        [part.regression for part in parts],
        data.schema.treatment_names,
        _default_vcov(options.method, data, parts),
        Provenance(
            model="Partially linear model",
            outcome=data.outcome,
            controls=data.Z.shape[1],
            learner=type(learner).__name__,
            cross_fitting=CrossFitting.of(repetitions),
            method=options.method,
            clusters=Clustered.of(data.groups),
            seed=seed,
        ),
        notes=_notes(data, repetitions, (resolved.note, parts[0].joint.note)),
        groups=data.groups,
        evidence=defer_evidence(data, parts[0], repetitions[0], fresh, seed),
    )
    return Fitted(result, tuple(part.means for part in parts))


def draw_folds(data: Dataset, options: Options, *, closed_form: bool) -> tuple[Folds, ...]:
    """Return the folds of every repetition that `crossfit` asks for."""
    return make_folds(
        options.crossfit,
        data.n,
        named_generator(options.seed, "folds"),
        groups=data.groups,
        # One row has no coefficients of its own to average.
        closed_form=closed_form,
        data=(data.D, data.Z, data.y),
    )


def _repeat(
    learner: Any, data: Dataset, repetitions: Sequence[Folds], options: Options
) -> list[PartialledOut]:
    fitter: CrossFitter | None = None
    parts = []
    for k, folds in enumerate(repetitions):
        fitter = make_cross_fitter(
            learner,
            data.Z,
            data.M,
            folds,
            seed=named_seed(options.seed, k),
            weights=data.weights,
            n_jobs=options.n_jobs,
            groups=data.groups,
            name="joint",
            before=fitter,
        )
        parts.append(partial_out(fitter, data, options.method))
    return parts


def _default_vcov(method: str, data: Dataset, parts: Sequence[PartialledOut]) -> str:
    # The covariance of the whole procedure where there is one (docs/decisions/0008).
    if all(part.regression.influence is not None for part in parts):
        return "full"
    if data.groups is not None:
        return "cluster"
    # HC0 is the variance that double machine learning was published with.
    return "HC0" if method in {"dml1", "dml2"} else "HC3"


def _notes(
    data: Dataset, repetitions: Sequence[Folds], of_learner: Sequence[str]
) -> tuple[str, ...]:
    notes = [*data.schema.notes, *(note for note in of_learner if note)]
    if repetitions[0].in_sample:
        notes.append(
            "residuals are in-sample: intervals are too narrow if the learner fits noise; "
            "crossfit='auto' protects against that"
        )
    if data.weights is not None:
        notes.append("rows are weighted")
    if data.D.shape[1] > CROWDED * data.n and data.Z.shape[1]:
        notes.append(
            f"{data.D.shape[1]} coefficients from {data.n} rows: if much of f cannot be learned, "
            "intervals cover less often than they say"
        )
    return tuple(notes)
