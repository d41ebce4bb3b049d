"""The penalty: given, from theory, or by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from debinet._random import RandomState, named_generator, root_seed
from debinet.data.folds import Fold, k_folds
from debinet.data.options import positive_number
from debinet.protocols import FloatArray
from debinet.selection.plugin import plugin_penalty
from debinet.selection.problem import LinearProblem
from debinet.selection.regularizer import PathSolver, Regularizer

FOLDS = 5
# Held-out errors need less precision than the final fit; scikit-learn's LassoCV uses 2e-4.
TOLERANCE = 1e-4
AT_A_TIME = 2
# The path ends when the error has not fallen for so many penalties: what follows is overfitted and
# the most expensive part.
PATIENCE = 6
WORDS = ("cv", "cv-1se", "plugin")
PER_DECADE = 20
# Cross-validation usually stops early; models with many effects need the small penalties.
DECADES_OF_CROSS_VALIDATION = 4


@dataclass(frozen=True)
class CrossValidation:
    """Held-out error along a path.

    Attributes
    ----------
    penalties : FloatArray of shape (g,)
        Decreasing, down to where the path was stopped.
    error : FloatArray of shape (g,)
        Mean squared error of held-out rows.
    se : FloatArray of shape (g,)
        Its standard error, from the folds.
    """

    penalties: FloatArray
    error: FloatArray
    se: FloatArray

    @property
    def best(self) -> float:
        """The penalty of least error; the larger one if two are equal."""
        return float(self.penalties[self.error.argmin()])

    @property
    def simplest(self) -> float:
        """The largest penalty whose error is within one standard error of the least."""
        least = self.error.argmin()
        return float(self.penalties[(self.error <= self.error[least] + self.se[least]).argmax()])


@dataclass(frozen=True)
class _HeldOutFold:
    """A solver for the rows outside a fold, and the fold, centred by the means of those rows."""

    solver: PathSolver
    X: FloatArray
    y: FloatArray

    def errors(self, penalties: FloatArray, tol: float) -> FloatArray:
        """Return sums of squares (g,) over the held-out rows."""
        coefs = self.solver.solve(penalties, tol).coefs
        return np.asarray(((self.y[:, None] - self.X @ coefs.T) ** 2).sum(axis=0))


def cross_validate(
    regularizer: Regularizer,
    problem: LinearProblem,
    penalties: FloatArray,
    rng: np.random.Generator,
    tol: float,
) -> CrossValidation:
    """Follow the paths of all folds together until the error has stopped falling."""
    n = problem.y.size
    folds = k_folds(n, min(FOLDS, n), rng)
    held = [_hold_out(regularizer, problem, fold) for fold in folds]
    sizes = np.array([part.y.size for part in held])
    sums = np.empty((0, len(held)))
    for start in range(0, penalties.size, AT_A_TIME):
        chunk = penalties[start : start + AT_A_TIME]
        errors = [part.errors(chunk, max(tol, TOLERANCE)) for part in held]
        sums = np.vstack([sums, np.column_stack(errors)])
        if sums.shape[0] - 1 - sums.sum(axis=1).argmin() >= PATIENCE:
            break
    means = sums / sizes
    se = means.std(axis=1, ddof=1) / np.sqrt(len(held))
    return CrossValidation(penalties[: sums.shape[0]], sums.sum(axis=1) / n, se)


def _hold_out(regularizer: Regularizer, problem: LinearProblem, fold: Fold) -> _HeldOutFold:
    train = fold.train(problem.y.size)
    X, y = problem.X[train], problem.y[train]
    centre, mean = X.mean(axis=0), y.mean()
    solver = regularizer.on(np.asfortranarray(X - centre), y - mean)
    return _HeldOutFold(solver, problem.X[fold.test] - centre, problem.y[fold.test] - mean)


@dataclass(frozen=True)
class PenaltyChoice:
    """How the penalty was chosen.

    Attributes
    ----------
    rule : {"given", "cv", "cv-1se", "plugin"}
    penalty : float
    cross_validation : CrossValidation, optional
        Held-out errors, for the rules that have them.
    noise : float, optional
        Standard deviation of the noise, for the rule `"plugin"`.
    """

    rule: str
    penalty: float
    cross_validation: CrossValidation | None = None
    noise: float | None = None


def read_penalty(penalty: Any) -> str | float:
    """Require a positive number or a known word."""
    if isinstance(penalty, str) and penalty in WORDS:
        return penalty
    return positive_number("penalty", penalty, words=WORDS)


def tune(
    regularizer: Regularizer,
    problem: LinearProblem,
    penalty: str | float,
    tol: float,
    random_state: RandomState,
) -> PenaltyChoice:
    """Choose the penalty."""
    if not isinstance(penalty, str):
        return PenaltyChoice("given", penalty)
    if penalty == "plugin":
        found, noise = plugin_penalty(regularizer, problem.X, problem.y, tol)
        return PenaltyChoice(penalty, found, noise=noise)
    solver = regularizer.on(problem.X, problem.y)
    rng = named_generator(root_seed(random_state), "cross-validation")
    grid = penalty_grid(solver.max_penalty, DECADES_OF_CROSS_VALIDATION)
    errors = cross_validate(regularizer, problem, grid, rng, tol)
    chosen = errors.best if penalty == "cv" else errors.simplest
    return PenaltyChoice(penalty, chosen, cross_validation=errors)


def penalty_grid(largest: float, decades: int = 3) -> FloatArray:
    """Return a decreasing geometric grid from the smallest penalty that selects nothing."""
    # if no column is correlated with the outcome, `largest` is 0
    top = max(largest, float(np.finfo(np.float64).tiny) * 10**decades)
    return np.asarray(top * np.logspace(0, -decades, PER_DECADE * decades))
