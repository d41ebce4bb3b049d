"""Compiled: held-out errors of Lassos along a path of penalties."""

# Compiled loops take single arrays to fill: numba cannot take records.
# ruff: noqa: PLR0917

from __future__ import annotations

import numpy as np

from debinet.protocols import FloatArray, IntArray
from debinet.solvers.compiled import compiled
from debinet.solvers.coordinate_descent import solve_lasso

# Of coefficients on the path, in standard deviations: held-out errors at neighbouring penalties
# differ by far more.
PATH_TOLERANCE = 1e-7
# The path ends where the error is this share above the least so far. Most time is spent on the many
# coefficients that follow. With few of them, it is short, and errors from few rows may fall again.
RISE = 0.05
MANY = 64


@compiled
def held_out_errors(
    train_gram: FloatArray,
    train_cross: FloatArray,
    held_gram: FloatArray,
    held_cross: FloatArray,
    held_square: FloatArray,
    penalties: FloatArray,
    errors: FloatArray,
) -> int:
    """Fill `errors` with the mean held-out error of all folds at each penalty, largest first.

    Shapes are those of `FoldMoments` for one output.
    All folds go down the path together, so that it can end once the error has risen by `RISE` and
    more than `MANY` coefficients, on average over the folds, are nonzero. Returns the number of
    penalties used.
    """
    k, p = train_cross.shape
    coef, gradient = np.zeros((k, p)), np.empty(p)
    best = 0
    for i in range(penalties.size):
        errors[i] = 0.0
        used = 0
        for f in range(k):
            solve_lasso(
                train_gram[f], train_cross[f], -1, penalties[i], coef[f], gradient, PATH_TOLERANCE
            )
            support = np.nonzero(coef[f])[0]
            used += support.size
            error = _held_out_error(held_gram[f], held_cross[f], held_square[f], coef[f], support)
            errors[i] += error / k
        if errors[i] < errors[best]:
            best = i
        elif errors[i] > (1.0 + RISE) * errors[best] and used > MANY * k:
            return i + 1
    return penalties.size


@compiled
def _held_out_error(
    gram: FloatArray, cross: FloatArray, square: float, coef: FloatArray, support: IntArray
) -> float:
    """Return `square - 2 cross'coef + coef'gram coef`, coef being zero outside of `support`."""
    error = square
    for a in range(support.size):
        k = support[a]
        row = gram[k]
        product = row[k] * coef[k] - 2.0 * cross[k]
        for b in range(a):
            product += 2.0 * row[support[b]] * coef[support[b]]
        error += product * coef[k]
    return error
