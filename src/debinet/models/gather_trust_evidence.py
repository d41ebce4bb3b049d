"""Gather the evidence for the trust report: residuals of the other kind, left-over dependence."""

from __future__ import annotations

from typing import Any

import numpy as np

from debinet._random import named_generator
from debinet.data.dataset import Dataset
from debinet.data.folds import Folds
from debinet.exceptions import DebiNetError
from debinet.inference.leftover import correlations, dependence_sums, function_names
from debinet.inference.methods import pooled
from debinet.inference.trust_evidence import TrustEvidence
from debinet.learners.adapter import fit_learner
from debinet.learners.inputs import column_moments
from debinet.models.partialling import Repetition
from debinet.protocols import FloatArray, IntArray

# Rows to train on or to predict for the other kind of residuals: enough for a ratio of variances.
_MOST_ROWS = 1000


def gather(data: Dataset, part: Repetition, folds: Folds, learner: Any, seed: int) -> TrustEvidence:
    """Gather the evidence of the first repetition."""
    own = data.M - part.joint.predictions
    weights = np.ones(len(data.M)) if data.weights is None else data.weights
    mean = np.average(data.M, axis=0, weights=weights)
    if folds.in_sample:
        rows, other = _unseen(data, learner, seed)
    else:
        rows, other = _seen(data, part, folds, seed)
    ours = np.average(own**2, axis=0, weights=weights)
    # A ratio over the same rows, as few rows can have most of the variance.
    found = None if other is None else ours * _ratio(other, own[rows])
    coef, se = _estimate(other, None if data.weights is None else data.weights[rows])
    root = np.sqrt(weights)
    Z = column_moments(data.Z, weights).standardize(data.Z)
    sums = dependence_sums(Z, root * part.regression.residuals, root)
    return TrustEvidence(
        in_sample=folds.in_sample,
        total=np.average((data.M - mean) ** 2, axis=0, weights=weights),
        heldout=found if folds.in_sample else ours,
        trained=ours if folds.in_sample else found,
        other_coef=coef,
        other_se=se,
        leftover=correlations(sums, int(np.count_nonzero(weights))),
        leftover_names=function_names(data.schema.control_names),
        stopping=part.diagnostics.stopping,
        relevance=_relevance(part.diagnostics.relevance),
        relevance_names=data.schema.control_names,
    )


def _relevance(found: FloatArray | None) -> FloatArray | None:
    """Return the weights of the controls, the largest over all outputs, if any were learned."""
    if found is None or (found == 1).all():
        return None
    return np.asarray(found if found.ndim == 1 else found.max(axis=1))


def _ratio(residuals: FloatArray, others: FloatArray) -> FloatArray:
    """Return the ratio of mean squares, 1 where both are zero."""
    one, other = (residuals**2).mean(axis=0), (others**2).mean(axis=0)
    return np.asarray(np.divide(one, other, out=np.ones_like(one), where=other > 0))


def _unseen(data: Dataset, learner: Any, seed: int) -> tuple[IntArray, FloatArray | None]:
    """Return residuals of rows that a fit to other rows had not seen; none if impossible."""
    order = named_generator(seed, "halves").permutation(len(data.M))
    size = min(len(order) // 2, _MOST_ROWS)
    train, test = order[:size], order[-size:]
    weights = None if data.weights is None else data.weights[train]
    try:
        fit = fit_learner(learner, data.Z[train], data.M[train], seed=seed, weights=weights)
        return test, data.M[test] - fit.predict(data.Z[test])
    except DebiNetError:
        return test, None


def _seen(
    data: Dataset, part: Repetition, folds: Folds, seed: int
) -> tuple[IntArray, FloatArray | None]:
    """Return residuals of rows that the first model of cross-fitting was trained on."""
    rows = np.arange(len(data.M)) if folds.singletons else folds.blocks[0].train(len(data.M))
    if len(part.joint.models) == 1:
        rows = np.arange(len(data.M))
    rows = named_generator(seed, "rows").permutation(rows)[:_MOST_ROWS]
    return rows, data.M[rows] - part.joint.models[0].predict(data.Z[rows])


def _estimate(
    residuals: FloatArray | None, weights: FloatArray | None
) -> tuple[FloatArray | None, FloatArray | None]:
    """Return coefficients of least squares on residuals and their HC0 standard errors."""
    if residuals is None or len(residuals) <= 2 * residuals.shape[1]:
        return None, None
    R_D = residuals[:, 1:]
    if np.linalg.matrix_rank(R_D) < R_D.shape[1]:
        return None, None
    fit = pooled(residuals[:, 0], R_D, weights)
    influence = (fit.w * fit.residuals)[:, None] * R_D @ fit.bread
    return fit.coef, np.sqrt((influence**2).sum(axis=0))
