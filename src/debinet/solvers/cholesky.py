"""Positive definite systems inside compiled loops."""

from __future__ import annotations

import numpy as np

from debinet.protocols import FloatArray
from debinet.solvers.compiled import compiled

# Columns have unit variance: a pivot below this is rounding.
SINGULAR = 1e-9


@compiled
def solve_positive(factor: FloatArray, right: FloatArray) -> bool:
    """Solve in place by Cholesky `U'U`, given the upper triangle; False if it is singular."""
    size = right.size
    for j in range(size):
        if factor[j, j] <= SINGULAR:
            return False
        root = np.sqrt(factor[j, j])
        for k in range(j, size):
            factor[j, k] /= root
        right[j] /= root
        # Along rows, so that the innermost loops run over neighbours in memory.
        for i in range(j + 1, size):
            share = factor[j, i]
            right[i] -= share * right[j]
            for k in range(i, size):
                factor[i, k] -= share * factor[j, k]
    for j in range(size - 1, -1, -1):
        for k in range(j + 1, size):
            right[j] -= factor[j, k] * right[k]
        right[j] /= factor[j, j]
    return True
