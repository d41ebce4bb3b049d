"""Which of several kernels some output needs, by restricted likelihood, before eigenvectors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from debinet.learners.spectral.tridiagonal import TridiagonalKernel
from debinet.learners.spectral.tuning import time_grid
from debinet.protocols import FloatArray, IntArray

# Twice a difference of log-likelihoods that is no reason to decompose another kernel.
_MARGIN = 1.0
_STEP = 1.0  # of the grid, in log time; parabolas between its points are right to 0.05
_TINY = np.finfo(np.float64).tiny


def needed_kernels(kernels: Sequence[TridiagonalKernel], X: FloatArray) -> IntArray:
    """Return the positions of the kernels that are worth decomposing.

    These are the kernel with the greatest sum of log-likelihoods, and every other one under which
    twice that of an output, or of the outcome given the treatments, is greater by `_MARGIN`.

    Parameters
    ----------
    kernels : sequence of TridiagonalKernel
    X : FloatArray of shape (n, m)
        Standardized and weighted columns, the outcome first, then treatments.
    """
    values = np.stack([least_criteria(kernel, X) for kernel in kernels])
    values = values[:, np.isfinite(values).all(axis=0)]
    best = int(values.sum(axis=1).argmin())
    needed = (values[best] - values > _MARGIN).any(axis=1)
    needed[best] = True
    return np.flatnonzero(needed)


def least_criteria(kernel: TridiagonalKernel, X: FloatArray) -> FloatArray:
    """Return the least criteria of all columns, then that of the first one given the others.

    The criterion is twice the negative restricted log-likelihood, as in `tuning` and `mixed`. What
    is not defined, as the other columns are dependent or too many, is infinite.
    """
    columns, directions = kernel.rotate(X), kernel.diagonal.size
    grid = time_grid(np.maximum(kernel.diagonal, 0.0), _STEP)
    curve = np.empty((grid.size, X.shape[1] + 1))
    for row, time in zip(curve, grid, strict=True):
        gram, spread = kernel.products(float(time), columns)
        row[:-1] = directions * np.log(np.maximum(np.diag(gram), _TINY)) + spread
        row[-1] = _given_others(gram, directions) + spread
    least, defined = np.full(curve.shape[1], np.inf), np.isfinite(curve).all(axis=0)
    least[defined] = _least(curve[:, defined])
    return least


def _given_others(gram: FloatArray, directions: int) -> float:
    """Return the criterion of the first column given the others, without that of the kernel."""
    count = directions - (len(gram) - 1)
    try:
        # backwards, so that the first column comes last: its pivot is what the others leave
        pivots = 2 * np.log(np.diag(np.linalg.cholesky(gram[::-1, ::-1])))
    except np.linalg.LinAlgError:
        return np.inf
    return float(count * pivots[-1] + pivots[:-1].sum()) if count > 0 else np.inf


def _least(curve: FloatArray) -> FloatArray:
    """Return the minima of curves (g, c): those of parabolas, where they are between points."""
    best, columns = curve.argmin(axis=0), np.arange(curve.shape[1])
    # the first time is 0, and not at the distance of the others
    inside = np.clip(best, 2, max(len(curve) - 2, 2))
    left, middle, right = (curve[inside + step, columns] for step in (-1, 0, 1))
    curvature = left - 2 * middle + right
    lower = (best == inside) & (curvature > 0)
    gain = np.divide((left - right) ** 2, 8 * curvature, out=np.zeros_like(left), where=lower)
    return np.asarray(curve[best, columns] - gain)
