"""Partialling out: cross-fit `E([y, D] | Z)`, form residuals, solve for the coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from debinet.data.checks import dependent_columns
from debinet.data.dataset import Dataset
from debinet.data.folds import Folds, no_folds
from debinet.exceptions import CollinearError, OptionError
from debinet.inference.instrumented import InstrumentedRegression
from debinet.inference.methods import MODELS, Solved, WeightedRows, first_estimate, solve
from debinet.inference.penalty_path import (
    FACTORS,
    FEWER_FACTORS,
    MOST_ROWS,
    CoefficientPath,
    difference_variance,
    make_path,
    solve_along,
)
from debinet.inference.regression import ResidualRegression
from debinet.learners.crossfitting import CrossFitted, CrossFitter, count_refits
from debinet.learners.mean import MeanLearner
from debinet.models.estimation import ConditionalMeans
from debinet.protocols import Diagnostics, FloatArray

# How often the methods hold targets out, for progress; those that are not listed do so once.
_TIMES = {"structured": 3, "three-step": 2, "iv-type": 2}
# Methods that are double machine learning as published, whatever the learner.
PUBLISHED = frozenset({"dml1", "dml2", "iv-type"})
# Share of a treatment that must be left once the others are subtracted. Standard errors rest on
# normal equations, which square it: at 1e-6 they depend on the twelfth digit of the data, and
# beyond that on rounding errors. A correlation of 0.999 leaves 0.045.
_LEAST_OWN = 1e-6


@dataclass(frozen=True)
class Repetition:
    """One repetition of cross-fitting, solved.

    Attributes
    ----------
    regression : ResidualRegression or InstrumentedRegression
        Residuals of all n rows and the coefficients.
    joint : CrossFitted
        Of y and D.
    diagnostics : Diagnostics
        Of the models behind `joint`.
    means : ConditionalMeans
    path : CoefficientPath, optional
        The coefficients along the penalty, where they are linear in y and residuals held out.
    """

    regression: ResidualRegression | InstrumentedRegression
    joint: CrossFitted
    diagnostics: Diagnostics
    means: ConditionalMeans
    path: CoefficientPath | None = None


def partial_out(
    fitter: CrossFitter, data: Dataset, method: str, *, with_path: bool = False
) -> Repetition:
    """Run one repetition of the procedure named by `method`, with its penalty path if wanted."""
    joint = fitter.hold_out(data.M, "joint")
    diagnostics = fitter.diagnostics(joint)
    M = data.M
    intercept = counts_intercept(fitter, method)
    if intercept:
        # Ordinary least squares: deviations from the means of all rows, whatever the folds.
        fitter = replace(fitter, folds=no_folds(len(M)))
    R = M - (fitter.hold_out(M) if intercept else joint).predictions
    require_identified(R[:, 1:], data.D, data.schema.treatment_names, data.weights)
    pilot = first_estimate(method, fitter, M)
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
        least_squares=method not in MODELS,
        noise=solved.noise,
        bias=solved.bias,
        D_noise=noise[1:] if apart and noise is not None else None,
        regressors=data.D if method == "iv-type" else None,
        intercept=intercept,
    )
    g = None if solved.g is None else solved.g.average
    means = ConditionalMeans(joint.average, g, solved.pilot)
    path = None
    if with_path and not fitter.folds.in_sample and regression.influence is not None:
        # in-sample residuals would vanish along the path
        factors = _path_factors(method, fitter, data)
        along = solve_along(method, fitter, rows, M, factors, joint=joint, pilot=pilot)
        path = _penalty_path(factors, along, data, regression) if along else None
    return Repetition(regression, joint, diagnostics, means, path)


def _path_factors(method: str, fitter: CrossFitter, data: Dataset) -> tuple[float, ...]:
    cheap = fitter.folds.singletons and data.n <= MOST_ROWS
    return FACTORS if cheap and method != "joint" else FEWER_FACTORS


def _penalty_path(
    factors: Sequence[float],
    along: tuple[Solved, ...],
    data: Dataset,
    regression: ResidualRegression,
) -> CoefficientPath:
    """Return the coefficients along the penalty."""
    influence = regression.influence
    assert influence is not None
    variance = difference_variance(influence, regression.residuals, along, data.groups)
    return make_path(regression.coef, factors, along, variance)


def count_fits(learner: Any, repetitions: Sequence[Folds], method: str) -> int:
    """Return how many fits of the learner all repetitions take; 0 if it has a closed form."""
    return _TIMES.get(method, 1) * sum(count_refits(learner, folds) for folds in repetitions)


def counts_intercept(fitter: CrossFitter, method: str) -> bool:
    """Return whether the learner's means are an intercept, as in ordinary least squares."""
    return isinstance(fitter.learner, MeanLearner) and method not in PUBLISHED


def require_identified(
    R: FloatArray,
    columns: FloatArray,
    names: Sequence[str],
    weights: FloatArray | None,
    role: str = "treatments",
) -> None:
    """Require residuals of treatments or instruments that neither Z nor the others determine.

    Parameters
    ----------
    R : FloatArray of shape (n, c)
        The residuals.
    columns : FloatArray of shape (n, c)
        What they are residuals of.
    names : sequence of str
    weights : FloatArray of shape (n,), optional
    role : str
        What errors call them.
    """
    rows = 1.0 if weights is None else np.sqrt(weights / weights.mean())[:, None]
    left = rows * R
    dependent = dependent_columns(left / columns.std(axis=0))
    if dependent:
        listed = ", ".join(repr(names[j]) for j in dependent[:5])
        raise CollinearError(
            f"{role} that vary given the controls and each other",
            f"no variation of {listed} left after subtracting the learner's predictions from Z",
            f"Drop those {role}, or the controls that determine them; if residuals are "
            "in-sample (crossfit=None) and the learner fits every row, use crossfit='auto'.",
        )
    # The mixed models use D itself, whose sums can be exact where those of residuals are not.
    parts = (left, rows * (columns - np.average(columns, axis=0, weights=weights)))
    dependent = [
        j
        for part in parts
        for j in dependent_columns(part / np.sqrt((part**2).mean(axis=0)), _LEAST_OWN)
    ]
    if dependent:
        listed = ", ".join(repr(names[j]) for j in sorted(set(dependent))[:5])
        raise CollinearError(
            f"{role} that differ by more than rounding errors, given the controls",
            f"{listed} determined by the other {role} to {-np.log10(_LEAST_OWN):.0f} digits",
            f"Leave out one of the {role} that are almost copies or sums of each other, or "
            "replace them by their differences.",
        )


def require_folds(method: str, repetitions: Sequence[Folds]) -> None:
    """Require folds that the method can use."""
    if method in PUBLISHED and repetitions[0].in_sample:
        raise OptionError(
            f"cross-fitting, which is what method={method!r} means",
            "crossfit=None",
            "Use crossfit=5, or method='robinson' for in-sample residuals.",
        )
