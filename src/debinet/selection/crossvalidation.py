"""Cross-validation along a path of penalties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.data.folds import Fold, k_folds
from debinet.protocols import FloatArray
from debinet.selection.problem import LinearProblem
from debinet.selection.regularizer import PathSolver, Regularizer

FOLDS = 5
# Held-out errors need less precision than the final fit; scikit-learn's LassoCV asks for 2e-4.
TOLERANCE = 1e-4
AT_A_TIME = 2
# The path ends when the error has not fallen for so many penalties: what follows is overfitted and
# the most expensive part.
PATIENCE = 6


@dataclass(frozen=True)
class CrossValidation:
    """Held-out error along a path.

    Attributes
    ----------
    penalties : FloatArray of shape (g,)
        Decreasing, as far as the path was followed.
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
