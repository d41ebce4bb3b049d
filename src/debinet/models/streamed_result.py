"""From the sums of a streamed fit to everything a result consists of."""

from __future__ import annotations

import numpy as np

from debinet.inference.covariance import LEVERAGE_LIMIT
from debinet.inference.leftover import correlations, function_names
from debinet.inference.methods import MODELS
from debinet.inference.penalty_path import FEWER_FACTORS, CoefficientPath, make_path
from debinet.inference.provenance import Clustered, CrossFitting, Provenance
from debinet.inference.summed import SummedRegression
from debinet.inference.trust_evidence import DeferredEvidence, TrustEvidence
from debinet.models.estimation import ConditionalMeans, Estimation, Options
from debinet.protocols import FloatArray
from debinet.streaming.fit import StreamFit, job_label
from debinet.streaming.layout import Layout
from debinet.streaming.nuisances import GramRows


def streamed_estimation(
    fit: StreamFit, layout: Layout, options: Options, means: ConditionalMeans, source: str
) -> Estimation:
    """Return coefficients, covariances, evidence and provenance of a streamed fit."""
    sums = fit.scores.clusters
    return Estimation(
        regressions=(_regression(fit, layout),),
        means=(means,),
        schema=fit.schema,
        provenance=Provenance(
            model="Partially linear model",
            outcome=layout.outcome,
            source=source,
            controls=len(fit.schema.control_names),
            control_columns=fit.schema.control_column_names,
            learner="TangentNet",
            hidden_units=fit.nuisances.row_map.units.width,
            cross_fitting=CrossFitting("folds", layout.folds, job_label(layout)),
            method=fit.method,
            clusters=None if sums is None else Clustered((sums.labels.size,), layout.groups),
            seed=options.seed,
        ),
        notes=(*fit.schema.notes, *(() if layout.weight is None else ("rows are weighted",))),
        evidence=DeferredEvidence(_evidence(fit)),
        linear=fit.solved.influence is not None,
    )


def _regression(fit: StreamFit, layout: Layout) -> SummedRegression:
    covariances, df = _covariances(fit)
    sample = fit.scores.sample
    values = sample.values[np.argsort(sample.number)]
    R_D, coef = values[:, 1:-1], fit.solved.coef
    return SummedRegression(
        n=fit.n,
        coef=coef,
        gram=fit.gram,
        covariances=covariances,
        df=df,
        top=fit.scores.top / fit.scores.weight,
        top_row=fit.scores.top_row.astype(np.int64),
        R_y=values[:, 0] + R_D @ coef,
        R_D=R_D,
        weights=None if layout.weight is None else values[:, -1],
    )


def _covariances(fit: StreamFit) -> tuple[dict[str, FloatArray], dict[str, float]]:
    """Return covariances of the coefficients, as covariance.py does."""
    n, q, scores = fit.n, fit.solved.coef.size, fit.scores
    found = {
        "iid": _equal_variances(fit),
        "HC0": scores.HC0,
        "HC1": n / (n - q) * scores.HC0,
    }
    if scores.leverage <= LEVERAGE_LIMIT:
        found |= {"HC2": scores.HC2, "HC3": scores.HC3}
    linear = fit.solved.influence is not None
    if linear:
        found["full"] = scores.full
    df = dict.fromkeys(found, float(n - q))
    clusters = scores.clusters
    if clusters is not None:
        count = clusters.labels.size
        correction = count / (count - 1) * (n - 1) / (n - q)
        covariance = correction * (clusters.sums.T @ clusters.sums)
        found["cluster"], df["cluster"] = covariance[:q, :q], float(count - 1)
        if linear:
            found["full"], df["full"] = covariance[q : 2 * q, q : 2 * q], float(count - 1)
    if linear and fit.solved.bias is not None:
        found["full"] = found["full"] + fit.solved.bias
    return {kind: np.asarray(value, np.float64) for kind, value in found.items()}, df


def _equal_variances(fit: StreamFit) -> FloatArray:
    """Return the covariance for noise of equal variances, as `covariance.iid` does."""
    solved = fit.solved
    if fit.method in MODELS and solved.influence is not None and solved.noise is not None:
        rows = GramRows(fit.nuisances.G)
        return np.asarray(solved.noise**2 * rows.inner(solved.influence, solved.influence))
    return np.asarray(
        fit.scores.squares / (fit.n - solved.coef.size) * np.linalg.inv(fit.gram), np.float64
    )


def _evidence(fit: StreamFit) -> TrustEvidence:
    nuisances, n = fit.nuisances, fit.n
    rows, weight = GramRows(nuisances.G), nuisances.weight
    held = np.diag(rows.inner(fit.R, fit.R)) / weight
    seen = nuisances.residuals(nuisances.targets(), fit.joint.fit, in_sample=True)
    products = rows.inner(seen, seen)
    in_sample = rows.regress(seen[..., 0], seen[..., 1:])
    left = max(float(products[0, 0] - products[1:, 0] @ in_sample), 0.0) / n
    se = np.sqrt(left * np.diag(np.linalg.inv(products[1:, 1:])))
    return TrustEvidence(
        in_sample=False,
        total=nuisances.row_map.targets.sd**2,
        heldout=held,
        trained=np.diag(products) / weight,
        other_coef=in_sample,
        other_se=se,
        leftover=correlations(fit.scores.dependence, n),
        leftover_names=function_names(fit.schema.control_names),
        leftover_treatments=np.stack(
            [correlations(sums, n) for sums in fit.scores.treatment_dependence]
        ),
        stopping=fit.joint.models[0].diagnostics().stopping,
        path=_penalty_path(fit),
    )


def _penalty_path(fit: StreamFit) -> CoefficientPath | None:
    if not fit.along:
        return None
    coef, scores = fit.solved.coef, fit.scores
    variance = scores.moved
    if scores.clusters is not None:
        variance = (scores.clusters.sums[:, 2 * coef.size :] ** 2).sum(axis=0)
    return make_path(coef, FEWER_FACTORS, fit.along, variance.reshape(len(fit.along), coef.size))
