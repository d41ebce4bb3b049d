"""Partialling out: cross-fit `E([y, D] | Z)`, form residuals, solve for the coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from debinet.data.checks import dependent_columns
from debinet.data.dataset import Dataset
from debinet.data.folds import Folds
from debinet.exceptions import CollinearError, OptionError
from debinet.inference.methods import MIXED, WeightedRows, solve
from debinet.inference.regression import ResidualRegression
from debinet.learners.crossfitting import CrossFitted, CrossFitter
from debinet.models.estimation import ConditionalMeans
from debinet.protocols import Diagnostics, FloatArray


@dataclass(frozen=True)
class Repetition:
    """One repetition of cross-fitting, solved.

    Attributes
    ----------
    regression : ResidualRegression
        Residuals of all n rows and the coefficients.
    joint : CrossFitted
        Of y and D.
    diagnostics : Diagnostics
        Of the models behind `joint`.
    means : ConditionalMeans
    """

    regression: ResidualRegression
    joint: CrossFitted
    diagnostics: Diagnostics
    means: ConditionalMeans


def partial_out(fitter: CrossFitter, data: Dataset, method: str) -> Repetition:
    """Run one repetition of the procedure named by `method`."""
    joint = fitter.hold_out(data.M, "joint")
    diagnostics = fitter.diagnostics(joint)
    M = data.M
    R = M - joint.predictions
    _require_identified(R[:, 1:], data)
    pilot = fitter.gls(data.y, data.D) if method in MIXED else None
    rows = WeightedRows(data.weights, [fold.test for fold in fitter.folds])
    solved = solve(method, fitter, rows, M, R, pilot=pilot)
    noise = diagnostics.noise_variance if len(joint.models) == 1 else None
    apart = method in {"robinson", "three-step", "dml2"}
    regression = ResidualRegression(
        solved.R_y,
        R[:, 1:],
        solved.coef,
        data.weights,
        influence=solved.influence,
        least_squares=method != "gls",
        noise=solved.noise,
        D_noise=noise[1:] if apart and noise is not None else None,
        regressors=data.D if method == "iv-type" else None,
    )
    g = None if solved.g is None else solved.g.average
    means = ConditionalMeans(joint.average, g, solved.pilot)
    return Repetition(regression, joint, diagnostics, means)


def _require_identified(R_D: FloatArray, data: Dataset) -> None:
    """Require residuals of every treatment that are not negligible on its own scale."""
    weights, names = data.weights, data.schema.treatment_names
    rows = 1.0 if weights is None else np.sqrt(weights / weights.mean())[:, None]
    dependent = dependent_columns(rows * R_D / data.D.std(axis=0))
    if dependent:
        listed = ", ".join(repr(names[j]) for j in dependent[:5])
        raise CollinearError(
            "treatments that vary given the controls and each other",
            f"no variation of {listed} left after subtracting the learner's predictions from Z",
            "Drop those treatments, or the controls that determine them; if residuals are "
            "in-sample (crossfit=None) and the learner fits every row, use crossfit='auto'.",
        )


def require_folds(method: str, repetitions: Sequence[Folds]) -> None:
    """Require folds that the method can use."""
    if method in {"dml1", "dml2", "iv-type"} and repetitions[0].in_sample:
        raise OptionError(
            f"cross-fitting, which is what method={method!r} means",
            "crossfit=None",
            "Use crossfit=5, or method='robinson' for in-sample residuals.",
        )
