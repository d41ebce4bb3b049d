"""Left-over dependence: correlations of the residual with functions of the controls."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from debinet.protocols import FloatArray

# With more controls than this, products of pairs are left out.
_PAIRED = 15


def dependence_sums(Z: FloatArray, e: FloatArray, root: FloatArray) -> FloatArray:
    """Return the sums over rows that `correlations` needs, of shape (5, f).

    For each of f functions, the standardized controls, their squares, signs and products of pairs:
    sums of it, of its square and of its product with the residual; and, the same for all, of the
    residual and its square.

    Parameters
    ----------
    Z : FloatArray of shape (n, p)
        Standardized controls.
    e : FloatArray of shape (n,)
        Residuals times the square roots of the weights.
    root : FloatArray of shape (n,)
        Square roots of the weights.
    """
    columns = [Z, Z**2, np.sign(Z)]
    if 1 < Z.shape[1] <= _PAIRED:
        pairs = combinations(range(Z.shape[1]), 2)
        columns.append(np.column_stack([Z[:, i] * Z[:, j] for i, j in pairs]))
    f = np.hstack(columns) * root[:, None]
    ones = np.ones(f.shape[1])
    return np.stack([f.sum(axis=0), (f**2).sum(axis=0), e @ f, ones * e.sum(), ones * (e @ e)])


def correlations(sums: FloatArray, n: int) -> FloatArray:
    """Return the correlations (f,) of the residual with the functions."""
    f, ff, fe, e, ee = sums
    size = np.sqrt(np.maximum(ff - f**2 / n, 0.0) * np.maximum(ee - e**2 / n, 0.0))
    found: FloatArray = np.divide(fe - f * e / n, size, out=np.zeros_like(fe), where=size > 0)
    return found


def function_names(controls: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the functions."""
    squares, signs = (f"{name}^2" for name in controls), (f"sign({name})" for name in controls)
    names = [*controls, *squares, *signs]
    if 1 < len(controls) <= _PAIRED:
        names += [f"{a} * {b}" for a, b in combinations(controls, 2)]
    return tuple(names)
