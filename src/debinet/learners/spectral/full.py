"""The eigendecomposition of a whole kernel matrix, unpenalized columns projected out.

For ridge with projected inverse `Q`, the residual of block B, had the model been fitted without
it, is exactly `Q_BB^-1 (Q M)_B`, at every penalty for which the inverses exist, complex ones
included. Here `R = lam Q = V diag(left) V'` stands for `Q`: the factor cancels, and an infinite
penalty needs no special case. The form `I - P P'` of `lowrank` would lose digits near
interpolation, where residuals are small differences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh
from scipy.linalg.blas import dger, dsyr2

from debinet.learners.spectral.spectrum import SMALL, Block, Projected, Stopped
from debinet.protocols import FloatArray

# Elements of the largest temporary array.
_CHUNK = 2**22

# Real for ridge, complex for other filters.
ScalarArray: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True)
class FullSpectrum:
    """Eigenvectors of the weighted kernel `A = W^1/2 K W^1/2`, orthogonal to unpenalized columns.

    `[C, V]` is an orthonormal basis and `V' A V = diag(w)`.

    Attributes
    ----------
    skip : float
        Weight of the linear part in the kernel.
    w : FloatArray of shape (n - c,)
        Eigenvalues, ascending, not negative.
    V : FloatArray of shape (n, n - c)
        Eigenvectors.
    C : FloatArray of shape (n, c)
        Orthonormal basis of the unpenalized columns.
    AC : FloatArray of shape (n, c)
        `A C`, from which the unpenalized part of a fit follows.
    """

    skip: float
    w: FloatArray
    V: FloatArray
    C: FloatArray
    AC: FloatArray

    def project(self, X: FloatArray) -> Projected:
        """Return the coordinates of columns (n, m)."""
        rest = np.zeros((0, X.shape[1]))
        return Projected(self.w, (X.T @ self.V).T, rest, self.w.size, self.C.shape[1])

    def residual(self, X: ScalarArray, left: ScalarArray) -> ScalarArray:
        """Return `V diag(left) V' X` for columns X (n, m)."""
        inner = left.T * _product(X.T, self.V)
        return _product(inner, self.V.T).T

    def solve_blocks(
        self, X: ScalarArray, left: ScalarArray, blocks: Sequence[Block]
    ) -> ScalarArray:
        """Return `blockdiag(R_BB^-1) X` for columns X (n, m)."""
        if not blocks:
            return np.asarray(X / _product(left.T, self._squares.T).T)
        out = np.zeros(X.shape, dtype=np.result_type(X, left))
        for block in blocks:
            V = self.V[block.inside]
            if left.shape[1] == 1:
                out[block.inside] = np.linalg.solve(_inner(V, left.T)[0], X[block.inside])
                continue
            for j in _parts(left.shape[1], V.size):
                target = X[block.inside, j].T[:, :, None]
                solved = np.linalg.solve(_inner(V, left[:, j].T), target)
                out[block.inside, j] = solved[:, :, 0].T
        return out

    @property
    def _squares(self) -> FloatArray:
        return self._kept_squares if len(self.V) <= SMALL else self.V**2

    @cached_property
    def _kept_squares(self) -> FloatArray:
        """Squares of the eigenvectors, which every fit that leaves rows out one by one needs."""
        return np.asarray(self.V**2)


def leave_one_out(
    spectrum: FullSpectrum, T: FloatArray, stopped: Stopped, squared: FloatArray | None = None
) -> FloatArray:
    """Return `(Q M)_i / Q_ii` for every row and output.

    Parameters
    ----------
    spectrum : FullSpectrum
    T : FloatArray of shape (n - c, m)
        `V' M` of weighted targets M.
    stopped : Stopped
        With one stopping time per output, or one for all.
    squared : FloatArray of shape (n, n - c), optional
        Squares of the eigenvectors.

    Returns
    -------
    FloatArray of shape (n, m)
    """
    V = spectrum.V
    squared = V**2 if squared is None else squared
    residual = np.zeros((T.shape[1], V.shape[0]))
    for weight, left in stopped.resolvents(spectrum.w):
        ratio = _product(left.T * T.T, V.T) / _product(left.T, squared.T)
        residual += (weight * ratio).real
    return residual.T


def decompose(
    kernel: FloatArray,
    root_weight: FloatArray,
    skip: float,
    unpenalized: FloatArray | None = None,
    *,
    small: int = SMALL,
) -> FullSpectrum:
    """Decompose a kernel; if it is large, its memory becomes that of the eigenvectors.

    Parameters
    ----------
    kernel : FloatArray of shape (n, n)
        Symmetric, C-ordered; destroyed.
    root_weight : FloatArray of shape (n,)
        Square roots of the sample weights, all positive.
    skip : float
        Kept in the record.
    unpenalized : FloatArray of shape (n, c), optional
        Independent columns that are fitted without a penalty; the intercept by default.
    small : int
        Number of rows up to which nothing is done in place.
    """
    n = kernel.shape[0]
    kernel *= root_weight
    kernel *= root_weight[:, None]
    columns = np.ones((n, 1)) if unpenalized is None else unpenalized
    h, C = reflections(root_weight[:, None] * columns)
    AC = kernel @ C
    w, V = (_eigen if n <= small else _eigen_in_place)(kernel, h)
    return FullSpectrum(skip, without_rounding(w, C, AC), V, C, AC)


def without_rounding(w: FloatArray, C: FloatArray, AC: FloatArray) -> FloatArray:
    """Return ascending eigenvalues, zero where they are zero up to rounding."""
    size = max(w[-1], np.trace(C.T @ AC))
    return np.where(w < len(C) * np.finfo(np.float64).eps * size, 0.0, w)


def reflections(columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Householder vectors (c, n), and the orthonormal basis (n, c) of the columns.

    With `H_i = I - 2 h_i h_i'`, the complement of the columns is what is left of
    `H_c ... H_1 A H_1 ... H_c` without its first c rows and columns. Unlike the eigenvectors of a
    projected A, this cannot mix the columns with null vectors of A.
    """
    n, c = columns.shape
    left, h = columns.copy(), np.zeros((c, n))
    for i in range(c):
        h[i, i:] = left[i:, i] / np.linalg.norm(left[i:, i])
        h[i, i] += np.copysign(1.0, h[i, i])
        h[i] /= np.linalg.norm(h[i])
        left -= np.outer(2.0 * h[i], h[i] @ left)
    basis = np.eye(n, c)
    for one in h[::-1]:
        basis -= np.outer(2.0 * one, one @ basis)
    return h, -basis


def rank_two(kernel: FloatArray, h: FloatArray) -> FloatArray:
    """Return q with `H A H = A - h q' - q h'`."""
    Ah = kernel @ h
    return np.asarray(2.0 * (Ah - (h @ Ah) * h))


def _eigen(kernel: FloatArray, h: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the eigenvalues of the complement of the unpenalized columns, and eigenvectors."""
    for one in h:
        q = rank_two(kernel, one)
        kernel -= np.outer(one, q)
        kernel -= np.outer(q, one)
    c = len(h)
    w, E = np.linalg.eigh(kernel[c:, c:])
    V = np.vstack([np.zeros((c, w.size)), E])
    for one in h[::-1]:
        V -= np.outer(2.0 * one, one @ V)
    return w, V


def _eigen_in_place(kernel: FloatArray, h: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Do the same; the eigenvectors take the place of the kernel."""
    c, n = h.shape
    for i, one in enumerate(h):
        q = rank_two(kernel, one)
        # BLAS counts in Fortran order: the upper triangle of the transpose is the lower one here
        dsyr2(-1.0, one, q, a=kernel.T, lower=False, overwrite_a=True)
        if i + 1 < c:  # the next reflection needs both triangles
            _mirror(kernel)
    size = n - c
    flat = kernel.reshape(-1)
    for j in range(size):
        flat[j * size : (j + 1) * size] = kernel[j + c, c:]
    inner = flat[: size**2].reshape(size, size).T
    w, E = eigh(inner, lower=False, overwrite_a=True, check_finite=False, driver="evd")
    # Eigenvectors [0; e] are written over the space that e occupies: last one first.
    for j in range(size - 1, -1, -1):
        flat[j * n + c : (j + 1) * n] = E[:, j]
        flat[j * n : j * n + c] = 0.0
    V = flat[: n * size].reshape(size, n).T
    for one in h[::-1]:
        V = dger(-2.0, one, one @ V, a=V, overwrite_a=True)
    return w, V


def _mirror(kernel: FloatArray) -> None:
    """Copy the lower triangle to the upper one."""
    for i in range(len(kernel)):
        kernel[i, i + 1 :] = kernel[i + 1 :, i]


def _inner(V: FloatArray, left: ScalarArray) -> ScalarArray:
    """Return `V diag(left) V'` (m, b, b) for rows V (b, k) of eigenvectors and left (m, k)."""
    half = np.sqrt(left)[:, None, :] * V
    # a matrix times its own transpose goes through syrk: half the work
    return np.asarray(half @ half.transpose(0, 2, 1))


def _parts(count: int, size: int) -> Iterator[slice]:
    step = max(1, _CHUNK // max(size, 1))
    for k in range(0, count, step):
        yield slice(k, k + step)


def _product(left: ScalarArray, right: FloatArray) -> ScalarArray:
    """Return `left @ right` without making a complex copy of the large real `right`."""
    if np.iscomplexobj(left):
        return np.asarray(left.real @ right + 1j * (left.imag @ right))
    return np.asarray(left @ right)
