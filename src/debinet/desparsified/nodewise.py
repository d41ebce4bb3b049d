"""Nodewise regressions: the residual of each column after a Lasso on all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from debinet.data.folds import Fold
from debinet.data.options import one_of, positive_number
from debinet.desparsified import penalties
from debinet.desparsified.gram import training_gram
from debinet.desparsified.workers import in_blocks
from debinet.exceptions import CollinearError
from debinet.learners.progress import Progress
from debinet.protocols import BoolArray, FloatArray, IntArray
from debinet.selection.problem import LinearProblem

WORDS = ("quantile", "universal", "cv")
# How much more variance the relaxed projection may have, as in the R package hdi.
ALLOWANCE = {"exact": 0.0, "relaxed": 1.25}
# What is left of a column must be more than rounding of its unit variance.
LEAST_LEFT = 1e-12
GRID = 12
# Coefficients of noise are of the order 1/sqrt(n): penalties below this share of it leave most of
# them nonzero, and with clearly fewer columns than rows the inverse Gram matrix is then faster.
SMALL = 0.2
MOST_COLUMNS = 0.9
_SILENT = Progress()


@dataclass(frozen=True)
class Projection:
    """What is left of the columns, and how it was made.

    Attributes
    ----------
    influence : FloatArray of shape (p, n)
        `z_j / (z_j'x_j)`: what each row's noise adds to each coefficient of standardized columns.
    precision : FloatArray of shape (p,)
        `1 / (z_j'x_j)`.
    penalties : FloatArray of shape (p,)
        One per column.
    sizes : IntArray of shape (p,)
        Number of nonzero coefficients of each regression.
    done : BoolArray of shape (p,)
        Whether the solver met the optimality conditions.
    """

    influence: FloatArray
    precision: FloatArray
    penalties: FloatArray
    sizes: IntArray
    done: BoolArray


def project(
    problem: LinearProblem,
    gram: FloatArray,
    each: FloatArray,
    projection: str,
    n_jobs: int | None,
    *,
    small: float = SMALL,
    progress: Progress = _SILENT,
) -> Projection:
    """Regress each column on all others, with penalties `each` of shape (p,)."""
    from debinet.desparsified.kernels import regress_columns

    one_of("projection", projection, ALLOWANCE)
    columns = problem.X.T
    left, used = np.empty_like(columns), each.copy()
    sizes, done = np.zeros(problem.p, np.int64), np.zeros(problem.p, np.bool_)
    inverse = _useful_inverse(gram, each, problem.n, small)

    def work(block: slice) -> None:
        regress_columns(
            gram,
            inverse,
            columns,
            used[block],
            ALLOWANCE[projection],
            block.start,
            left[block],
            sizes[block],
            done[block],
        )

    with progress.count("Nodewise regressions", problem.p, "column") as counter:
        in_blocks(work, problem.p, n_jobs, counter)
    inner = np.einsum("ij,ij->i", left, columns)
    _require_something_left(np.einsum("ij,ij->i", left, left) / problem.n, problem.names)
    left /= inner[:, None]
    return Projection(left, 1 / inner, used, sizes, done)


def _useful_inverse(gram: FloatArray, each: FloatArray, n: int, small: float) -> FloatArray:
    """Return the inverse Gram matrix if most coefficients will not be zero, else an empty one."""
    if np.median(each) >= small / np.sqrt(n) or len(gram) > MOST_COLUMNS * n:
        return np.empty((0, 0))
    return np.asarray(np.linalg.inv(gram), float)


def nodewise_penalties(
    rule: Any,
    problem: LinearProblem,
    gram: FloatArray,
    folds: tuple[Fold, ...],
    n_jobs: int | None,
    *,
    progress: Progress = _SILENT,
) -> FloatArray:
    """Return one penalty per column, of shape (p,), by the user's rule."""
    n, p = problem.n, problem.p
    if isinstance(rule, str) and rule in {"universal", "quantile"}:
        return np.full(p, getattr(penalties, rule)(n, p))
    if isinstance(rule, str) and rule == "cv":
        return np.full(p, _cross_validated(problem, gram, folds, n_jobs, progress))
    return np.full(p, positive_number("nodewise", rule, words=WORDS))


def _cross_validated(
    problem: LinearProblem,
    gram: FloatArray,
    folds: tuple[Fold, ...],
    n_jobs: int | None,
    progress: Progress,
) -> float:
    """Return the one penalty with the least held-out error, summed over all columns."""
    from debinet.desparsified.kernels import regress_paths

    largest = penalties.universal(problem.n, problem.p)
    grid = np.geomspace(1.5 * largest, largest / 5, GRID)
    errors = np.zeros((problem.p, GRID))
    total = len(folds) * problem.p
    with progress.count("Nodewise penalty by cross-validation", total, "column") as counter:
        for fold in folds:
            training, mean = training_gram(problem.X, gram, fold)
            held = np.ascontiguousarray(problem.X.T[:, fold.test]) - mean[:, None]

            def work(
                block: slice, training: FloatArray = training, held: FloatArray = held
            ) -> None:
                regress_paths(training, held, grid, block.start, errors[block])

            in_blocks(work, problem.p, n_jobs, counter)
    return float(grid[errors.sum(axis=0).argmin()])


def _require_something_left(variance: FloatArray, names: tuple[str, ...]) -> None:
    gone = np.flatnonzero(variance <= LEAST_LEFT)
    if gone.size:
        raise CollinearError(
            "columns that the others do not determine",
            f"nothing left of {names[gone[0]]!r} at its nodewise penalty",
            "Drop the column, or use a larger nodewise penalty, such as nodewise='universal'.",
        )
