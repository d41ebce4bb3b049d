"""The initial Lasso, and the noise level that the scaled Lasso estimates."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from debinet.data.checks import LARGEST
from debinet.data.folds import Fold
from debinet.data.options import positive_number
from debinet.desparsified import penalties
from debinet.desparsified.gram import training_gram
from debinet.protocols import FloatArray
from debinet.selection.problem import LinearProblem

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
        On scikit-learn's scale.
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
        """Rows minus nonzero coefficients and intercept, at least one."""
        return max(1, self.residuals.size - 1 - self.size)

    @property
    def sigma(self) -> float:
        """Noise level, `sqrt(|residuals|^2 / df)`."""
        return float(np.sqrt(self.residuals @ self.residuals / self.df))


def fit_lasso(
    problem: LinearProblem, gram: FloatArray, penalty: float, start: FloatArray | None = None
) -> LassoFit:
    """Solve the Lasso at one penalty."""
    from debinet.solvers.coordinate_descent import TOLERANCE, solve_lasso

    coef = np.zeros(problem.p) if start is None else start.copy()
    if not solve_lasso(gram, _target(problem), -1, penalty, coef, np.empty(problem.p), TOLERANCE):
        warnings.warn(
            f"The Lasso has not converged at penalty {penalty:g}: use a larger one.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return LassoFit(coef, penalty, problem.residual(coef))


def scaled_lasso(problem: LinearProblem, gram: FloatArray, factor: float) -> LassoFit:
    """Find noise level and coefficients together: `penalty = factor sigma` (Sun and Zhang 2012).

    `sigma^2 = |residuals|^2 / n` during the iteration, whose limit minimises one convex function;
    the degrees of freedom enter afterwards, in `LassoFit.sigma`.
    """
    sigma = float(np.sqrt(problem.y @ problem.y / problem.n))
    fit = fit_lasso(problem, gram, factor * sigma)
    for _ in range(STEPS):
        before, sigma = sigma, float(np.sqrt(np.mean(fit.residuals**2)))
        if abs(sigma - before) <= SETTLED * before or sigma == 0.0:
            break
        fit = fit_lasso(problem, gram, factor * sigma, fit.coef)
    return fit


@dataclass(frozen=True)
class NoiseLevel:
    """Noise of a regression.

    Attributes
    ----------
    sigma : float
        Standard deviation.
    df : float
        Degrees of freedom: rows minus intercept and nonzero coefficients; all rows if sigma is
        known.
    """

    sigma: float
    df: float


def noise_level(rule: Any, problem: LinearProblem, gram: FloatArray) -> NoiseLevel:
    """Estimate the noise level by the scaled Lasso, or take the user's.

    At the quantile penalty of Sun and Zhang (2013): the universal one shrinks so much that the
    noise level comes out too large, by 7 % against 2 % in the simulation of `tests/simulation`.
    """
    if isinstance(rule, str) and rule == "scaled":
        fit = scaled_lasso(problem, gram, penalties.quantile(problem.n, problem.p))
        return NoiseLevel(fit.sigma, float(fit.df))
    known = positive_number("noise", rule, LARGEST, words=["scaled"])
    return NoiseLevel(known, float(problem.n))


def initial_lasso(
    rule: Any, problem: LinearProblem, gram: FloatArray, sigma: float, folds: tuple[Fold, ...]
) -> LassoFit:
    """Fit the Lasso that is to be debiased, with the penalty that the user's rule gives."""
    word = rule if isinstance(rule, str) else None
    if word == "scaled":
        return scaled_lasso(problem, gram, penalties.quantile(problem.n, problem.p))
    if word == "universal":
        penalty = sigma * penalties.universal(problem.n, problem.p)
    elif word == "cv":
        penalty = _cross_validated(problem, gram, folds)
    else:
        penalty = positive_number("penalty", rule, words=WORDS)
    return fit_lasso(problem, gram, penalty)


def _cross_validated(problem: LinearProblem, gram: FloatArray, folds: tuple[Fold, ...]) -> float:
    """Return the penalty of least held-out error, from the largest useful one to a hundredth."""
    largest = float(np.abs(_target(problem)).max())
    grid = np.geomspace(largest, largest / 100, GRID)
    errors = np.zeros(0)
    for fold in folds:
        along = _heldout_errors(problem, gram, fold, grid[: errors.size or GRID])
        errors = along if not errors.size else errors[: along.size] + along
    return float(grid[errors.argmin()])


def _heldout_errors(
    problem: LinearProblem, gram: FloatArray, fold: Fold, grid: FloatArray
) -> FloatArray:
    """Return squared errors along a grid, up to where it stops.

    It stops when the error has not fallen for `PATIENCE` penalties: beyond are nearly
    interpolating fits, which cost most and predict worst.
    """
    from debinet.desparsified.kernels import ROUGH
    from debinet.solvers.coordinate_descent import solve_lasso

    training, mean = training_gram(problem.X, gram, fold)
    trained = fold.train(problem.n)
    y = problem.y[trained]
    target = problem.X.T[:, trained] @ (y - y.mean()) / trained.size
    coef, gradient = np.zeros(problem.p), np.empty(problem.p)
    errors: list[float] = []
    for penalty in grid:
        solve_lasso(training, target, -1, penalty, coef, gradient, ROUGH)
        support = np.flatnonzero(coef)
        columns = problem.X.T[np.ix_(support, fold.test)] - mean[support, None]
        left = problem.y[fold.test] - y.mean() - coef[support] @ columns
        errors.append(float(left @ left))
        if len(errors) - 1 - int(np.argmin(errors)) >= PATIENCE:
            break
    return np.array(errors)


def _target(problem: LinearProblem) -> FloatArray:
    """Return `X'y / n`, of shape (p,)."""
    return np.asarray(problem.X.T @ problem.y) / problem.n
