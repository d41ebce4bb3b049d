"""The initial Lasso: its penalty, its coefficients and the noise level."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from debinet.desparsified import penalties
from debinet.desparsified.design import Design
from debinet.desparsified.training import Fold, training_gram
from debinet.protocols import FloatArray

WORDS = ("cv", "universal", "scaled")
GRID = 60
# The noise level has converged when it moves by less than this share of itself.
SETTLED = 1e-8
STEPS = 100
PATIENCE = 8


@dataclass(frozen=True)
class LassoFit:
    """A Lasso of y on the standardized columns.

    Attributes
    ----------
    coef : FloatArray of shape (p,)
        Of the standardized columns.
    penalty : float
        In scikit-learn's scale.
    residuals : FloatArray of shape (n,)
        `y - X coef`.
    """

    coef: FloatArray
    penalty: float
    residuals: FloatArray

    @property
    def size(self) -> int:
        """Number of coefficients that are not zero."""
        return int(np.count_nonzero(self.coef))

    @property
    def df(self) -> int:
        """Rows less coefficients and intercept, at least one."""
        return max(1, self.residuals.size - 1 - self.size)

    @property
    def sigma(self) -> float:
        """Noise level, `sqrt(|residuals|^2 / df)`."""
        return float(np.sqrt(self.residuals @ self.residuals / self.df))


def fit_lasso(
    design: Design, gram: FloatArray, penalty: float, start: FloatArray | None = None
) -> LassoFit:
    """Solve the Lasso at one penalty."""
    from debinet.desparsified.kernels import TOLERANCE, solve_lasso

    coef = np.zeros(design.p) if start is None else start.copy()
    if not solve_lasso(gram, design.target, -1, penalty, coef, np.empty(design.p), TOLERANCE):
        warnings.warn(
            f"The Lasso has not converged at penalty {penalty:g}: use a larger one.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return LassoFit(coef, penalty, design.residual(coef))


def scaled_lasso(design: Design, gram: FloatArray, factor: float) -> LassoFit:
    """Find noise level and coefficients together: `penalty = factor sigma` (Sun and Zhang 2012).

    `sigma^2 = |residuals|^2 / n` during the iteration, whose limit minimises one convex function;
    the degrees of freedom enter afterwards, in `LassoFit.sigma`.
    """
    sigma = float(np.sqrt(design.y @ design.y / design.n))
    fit = fit_lasso(design, gram, factor * sigma)
    for _ in range(STEPS):
        before, sigma = sigma, float(np.sqrt(np.mean(fit.residuals**2)))
        if abs(sigma - before) <= SETTLED * before or sigma == 0.0:
            break
        fit = fit_lasso(design, gram, factor * sigma, fit.coef)
    return fit


def initial_lasso(
    rule: Any, design: Design, gram: FloatArray, sigma: float, folds: tuple[Fold, ...]
) -> LassoFit:
    """Fit the Lasso that is to be debiased, its penalty by the rule the user named."""
    if isinstance(rule, str) and rule == "scaled":
        return scaled_lasso(design, gram, penalties.quantile(design.n, design.p))
    if isinstance(rule, str) and rule == "universal":
        return fit_lasso(design, gram, sigma * penalties.universal(design.n, design.p))
    if isinstance(rule, str) and rule == "cv":
        return fit_lasso(design, gram, _cross_validated(design, gram, folds))
    return fit_lasso(design, gram, penalties.require_positive(rule, "penalty", WORDS))


def _cross_validated(design: Design, gram: FloatArray, folds: tuple[Fold, ...]) -> float:
    """Return the penalty of least held-out error, between the largest of use and a hundredth."""
    largest = float(np.abs(design.target).max())
    grid = np.geomspace(largest, largest / 100, GRID)
    errors = np.zeros(0)
    for fold in folds:
        along = _heldout_errors(design, gram, fold, grid[: errors.size or GRID])
        errors = along if not errors.size else errors[: along.size] + along
    return float(grid[errors.argmin()])


def _heldout_errors(design: Design, gram: FloatArray, fold: Fold, grid: FloatArray) -> FloatArray:
    """Return squared errors along a grid, as far as it makes sense to follow it.

    Once the error has not fallen for `PATIENCE` penalties, the path leads on to fits that
    interpolate, which cost most and predict worst.
    """
    from debinet.desparsified.kernels import ROUGH, solve_lasso

    training, mean = training_gram(design.X, gram, fold)
    y = design.y[fold.trained]
    target = design.X[:, fold.trained] @ (y - y.mean()) / fold.trained.size
    coef, gradient = np.zeros(design.p), np.empty(design.p)
    errors: list[float] = []
    for penalty in grid:
        solve_lasso(training, target, -1, penalty, coef, gradient, ROUGH)
        support = np.flatnonzero(coef)
        columns = design.X[np.ix_(support, fold.held)] - mean[support, None]
        left = design.y[fold.held] - y.mean() - coef[support] @ columns
        errors.append(float(left @ left))
        if len(errors) - 1 - int(np.argmin(errors)) >= PATIENCE:
            break
    return np.array(errors)
