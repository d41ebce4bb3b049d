"""Lasso problems given by a Gram matrix: coordinate descent on an active set.

All minimize `t'Gt/2 - c't + penalty |t|_1`, the Lasso on scikit-learn's scale when `G = X'X/n` and
`c = X'y/n`. For a nodewise regression `c` is a row of G and that coordinate stays zero.
"""

# Compiled loops take single arrays to fill: numba cannot take records.
# ruff: noqa: PLR0917

from __future__ import annotations

import numpy as np

from debinet.protocols import FloatArray, IntArray
from debinet.solvers.cholesky import solve_positive
from debinet.solvers.compiled import compiled

# Columns have unit variance, so this is a share of a standard deviation: far below any standard
# error and far above rounding.
TOLERANCE = 1e-9
# Coordinate descent is either fast or very slow; after so many sweeps the face is solved directly.
SWEEPS = 200
# Indexed access to one number costs as much as sequential access to so many.
DENSE = 4
ROUNDS = 500


@compiled
def solve_lasso(
    gram: FloatArray,
    target: FloatArray,
    fixed: int,
    penalty: float,
    coef: FloatArray,
    gradient: FloatArray,
    tolerance: float,
) -> bool:
    """Minimize in place, starting at `coef` (p,); `gradient` (p,) becomes `target - gram coef`.

    The coordinate `fixed` stays zero (-1 for none). Returns whether the optimality conditions hold
    to ten times the tolerance.
    """
    slack = 10.0 * tolerance
    p = target.size
    member = np.zeros(p, np.bool_)
    chosen = np.empty(p, np.int64)
    size = 0
    for k in range(p):
        if coef[k] != 0.0:
            member[k] = True
            chosen[size] = k
            size += 1
    local = np.empty(p)
    for _ in range(ROUNDS):
        if not _descend(gram, target, penalty, coef, chosen, size, local, tolerance):
            _solve_face(gram, target, penalty, coef)
        _update_gradient(gram, target, coef, gradient)
        optimal = True
        for k in range(p):
            if k == fixed:
                continue
            if coef[k] != 0.0:
                signed = penalty if coef[k] > 0.0 else -penalty
                optimal &= abs(gradient[k] - signed) <= slack
            elif abs(gradient[k]) > penalty + slack:
                optimal = False
                if not member[k]:
                    member[k] = True
                    chosen[size] = k
                    size += 1
        if optimal:
            return True
    return False


@compiled
def _update_gradient(
    gram: FloatArray, target: FloatArray, coef: FloatArray, gradient: FloatArray
) -> None:
    # Loops are written out: array expressions take numba seconds to compile.
    p = coef.size
    for m in range(p):
        gradient[m] = target[m]
    for k in range(p):
        value = coef[k]
        if value != 0.0:
            row = gram[k]
            for m in range(p):
                gradient[m] -= value * row[m]


@compiled
def _descend(
    gram: FloatArray,
    target: FloatArray,
    penalty: float,
    coef: FloatArray,
    chosen: IntArray,
    size: int,
    local: FloatArray,
    tolerance: float,
) -> bool:
    """Cyclic coordinate descent over `chosen[:size]`; `local` (p,) is scratch for the gradient.

    The gradient is kept for the chosen coordinates or, once they are many, for all: sequential
    access to memory is several times faster than indexed access.
    """
    p = coef.size
    dense = DENSE * size > p
    _update_gradient(gram, target, coef, local)
    for _ in range(SWEEPS):
        largest = 0.0
        for a in range(size):
            k = chosen[a]
            row = gram[k]
            old = coef[k]
            free = local[k] + row[k] * old
            new = np.sign(free) * max(abs(free) - penalty, 0.0) / row[k]
            if new != old:
                step = new - old
                coef[k] = new
                largest = max(largest, abs(step))
                if dense:
                    for m in range(p):
                        local[m] -= row[m] * step
                else:
                    for b in range(size):
                        local[chosen[b]] -= row[chosen[b]] * step
        if largest <= tolerance:
            return True
    return False


@compiled
def _solve_face(gram: FloatArray, target: FloatArray, penalty: float, coef: FloatArray) -> None:
    """Solve exactly for the coefficients that are not zero, with the signs that they have.

    If a sign would change, stop at the first such zero, which still lowers the objective. `coef` is
    unchanged if the face is singular.
    """
    support = np.nonzero(coef)[0]
    a = support.size
    factor, wanted = np.empty((a, a)), np.empty(a)
    for i in range(a):
        wanted[i] = target[support[i]] - np.sign(coef[support[i]]) * penalty
        for j in range(i, a):
            factor[i, j] = gram[support[i], support[j]]
    if not solve_positive(factor, wanted):
        return
    share, first = 1.0, -1
    for i in range(a):
        old = coef[support[i]]
        if wanted[i] * old <= 0.0 and old / (old - wanted[i]) < share:
            share, first = old / (old - wanted[i]), i
    for i in range(a):
        coef[support[i]] += share * (wanted[i] - coef[support[i]])
    if first >= 0:
        coef[support[first]] = 0.0
