"""Nodewise regressions: what is left of each column once the others are partialled out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from debinet.desparsified import penalties
from debinet.desparsified.design import Design
from debinet.desparsified.training import Fold, training_gram
from debinet.desparsified.workers import in_blocks
from debinet.exceptions import CollinearError, OptionError
from debinet.protocols import BoolArray, FloatArray, IntArray

WORDS = ("quantile", "universal", "cv")
# How much more variance the relaxed projection may have, as in the R package hdi.
ALLOWANCE = {"exact": 0.0, "relaxed": 1.25}
# What is left of a column must be more than rounding of its unit variance.
LEAST_LEFT = 1e-12
GRID = 12
# Coefficients of noise are of the order 1/sqrt(n): penalties below this share of it leave most of
# them, and with clearly fewer columns than rows the inverse Gram matrix then pays.
SMALL = 0.2
MOST_COLUMNS = 0.9


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
        Number of other columns that each was regressed on, that is, not zero.
    done : BoolArray of shape (p,)
        Whether the solver met the optimality conditions.
    """

    influence: FloatArray
    precision: FloatArray
    penalties: FloatArray
    sizes: IntArray
    done: BoolArray


def project(
    design: Design, gram: FloatArray, each: FloatArray, projection: str, n_jobs: int | None
) -> Projection:
    """Regress each column on all others, with penalties `each` of shape (p,)."""
    from debinet.desparsified.kernels import regress_columns

    if not isinstance(projection, str) or projection not in ALLOWANCE:
        raise OptionError(
            f"projection to be one of {list(ALLOWANCE)}", repr(projection), "Use 'exact'."
        )
    p = design.p
    left, used = np.empty_like(design.X), each.copy()
    sizes, done = np.zeros(p, np.int64), np.zeros(p, np.bool_)

    inverse = _useful_inverse(gram, each, design.n)

    def work(block: slice) -> None:
        regress_columns(
            gram,
            inverse,
            design.X,
            used[block],
            ALLOWANCE[projection],
            block.start,
            left[block],
            sizes[block],
            done[block],
        )

    in_blocks(work, p, n_jobs)
    inner = np.einsum("ij,ij->i", left, design.X)
    _require_something_left(np.einsum("ij,ij->i", left, left) / design.n, design.names)
    left /= inner[:, None]
    return Projection(left, 1 / inner, used, sizes, done)


def _useful_inverse(gram: FloatArray, each: FloatArray, n: int) -> FloatArray:
    """Return the inverse Gram matrix if most coefficients will not be zero, else an empty one."""
    small = float(np.median(each)) < SMALL / np.sqrt(n)
    if not small or len(gram) > MOST_COLUMNS * n:
        return np.empty((0, 0))
    return np.asarray(np.linalg.inv(gram), float)


def nodewise_penalties(
    rule: Any, design: Design, gram: FloatArray, folds: tuple[Fold, ...], n_jobs: int | None
) -> FloatArray:
    """Return one penalty per column, of shape (p,), by the rule the user named."""
    n, p = design.n, design.p
    if isinstance(rule, str) and rule in {"universal", "quantile"}:
        return np.full(p, getattr(penalties, rule)(n, p))
    if isinstance(rule, str) and rule == "cv":
        return np.full(p, _cross_validated(design, gram, folds, n_jobs))
    return np.full(p, penalties.require_positive(rule, "nodewise", WORDS))


def _cross_validated(
    design: Design, gram: FloatArray, folds: tuple[Fold, ...], n_jobs: int | None
) -> float:
    """Return the one penalty with the least held-out error, summed over all columns."""
    from debinet.desparsified.kernels import regress_paths

    largest = penalties.universal(design.n, design.p)
    grid = np.geomspace(1.5 * largest, largest / 5, GRID)
    errors = np.zeros((design.p, GRID))
    for fold in folds:
        training, mean = training_gram(design.X, gram, fold)
        held = np.ascontiguousarray(design.X[:, fold.held]) - mean[:, None]

        def work(block: slice, training: FloatArray = training, held: FloatArray = held) -> None:
            regress_paths(training, held, grid, block.start, errors[block])

        in_blocks(work, design.p, n_jobs)
    return float(grid[errors.sum(axis=0).argmin()])


def _require_something_left(variance: FloatArray, names: tuple[str, ...]) -> None:
    gone = np.flatnonzero(variance <= LEAST_LEFT)
    if gone.size:
        raise CollinearError(
            "columns that the others do not determine",
            f"nothing left of {names[gone[0]]!r} at its nodewise penalty",
            "Drop the column, or use a larger nodewise penalty, such as nodewise='universal'.",
        )
