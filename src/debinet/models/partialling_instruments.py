"""Partialling out with instruments: cross-fit `E([y, D, W] | Z)`, then a k-class estimate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from debinet.data.dataset import Dataset
from debinet.data.folds import no_folds
from debinet.data.instruments import Instruments
from debinet.inference.instrumented import InstrumentedRegression
from debinet.inference.k_class import k_class
from debinet.inference.left_out_instruments import left_out_fit
from debinet.learners.crossfitting import CrossFitter
from debinet.models.estimation import ConditionalMeans
from debinet.models.partialling import Repetition, counts_intercept, require_identified
from debinet.protocols import FloatArray


def partial_out_instruments(
    fitter: CrossFitter, data: Dataset, instruments: Instruments, method: str
) -> Repetition:
    """Run one repetition of a k-class estimate on held-out residuals."""
    joint = fitter.hold_out(data.M, "joint")
    intercept = counts_intercept(fitter, method)
    # Without controls, deviations from the means of all rows, whatever the folds.
    means_of_all = replace(fitter, folds=no_folds(data.n)) if intercept else None
    held = joint if means_of_all is None else means_of_all.hold_out(data.M)
    R = data.M - held.predictions
    q = data.D.shape[1]
    require_identified(R[:, 1 : 1 + q], data.D, data.schema.treatment_names, data.weights)
    require_identified(
        R[:, 1 + q :], instruments.values, instruments.names, data.weights, "instruments"
    )
    regression = regress_with_instruments(R, instruments, method, data.weights, intercept=intercept)
    means = ConditionalMeans(joint.average, instruments=len(instruments.names))
    return Repetition(regression, joint, fitter.diagnostics(joint), means)


def regress_with_instruments(
    R: FloatArray,
    instruments: Instruments,
    method: str,
    weights: FloatArray | None,
    *,
    intercept: bool = False,
) -> InstrumentedRegression:
    """Return the estimate from residuals `[R_y, R_D, R_W]`, of shape (n, 1 + q + k)."""
    endogenous = instruments.endogenous
    q = endogenous.size
    R_y, R_D, R_W = R[:, 0], R[:, 1 : 1 + q], R[:, 1 + q :]
    w = np.ones(len(R)) if weights is None else weights
    used = w > 0
    left_out = None
    if method == "jive":
        left_out = np.zeros((len(R), int(endogenous.sum())))
        left_out[used] = left_out_fit(R_D[used], R_W[used], endogenous, w[used])
    root = np.sqrt(w[used])[:, None]
    D, W = root * R_D[used], root * (R_W if left_out is None else left_out)[used]
    found = k_class(root[:, 0] * R_y[used], D, W, endogenous, method, lost=int(intercept))
    return InstrumentedRegression(
        R_y, R_D, R_W, endogenous, found.coef, found.kappa, weights, left_out, intercept
    )
