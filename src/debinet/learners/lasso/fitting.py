"""Cross-validated Lassos of several outputs on the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import GroupKFold

from debinet.data.free_memory import require_free
from debinet.exceptions import FoldError, TooFewRowsError
from debinet.learners.inputs import column_moments
from debinet.learners.lasso.moments import FoldMoments, fold_moments
from debinet.protocols import FloatArray, IntArray

# Below this the largest penalty is rounding: the output is constant, or no column predicts it.
_NOTHING = 1e-15


@dataclass(frozen=True)
class PenaltyGrid:
    """A path of penalties, from the smallest at which all coefficients are zero.

    Attributes
    ----------
    count : int
    smallest : float
        The last penalty, divided by the first.
    """

    count: int
    smallest: float

    def below(self, largest: float) -> FloatArray:
        """Return the penalties (count,), largest first."""
        return np.geomspace(largest, self.smallest * largest, self.count)


@dataclass(frozen=True)
class LassoSolution:
    """Lassos of m outputs on p columns, on the scale of the data.

    Attributes
    ----------
    penalty : FloatArray of shape (m,)
        For columns of unit variance.
    coef : FloatArray of shape (m, p)
    intercept : FloatArray of shape (m,)
    """

    penalty: FloatArray
    coef: FloatArray
    intercept: FloatArray


def fit_lassos(
    Z: FloatArray,
    M: FloatArray,
    weight: FloatArray,
    folds: Sequence[IntArray],
    grid: PenaltyGrid,
) -> LassoSolution:
    """Choose a penalty for each output by cross-validation, then fit all rows with it.

    Parameters
    ----------
    Z : FloatArray of shape (n, p)
    M : FloatArray of shape (n, m)
    weight : FloatArray of shape (n,)
        Positive.
    folds : sequence of IntArray
        Inner folds, a partition of the rows.
    grid : PenaltyGrid
    """
    from debinet.solvers.coordinate_descent import TOLERANCE, solve_lasso

    _require_memory(Z.shape[1], M.shape[1], len(folds))
    columns, outputs = column_moments(Z, weight), column_moments(M, weight)
    moments = fold_moments(columns.standardize(Z), outputs.standardize(M), weight, folds)
    penalty, coef = np.empty(M.shape[1]), np.zeros((M.shape[1], Z.shape[1]))
    gradient = np.empty(Z.shape[1])
    for j in range(len(coef)):
        penalty[j] = _choose_penalty(moments, j, grid)
        solve_lasso(moments.gram, moments.cross[j], -1, penalty[j], coef[j], gradient, TOLERANCE)
    coef *= outputs.sd[:, None] / columns.sd
    return LassoSolution(penalty * outputs.sd, coef, outputs.mean - coef @ columns.mean)


def _choose_penalty(moments: FoldMoments, j: int, grid: PenaltyGrid) -> float:
    """Return the penalty on the grid with the least held-out error of output j."""
    from debinet.learners.lasso.path import held_out_errors

    largest = float(np.abs(moments.cross[j]).max())
    if largest < _NOTHING:
        return _NOTHING
    penalties = grid.below(largest)
    errors = np.empty(grid.count)
    used = held_out_errors(
        moments.train_gram,
        moments.train_cross[j],
        moments.held_gram,
        moments.held_cross[j],
        moments.held_square[j],
        penalties,
        errors,
    )
    return float(penalties[errors[:used].argmin()])


def inner_folds(n: int, count: int, groups: IntArray | None = None) -> list[IntArray]:
    """Return `count` folds of successive rows, or of whole groups; fewer if there are too few.

    Parameters
    ----------
    n, count : int
    groups : IntArray of shape (n,), optional
    """
    if groups is None:
        if n < 2:
            raise TooFewRowsError(
                "at least 2 rows of positive weight to cross-validate",
                f"n_samples = {n}",
                "Pass more rows.",
            )
        return np.array_split(np.arange(n), min(count, n))
    found = np.unique(groups).size
    if found < 2:
        raise FoldError(
            "at least 2 groups in the training rows, as inner folds do not split groups",
            "1 group",
            "Use more groups, or another learner.",
        )
    splits = GroupKFold(min(count, found)).split(groups, groups=groups)
    return [test for _, test in splits]


def _require_memory(p: int, m: int, folds: int) -> None:
    """Require memory for the products of each fold's training and held-out rows, and of all."""
    require_free(
        8 * 2 * (folds + 1) * p * (p + m),
        f"for the Lasso on {p} controls",
        "Use LassoCV(), which needs no Gram matrix, or fewer controls.",
    )
