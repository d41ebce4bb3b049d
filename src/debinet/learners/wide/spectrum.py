"""The eigendecomposition that everything else is read from, intercept projected out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.blas import dger, dsyr2

from debinet.protocols import FloatArray

# Up to this many rows numpy's eigh, which copies but runs on the threads of numpy's own BLAS. Those
# of scipy's BLAS, a second library, would have to compete with them: 0.05 s of work then take 0.15.
SMALL = 1500


@dataclass(frozen=True)
class Spectrum:
    """Eigenvectors of the weighted kernel `A = W^1/2 K W^1/2`, orthogonal to the intercept.

    With `u = W^1/2 1 / |W^1/2 1|`, the columns of `[u, V]` are an orthonormal basis and
    `V' A V = diag(w)`, so that for every penalty
    `Q = (A + lam I)^-1 - (A + lam I)^-1 u (u' (A + lam I)^-1 u)^-1 u' (A + lam I)^-1`
    is `V diag(1 / (w + lam)) V'`.

    Attributes
    ----------
    skip : float
        Weight of the linear part in the kernel.
    w : FloatArray of shape (n - 1,)
        Eigenvalues, ascending, not negative.
    V : FloatArray of shape (n, n - 1)
        Eigenvectors.
    u : FloatArray of shape (n,)
        The intercept's direction.
    Au : FloatArray of shape (n,)
        `A u`, from which the intercept of a fit follows.
    """

    skip: float
    w: FloatArray
    V: FloatArray
    u: FloatArray
    Au: FloatArray


def decompose(kernel: FloatArray, root_weight: FloatArray, skip: float) -> Spectrum:
    """Decompose a kernel; if it is large, its memory becomes that of the eigenvectors.

    Parameters
    ----------
    kernel : FloatArray of shape (n, n)
        Symmetric, C-ordered; destroyed.
    root_weight : FloatArray of shape (n,)
        Square roots of the sample weights, all positive.
    skip : float
        Kept in the record.
    """
    n = kernel.shape[0]
    kernel *= root_weight
    kernel *= root_weight[:, None]
    u = root_weight / np.linalg.norm(root_weight)
    Au = kernel @ u
    # The reflection H = I - 2 h h' maps u to -e_1, so the complement of u is what is left of
    # H A H without its first row and column. Unlike the eigenvectors of (I - u u') A (I - u u'),
    # this cannot mix u with other null vectors of A.
    h = u.copy()
    h[0] += 1.0
    h /= np.linalg.norm(h)
    Ah = kernel @ h
    # H A H = A - h q' - q h'
    q = 2.0 * (Ah - (h @ Ah) * h)
    w, V = (_eigen if n <= SMALL else _eigen_in_place)(kernel, h, q)
    # what is left of eigenvalues that are 0 but for rounding
    w[w < n * np.finfo(np.float64).eps * max(w[-1], u @ Au)] = 0.0
    return Spectrum(skip, w, V, u, Au)


def _eigen(kernel: FloatArray, h: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the eigenvalues of the complement of u, and the eigenvectors."""
    inner = kernel[1:, 1:]
    inner -= np.outer(h[1:], q[1:])
    inner -= np.outer(q[1:], h[1:])
    w, E = np.linalg.eigh(inner)
    V = np.outer(-2.0 * h, h[1:] @ E)
    V[1:] += E
    return w, V


def _eigen_in_place(
    kernel: FloatArray, h: FloatArray, q: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Do the same; the eigenvectors take the place of the kernel."""
    n = h.size
    # BLAS counts in Fortran order: the upper triangle of the transpose is the lower one here
    dsyr2(-1.0, h, q, a=kernel.T, lower=False, overwrite_a=True)
    flat = kernel.reshape(-1)
    for j in range(n - 1):
        flat[j * (n - 1) : (j + 1) * (n - 1)] = kernel[j + 1, 1:]
    inner = flat[: (n - 1) ** 2].reshape(n - 1, n - 1).T
    w, E = eigh(inner, lower=False, overwrite_a=True, check_finite=False, driver="evd")
    mirrored = h[1:] @ E
    # Eigenvectors [0; e] are written over the space that e occupies: last one first.
    for j in range(n - 2, -1, -1):
        flat[j * n + 1 : (j + 1) * n] = E[:, j]
        flat[j * n] = 0.0
    V = flat[: n * (n - 1)].reshape(n - 1, n).T
    return w, dger(-2.0, h, mirrored, a=V, overwrite_a=True)
