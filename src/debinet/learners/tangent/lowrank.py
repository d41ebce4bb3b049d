"""The eigendecomposition of the features' kernel, through the smaller of its two Gram matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from debinet.learners.wide.kernels import row_chunks
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class LowRank:
    """Eigenvectors of `F S^2 F'` whose eigenvalues are not zero.

    F (n, m) are weighted, centred features, orthogonal to the intercept's direction u, and S
    multiplies the linear ones by `sqrt(skip)`. Of the n - 1 directions orthogonal to u, the
    `n - 1 - k` that are left have eigenvalue 0: nothing is learned of them.

    Attributes
    ----------
    skip : float
        Weight of the linear part in the kernel.
    w : FloatArray of shape (k,)
        Eigenvalues, ascending, all positive.
    U : FloatArray of shape (n, k)
        Eigenvectors.
    basis : FloatArray of shape (m, k)
        `U = F basis`: what turns features into coordinates.
    """

    skip: float
    w: FloatArray
    U: FloatArray
    basis: FloatArray


def decompose(
    F: FloatArray, width: int, skips: tuple[float, ...], size: float
) -> tuple[LowRank, ...]:
    """Decompose the kernel of features for every skip weight, each in O(n m min(n, m)).

    Parameters
    ----------
    F : FloatArray of shape (n, m)
        Weighted, centred features; the first `width` are hidden units, the others linear.
        Destroyed: the last decomposition takes their place.
    width : int
    skips : tuple of float
    size : float
        Energy of the features before centring; directions below its rounding are dropped.
    """
    n, m = F.shape
    floor = max(n, m) * np.finfo(np.float64).eps
    if n - 1 <= m:
        return tuple(_through_rows(F, width, skip, floor, size) for skip in skips)
    # `A.T @ A` goes through syrk, which is half the work and exactly symmetric
    gram: FloatArray = F.T @ F
    found = []
    for i, skip in enumerate(skips):
        scale = np.ones(m)
        scale[width:] = np.sqrt(skip)
        w, E = eigen(gram * scale * scale[:, None], floor, size)
        basis = scale[:, None] * E / np.sqrt(w)
        U = F[:, : w.size] if i == len(skips) - 1 else np.empty((n, w.size))
        for rows in row_chunks(n, m):
            U[rows] = F[rows] @ basis
        found.append(LowRank(skip, w, U, basis))
    return tuple(found)


def _through_rows(F: FloatArray, width: int, skip: float, floor: float, size: float) -> LowRank:
    """Decompose the n x n matrix `F S^2 F'` itself, which is the smaller one."""
    units, linear = F[:, :width], F[:, width:]
    kernel: FloatArray = units @ units.T
    if skip:
        kernel += skip * (linear @ linear.T)
    w, U = eigen(kernel, floor, size)
    basis = F.T @ U / w
    basis[width:] *= skip
    return LowRank(skip, w, U, basis)


def eigen(matrix: FloatArray, floor: float, size: float) -> tuple[FloatArray, FloatArray]:
    """Return the eigenvalues that are more than rounding, and their eigenvectors."""
    w, E = eigh(matrix, overwrite_a=True, check_finite=False, driver="evd")
    first = int(np.searchsorted(w, floor * max(w[-1], size), side="right"))
    return w[first:], E[:, first:]
