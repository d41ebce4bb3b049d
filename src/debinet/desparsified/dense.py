"""Nodewise regressions with few zero coefficients, from the inverse Gram matrix.

With fewer columns than rows and a small penalty, most coefficients are nonzero, and coordinate
descent needs hundreds of sweeps. Given the signs `s` and the set of zeros, the solution is linear,
`G b = g_j - penalty s` with `b = 0` on the zeros, and the inverse of G, shared by all columns,
gives it for the cost of a matrix-vector product. Signs and zeros are then corrected until both
agree with the optimality conditions: the primal-dual active set method (Hintermueller, Ito and
Kunisch, 2002).
"""

# Compiled loops take single arrays to fill: numba cannot take records.
# ruff: noqa: PLR0917

from __future__ import annotations

import numpy as np

from debinet.protocols import BoolArray, FloatArray
from debinet.solvers.cholesky import solve_positive
from debinet.solvers.compiled import compiled

ROUNDS = 20
# The zeros are solved for directly, so they must be few.
FEW = 0.5


@compiled
def solve_dense(inverse: FloatArray, j: int, penalty: float, coef: FloatArray) -> bool:
    """Regress column j on all others: fill `coef` (p,), or leave it at zero and return False.

    `inverse` (p, p) is that of the Gram matrix. False means that there are too many zeros, or that
    the iteration did not converge: use coordinate descent instead.
    """
    p = coef.size
    sign, zero, multiplier = np.zeros(p), np.zeros(p, np.bool_), np.zeros(p)
    inner, found = np.zeros(p), np.zeros(p)  # inverse (g_j - penalty sign), and the coefficients
    zero[j] = True
    inner[j] = 1.0
    for k in range(p):
        # Least squares on all other columns has the opposite signs of the row of the inverse.
        if k != j and inverse[j, k] != 0.0:
            _turn(inverse, k, -np.sign(inverse[j, k]), penalty, sign, inner)
    for _ in range(ROUNDS):
        if not _constrain(inverse, zero, inner, found, multiplier):
            return False
        settled = True
        for k in range(p):
            if k == j:
                continue
            if zero[k] and abs(multiplier[k]) > penalty:
                zero[k], settled = False, False
                _turn(inverse, k, np.sign(multiplier[k]), penalty, sign, inner)
            elif not zero[k] and found[k] * sign[k] <= 0.0:
                zero[k], settled = True, False
                _turn(inverse, k, 0.0, penalty, sign, inner)
        if settled:
            coef[:] = found
            return True
    return False


@compiled
def _turn(
    inverse: FloatArray, k: int, new: float, penalty: float, sign: FloatArray, inner: FloatArray
) -> None:
    """Change the sign of coefficient k and update `inner`."""
    step = penalty * (new - sign[k])
    row = inverse[k]
    for m in range(inner.size):
        inner[m] -= step * row[m]
    sign[k] = new


@compiled
def _constrain(
    inverse: FloatArray,
    zero: BoolArray,
    inner: FloatArray,
    found: FloatArray,
    multiplier: FloatArray,
) -> bool:
    """Fill `found` with the coefficients, zero where they must be, and their `multiplier`."""
    p = inner.size
    chosen = np.nonzero(zero)[0]
    size = chosen.size
    if size > FEW * p:
        return False
    factor, right = np.empty((size, size)), np.empty(size)
    for a in range(size):
        right[a] = inner[chosen[a]]
        for b in range(a, size):
            factor[a, b] = inverse[chosen[a], chosen[b]]
    if not solve_positive(factor, right):
        return False
    for m in range(p):
        found[m] = inner[m]
    for a in range(size):
        row = inverse[chosen[a]]
        multiplier[chosen[a]] = right[a]
        for m in range(p):
            found[m] -= right[a] * row[m]
    for a in range(size):
        found[chosen[a]] = 0.0
    return True
