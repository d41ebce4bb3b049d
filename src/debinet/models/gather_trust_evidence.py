"""Gather the evidence for the trust report: residuals of the other kind, left-over dependence."""

from __future__ import annotations

from typing import Any

import numpy as np

from debinet._random import named_generator
from debinet.data.dataset import Dataset
from debinet.data.folds import Folds, k_folds, leave_one_out
from debinet.data.instruments import Instruments
from debinet.exceptions import CollinearError, DebiNetError
from debinet.inference.instrumented import InstrumentedRegression
from debinet.inference.leftover import correlations, dependence_sums, function_names
from debinet.inference.methods import pooled
from debinet.inference.overlap import Overlap, measure_overlap
from debinet.inference.regression import ResidualRegression
from debinet.inference.rough_bias import RoughBias, rough_bias
from debinet.inference.trust_evidence import TrustEvidence
from debinet.learners.crossfitting import has_closed_form, make_cross_fitter
from debinet.learners.inputs import column_moments
from debinet.models.partialling import Repetition
from debinet.models.partialling_instruments import regress_with_instruments
from debinet.protocols import BoolArray, FloatArray


def gather(data: Dataset, part: Repetition, folds: Folds, learner: Any, seed: int) -> TrustEvidence:
    """Gather the evidence of the first repetition."""
    # Without instruments, of which the report has other checks.
    q = data.D.shape[1]
    residuals = data.M - part.joint.predictions
    own, targets = residuals[:, : 1 + q], data.M[:, : 1 + q]
    weights = np.ones(len(data.M)) if data.weights is None else data.weights
    mean = np.average(targets, axis=0, weights=weights)
    all_other = _unseen(data, learner, seed) if folds.in_sample else _seen(data, part, folds)
    other = None if all_other is None else all_other[:, : 1 + q]
    stopping = part.diagnostics.stopping
    regression = part.regression.all_rows("the trust report")
    ours = np.average(own**2, axis=0, weights=weights)
    theirs = None if other is None else _mean_squares(own, other, weights)
    coef, se = _estimate(all_other, weights, data.instruments, part.regression)
    root = np.sqrt(weights)
    Z = column_moments(data.Z, weights).standardize(data.Z)
    n = int(np.count_nonzero(weights))
    leftover, *of_treatments = (
        correlations(dependence_sums(Z, root * column, root), n)
        for column in (regression.residuals, *regression.R_D.T)
    )
    return TrustEvidence(
        in_sample=folds.in_sample,
        total=np.average((targets - mean) ** 2, axis=0, weights=weights),
        heldout=theirs if folds.in_sample else ours,
        trained=ours if folds.in_sample else theirs,
        other_coef=coef,
        other_se=se,
        leftover=leftover,
        leftover_treatments=np.stack(of_treatments),
        leftover_names=function_names(data.schema.control_names),
        stopping=None if stopping is None else stopping.first(1 + q),
        relevance=_relevance(part.diagnostics.relevance),
        relevance_names=data.schema.control_names,
        path=part.path,
        overlap=_overlap(data, own, other, weights, folds),
        rough=None if folds.in_sample else _rough(data, part, weights),
    )


def _rough(data: Dataset, part: Repetition, weights: FloatArray) -> RoughBias | None:
    """Return the bias by functions of single controls, of the rows that count."""
    regression, used = part.regression.all_rows("the trust report"), weights > 0
    influence = regression.influence
    if influence is None:
        influence = weights[:, None] * regression.R_D @ regression.bread
    names = data.schema.control_names
    if not names:
        return None
    return rough_bias(data.Z[used], influence[used], regression.residuals[used], names)


def _relevance(found: FloatArray | None) -> FloatArray | None:
    """Return the weights of the controls, the largest over all outputs, if any were learned."""
    if found is None or (found == 1).all():
        return None
    return np.asarray(found if found.ndim == 1 else found.max(axis=1))


def _unseen(data: Dataset, learner: Any, seed: int) -> FloatArray | None:
    """Return residuals (n, m) of all rows that were held out; none if that is impossible.

    Exact leave-one-out where the learner has it, otherwise two folds, which cost about one fit.
    """
    try:
        fitter = make_cross_fitter(
            learner,
            data.Z,
            data.M,
            _folds(data, learner, seed),
            seed=seed,
            weights=data.weights,
            groups=data.groups,
            name="joint",
        )
        return np.asarray(data.M - fitter.hold_out(data.M, "joint").predictions)
    except DebiNetError:
        return None


def _folds(data: Dataset, learner: Any, seed: int) -> Folds:
    one_way = data.groups is None or data.groups.shape[1] == 1
    if has_closed_form(learner) and one_way:
        return leave_one_out(data.n, data.groups)
    return k_folds(data.n, 2, named_generator(seed, "halves"), data.groups)


def _seen(data: Dataset, part: Repetition, folds: Folds) -> FloatArray:
    """Return residuals (n, m) from models that were trained on the row.

    Of every row by the first such model, so that all rows are predicted once; NaN if there is none.
    """
    models, n = part.joint.models, len(data.M)
    if len(models) == 1:
        return np.asarray(data.M - models[0].predict(data.Z))
    out = np.full(data.M.shape, np.nan)
    waiting: BoolArray = np.ones(n, dtype=np.bool_)
    for model, fold in zip(models, folds, strict=True):
        rows = fold.train(n)
        rows = rows[waiting[rows]]
        if rows.size:
            out[rows] = data.M[rows] - model.predict(data.Z[rows])
            waiting[rows] = False
        if not waiting.any():
            break
    return out


def _mean_squares(own: FloatArray, other: FloatArray, weights: FloatArray) -> FloatArray:
    """Return mean squares (m,) of other residuals; rows without one are as the rest is."""
    known = np.isfinite(other).all(axis=1)
    sums = [weights[known] @ part[known] ** 2 for part in (other, own)]
    ratio = np.divide(sums[0], sums[1], out=np.ones_like(sums[0]), where=sums[1] > 0)
    return np.asarray(ratio * np.average(own**2, axis=0, weights=weights))


def _estimate(
    residuals: FloatArray | None,
    weights: FloatArray,
    instruments: Instruments | None,
    own: ResidualRegression | InstrumentedRegression,
) -> tuple[FloatArray | None, FloatArray | None]:
    """Return coefficients of least squares, or two-stage, on residuals and HC0 standard errors."""
    if residuals is None:
        return None, None
    used = np.isfinite(residuals).all(axis=1) & (weights > 0)
    if isinstance(own, InstrumentedRegression) and instruments is not None:
        return _estimate_with_instruments(residuals[used], weights[used], instruments, own)
    R_y, R_D, w = residuals[used, 0], residuals[used, 1:], weights[used]
    if len(R_D) <= 2 * residuals.shape[1] or np.linalg.matrix_rank(R_D) < R_D.shape[1]:
        return None, None
    fit = pooled(R_y, R_D, w)
    influence = (fit.w * fit.residuals)[:, None] * R_D @ fit.bread
    return fit.coef, np.sqrt((influence**2).sum(axis=0))


def _estimate_with_instruments(
    residuals: FloatArray,
    weights: FloatArray,
    instruments: Instruments,
    own: InstrumentedRegression,
) -> tuple[FloatArray | None, FloatArray | None]:
    """Return the same by the method of the result, if the other residuals identify anything."""
    method = "2sls" if own.kappa == 1 else "liml"
    if own.left_out is not None:
        method = "jive"
    try:
        fit = regress_with_instruments(residuals, instruments, method, weights)
    except (CollinearError, np.linalg.LinAlgError):
        return None, None
    return fit.coef, np.sqrt(np.diag(fit.covariance("HC0", None)))


def _overlap(
    data: Dataset, own: FloatArray, other: FloatArray | None, weights: FloatArray, folds: Folds
) -> tuple[Overlap, ...] | None:
    """Return the overlap by held-out predictions, if they are known."""
    held = other if folds.in_sample else own
    return None if held is None else measure_overlap(data.D, held[:, 1:], weights)
