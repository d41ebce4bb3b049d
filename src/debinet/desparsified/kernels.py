"""Nodewise Lasso regressions and Lassos of many targets over one Gram matrix.

`debinet.solvers.coordinate_descent` says what they minimize. For a nodewise regression the target
is a row of the Gram matrix, and that coordinate stays zero.
"""

# Compiled loops take single arrays to fill: numba cannot take records.
# ruff: noqa: PLR0917

from __future__ import annotations

import numpy as np

from debinet.desparsified.dense import solve_dense
from debinet.protocols import BoolArray, FloatArray, IntArray
from debinet.solvers.compiled import compiled
from debinet.solvers.coordinate_descent import TOLERANCE, solve_lasso

# Enough to compare penalties, as columns have unit variance.
ROUGH = 1e-5
# A penalty is relaxed enough when it is within this share of its target.
STEP = 0.01
# Theory's penalties have a safety factor of sqrt(2) for selecting columns; a projection does not
# need it, and without it intervals of large coefficients cover (`tests/simulation`).
RELAXED = 0.7071067811865476


@compiled
def solve_many(
    gram: FloatArray,
    targets: FloatArray,
    penalty: float,
    start: FloatArray,
    coefs: FloatArray,
    done: BoolArray,
) -> None:
    """Fill `coefs` (m, p) for targets (m, p), each started at `start` (p,)."""
    gradient = np.empty(start.size)
    for m in range(len(targets)):
        coefs[m] = start
        done[m] = solve_lasso(gram, targets[m], -1, penalty, coefs[m], gradient, TOLERANCE)


@compiled
def regress_columns(
    gram: FloatArray,
    inverse: FloatArray,
    X: FloatArray,
    penalties: FloatArray,
    allowance: float,
    first: int,
    Z: FloatArray,
    sizes: IntArray,
    done: BoolArray,
) -> None:
    """Regress columns on all others; the residual of column `first + i` goes to `Z[i]`.

    X (p, n) holds the columns as rows, Z (m, n) a block of their residuals. With an
    `allowance` above 1, each penalty is relaxed, in place. `inverse` is that of `gram`, or empty.
    """
    p = gram.shape[0]
    coef, trial, gradient = np.zeros(p), np.zeros(p), np.empty(p)
    for i in range(len(Z)):
        j = first + i
        coef[:] = 0.0
        if inverse.size:
            solve_dense(inverse, j, penalties[i], coef)
        done[i] = solve_lasso(gram, gram[j], j, penalties[i], coef, gradient, TOLERANCE)
        if allowance > 1.0:
            _relax(gram, j, penalties[i : i + 1], allowance, coef, trial, gradient)
        sizes[i] = _leave(X, j, coef, Z[i])


@compiled
def _leave(X: FloatArray, j: int, coef: FloatArray, left: FloatArray) -> int:
    """Fill `left` (n,) with column j less its prediction, X (p, n); return the columns in use."""
    n, used = left.size, 0
    for i in range(n):
        left[i] = X[j, i]
    for k in range(coef.size):
        value = coef[k]
        if value != 0.0:
            used += 1
            for i in range(n):
                left[i] -= value * X[k, i]
    return used


@compiled
def _relax(
    gram: FloatArray,
    j: int,
    penalty: FloatArray,
    allowance: float,
    coef: FloatArray,
    trial: FloatArray,
    gradient: FloatArray,
) -> None:
    """Lower `penalty` (1,) and solve again from `coef`, as long as the variance allows.

    What is left of column j has a correlation of at most `penalty / tau` with any other column, tau
    its standard deviation, and bias is proportional to that correlation: it is reduced to `RELAXED`
    times the given penalty, unless the variance would grow by more than the factor `allowance`.
    """
    asked = RELAXED * penalty[0]
    trial[:] = coef
    variance, tau = _spread(gram[j], coef, penalty[0], j)
    limit = allowance * variance
    while tau > 0.0 and penalty[0] > (1.0 + STEP) * asked * tau:
        lower = max(0.9 * penalty[0], asked * tau)
        if not solve_lasso(gram, gram[j], j, lower, trial, gradient, TOLERANCE):
            return
        variance, tau = _spread(gram[j], trial, lower, j)
        if variance > limit:
            return
        coef[:] = trial
        penalty[0] = lower


@compiled
def _spread(row: FloatArray, coef: FloatArray, penalty: float, j: int) -> tuple[float, float]:
    """Return `n |z|^2 / (z'x)^2` and `|z| / sqrt(n)`, z what is left of column j.

    From the optimality conditions, `z'x = |z|^2 + n penalty |coef|_1`.
    """
    inner, length = row[j], 0.0
    for k in range(coef.size):
        if coef[k] != 0.0:
            inner -= row[k] * coef[k]
            length += abs(coef[k])
    square = inner - penalty * length
    if square <= TOLERANCE:
        return np.inf, 0.0
    return square / inner**2, np.sqrt(square)


@compiled
def regress_paths(
    gram: FloatArray,
    held: FloatArray,
    penalties: FloatArray,
    first: int,
    errors: FloatArray,
) -> None:
    """Add the squared held-out errors of the regression of each column on all others.

    gram (p, p) is of the training rows, held (p, h) has the columns of the held-out rows,
    errors (m, len(penalties)) is a block of columns that starts at `first`.
    """
    p = gram.shape[0]
    coef, gradient = np.zeros(p), np.empty(p)
    left = np.empty(held.shape[1])
    for i in range(len(errors)):
        j = first + i
        coef[:] = 0.0
        for m in range(penalties.size):
            solve_lasso(gram, gram[j], j, penalties[m], coef, gradient, ROUGH)
            _leave(held, j, coef, left)
            for h in range(left.size):
                errors[i, m] += left[h] * left[h]


@compiled
def largest_correlation(gram: FloatArray) -> tuple[int, int, float]:
    """Return the pair of columns whose correlation is largest in size, and its size."""
    found, first, second = 0.0, 0, 0
    for j in range(len(gram)):
        for k in range(j):
            if abs(gram[j, k]) > found:
                found, first, second = abs(gram[j, k]), k, j
    return first, second, found
