"""A kernel matrix, reduced to a tridiagonal one: half-way to its eigenvectors.

The reduction takes a third of the time of a decomposition. The restricted likelihood needs no more
than that, so of several kernels only those that are chosen need eigenvectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dger, dsyr2
from scipy.linalg.lapack import dormqr, dpttrf, dpttrs, dstevd, dsytrd, dsytrd_lwork

from debinet.learners.spectral.full import FullSpectrum, rank_two, reflections, without_rounding
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class TridiagonalKernel:
    """The weighted kernel `A = Q T Q'` among the contrasts that the intercept leaves.

    With the reflection `H = I - 2 h h'` of the intercept, `Q T Q'` is `H A H` without its first row
    and column.

    Attributes
    ----------
    skip : float
        Weight of the linear part in the kernel.
    diagonal : FloatArray of shape (n - 1,)
        Of T.
    beside : FloatArray of shape (n - 2,)
        Next to it.
    vectors : FloatArray of shape (n - 2, n - 2)
        Those of the reflections whose product is Q, as LAPACK stores them.
    factors : FloatArray of shape (n - 2,)
        Their factors.
    h : FloatArray of shape (n,)
    C : FloatArray of shape (n, 1)
        Orthonormal basis of the intercept.
    AC : FloatArray of shape (n, 1)
        `A C`.
    """

    skip: float
    diagonal: FloatArray
    beside: FloatArray
    vectors: FloatArray
    factors: FloatArray
    h: FloatArray
    C: FloatArray
    AC: FloatArray

    def rotate(self, X: FloatArray) -> FloatArray:
        """Return columns X (n, m) in the coordinates of T, (n - 1, m) in Fortran's order."""
        inner = (X - np.outer(2.0 * self.h, self.h @ X))[1:]
        inner[1:] = self._turn(inner[1:], "T")
        return np.asfortranarray(inner)

    def products(self, time: float, X: FloatArray) -> tuple[FloatArray, float]:
        """Return `X' (I + t T)^-1 X` (m, m) and `log |I + t T|` for rotated columns X."""
        # positive: at the greatest time of a grid, the rounding of T counts 0.1 up to 2,000 rows
        pivots, factor, _ = dpttrf(1.0 + time * self.diagonal, time * self.beside)
        solved, _ = dpttrs(pivots, factor, X)
        return np.asarray(X.T @ solved), float(np.log(pivots).sum())

    def decompose(self) -> FullSpectrum:
        """Go on to eigenvalues and eigenvectors."""
        w, E, _ = dstevd(self.diagonal, self.beside)
        V = np.empty((self.h.size, w.size), order="F")
        V[0], V[1], V[2:] = 0.0, E[0], self._turn(E[1:], "N")
        V = dger(-2.0, self.h, self.h @ V, a=V, overwrite_a=True)
        return FullSpectrum(self.skip, without_rounding(w, self.C, self.AC), V, self.C, self.AC)

    def _turn(self, X: FloatArray, how: str) -> FloatArray:
        """Apply the reflections of Q, which leave the first row as it is, or their transpose."""
        space = 64 * X.shape[1]
        turned, _, _ = dormqr("L", how, self.vectors, self.factors, X, space)
        return np.asarray(turned)


def reduce_kernel(kernel: FloatArray, root_weight: FloatArray, skip: float) -> TridiagonalKernel:
    """Reduce a kernel to a tridiagonal matrix.

    Parameters
    ----------
    kernel : FloatArray of shape (n, n)
        Symmetric, C-ordered, of at least three rows; destroyed.
    root_weight : FloatArray of shape (n,)
        Square roots of the sample weights, all positive.
    skip : float
        Kept in the record.
    """
    kernel *= root_weight
    kernel *= root_weight[:, None]
    (h,), C = reflections(root_weight[:, None])
    AC = kernel @ C
    dsyr2(-1.0, h, rank_two(kernel, h), a=kernel.T, lower=True, overwrite_a=True)
    inner = np.asfortranarray(kernel.T[1:, 1:])
    space = int(dsytrd_lwork(len(inner), lower=True)[0])
    reduced, diagonal, beside, factors, _ = dsytrd(inner, True, space, overwrite_a=True)
    vectors = np.asfortranarray(reduced[1:, :-1])
    return TridiagonalKernel(skip, diagonal, beside, vectors, factors, h, C, AC)
