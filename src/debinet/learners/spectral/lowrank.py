"""The eigendecomposition of a kernel of features, through the smaller of its two Gram matrices.

With `P = [C, U diag(share)^1/2]`, `share = 1 - left`, the residual operator is `R = I - P P'`. A
block with more rows than P has columns is inverted by Woodbury's identity,
`R_BB^-1 = I + P_B (I - P_B' P_B)^-1 P_B'`: the same as subtracting the block's Gram matrix from
that of all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from debinet.data.free_memory import row_chunks
from debinet.learners.spectral.spectrum import SMALL, Block, Projected
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class LowRankSpectrum:
    """Eigenvectors of `F S^2 F'` whose eigenvalues are not zero.

    F (n, m) are weighted features, orthogonal to the unpenalized columns, and S multiplies the
    linear ones by `sqrt(skip)`.

    Attributes
    ----------
    skip : float
        Weight of the linear part in the kernel.
    w : FloatArray of shape (k,)
        Eigenvalues, ascending, all positive.
    U : FloatArray of shape (n, k)
        Eigenvectors.
    C : FloatArray of shape (n, c)
        Orthonormal basis of the unpenalized columns.
    basis : FloatArray of shape (m, k)
        `U = F basis`: turns features into coordinates.
    """

    skip: float
    w: FloatArray
    U: FloatArray
    C: FloatArray
    basis: FloatArray

    def project(self, X: FloatArray) -> Projected:
        """Return the coordinates of columns (n, m)."""
        T, directions = self.U.T @ X, len(X) - self.C.shape[1]
        rest = np.zeros((0, X.shape[1]))
        if self.w.size < directions:
            # not the Cholesky factor of X'X - T'T, which may be indefinite by rounding
            left = X - self.U @ T - self.C @ (self.C.T @ X)
            rest = np.asarray(np.linalg.qr(left, mode="r"))
        return Projected(self.w, T, rest, directions, self.C.shape[1])

    def residual(self, X: FloatArray, left: FloatArray) -> FloatArray:
        """Return `R X` for columns X (n, m)."""
        fitted = self.C @ (self.C.T @ X) + self.U @ ((1.0 - left) * (self.U.T @ X))
        return np.asarray(X - fitted)

    def solve_blocks(self, X: FloatArray, left: FloatArray, blocks: Sequence[Block]) -> FloatArray:
        """Return `blockdiag(R_BB^-1) X` for columns X (n, m)."""
        if not blocks:
            return self._solve_rows(X, left)
        out = np.empty_like(X)
        for block in blocks:
            P = np.column_stack([self.C[block.inside], self.U[block.inside]])
            gram = P.T @ P if P.shape[0] > P.shape[1] else None
            for share, j in penalty_columns(left, self.C.shape[1]):
                out[block.inside, j] = _solve_block(P, gram, share, X[block.inside, j])
        return out

    def leave_one_out(self, X: FloatArray, left: FloatArray) -> FloatArray:
        """Return the residuals of columns X (n, m), each row left out."""
        return self._solve_rows(self.residual(X, left), left)

    def _solve_rows(self, X: FloatArray, left: FloatArray) -> FloatArray:
        """Return `X_i / R_ii` for every row of columns X (n, m)."""
        return np.asarray(X / (1.0 - self._leverage(1.0 - left)))

    def _leverage(self, share: FloatArray) -> FloatArray:
        """Return the diagonals (n, m) or (n, 1) of `I - R`."""
        out = np.empty((len(self.C), share.shape[1]))
        for rows in row_chunks(*self.U.shape):
            out[rows] = self.U[rows] ** 2 @ share
        return np.asarray(out + (self.C**2).sum(axis=1, keepdims=True))


def penalty_columns(left: FloatArray, unpenalized: int) -> Iterator[tuple[FloatArray, slice]]:
    """Yield the shares (c + k,) learned of all columns of P, and the columns of X they are for."""
    shares = np.vstack([np.ones((unpenalized, left.shape[1])), 1.0 - left]).T
    if len(shares) == 1:
        yield shares[0], slice(None)
        return
    for j, share in enumerate(shares):
        yield share, slice(j, j + 1)


def solve_inner(gram: FloatArray, root: FloatArray, right: FloatArray) -> FloatArray:
    """Return `S (I - S G S)^-1 S right` for S = diag(root): the middle of Woodbury's identity."""
    inner = np.eye(root.size) - root[:, None] * gram * root
    # numpy, not scipy's Cholesky: two libraries with threads of their own slow each other down
    return np.asarray(root[:, None] * np.linalg.solve(inner, root[:, None] * right))


def _solve_block(
    P: FloatArray, gram: FloatArray | None, share: FloatArray, X: FloatArray
) -> FloatArray:
    """Return `R_BB^-1 X` for rows P (b, c + k); `gram` is `P'P` where P is tall."""
    if gram is None:
        return np.asarray(np.linalg.solve(np.eye(P.shape[0]) - (P * share) @ P.T, X), np.float64)
    return np.asarray(X + P @ solve_inner(gram, np.sqrt(share), P.T @ X))


def decompose_features(
    F: FloatArray, width: int, skips: tuple[float, ...], C: FloatArray, size: float
) -> tuple[LowRankSpectrum, ...]:
    """Decompose the kernel of features for every skip weight, each in O(n m min(n, m)).

    Parameters
    ----------
    F : FloatArray of shape (n, m)
        Weighted features, orthogonal to C; the first `width` are penalized as they are, the others
        are linear. Destroyed: the last decomposition takes their place.
    width : int
    skips : tuple of float
    C : FloatArray of shape (n, c)
        Orthonormal basis of the unpenalized columns.
    size : float
        Energy of the features before C was projected out; directions below its rounding are
        dropped.
    """
    n, m = F.shape
    if n - C.shape[1] <= m:
        return tuple(decompose_rows(F, width, skip, C, size) for skip in skips)
    # `A.T @ A` goes through syrk, which is half the work and exactly symmetric
    gram: FloatArray = F.T @ F
    found = []
    for i, skip in enumerate(skips):
        w, basis = decompose_gram(gram, width, skip, n, size)
        U = F[:, : w.size] if i == len(skips) - 1 else np.empty((n, w.size))
        for rows in row_chunks(n, m):
            U[rows] = F[rows] @ basis
        found.append(LowRankSpectrum(skip, w, U, C, basis))
    return tuple(found)


@dataclass(frozen=True)
class Centred:
    """Decompositions of features without their weighted means.

    Attributes
    ----------
    centre : FloatArray of shape (m,)
        Weighted means of the features.
    length : float
        Square root of the sum of the weights.
    spectra : tuple of LowRankSpectrum
        One per skip weight.
    """

    centre: FloatArray
    length: float
    spectra: tuple[LowRankSpectrum, ...]


def decompose_centred(
    F: FloatArray, width: int, skips: tuple[float, ...], root: FloatArray
) -> Centred:
    """Decompose features (n, m) of rows with square roots (n,) of weights, and an intercept.

    The features are destroyed. `width` and `skips` are as in `decompose_features`.
    """
    centre, length = centre_features(F, root), float(np.linalg.norm(root))
    size = length**2 * float(centre @ centre)
    spectra = decompose_features(F, width, skips, root[:, None] / length, size)
    return Centred(centre, length, spectra)


def centre_features(F: FloatArray, root: FloatArray) -> FloatArray:
    """Subtract the weighted means (m,) of features (n, m) and weight them, in place."""
    centre = root**2 @ F / float(np.linalg.norm(root)) ** 2
    F -= centre
    F *= root[:, None]
    return np.asarray(centre)


def decompose_gram(
    gram: FloatArray, width: int, skip: float, n: int, size: float
) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues (k,) and basis (m, k) from the Gram matrix (m, m) of the features."""
    m = len(gram)
    scale = np.ones(m)
    scale[width:] = np.sqrt(skip)
    w, E = _eigen(gram * scale * scale[:, None], max(n, m), size)
    return w, scale[:, None] * E / np.sqrt(w)


def decompose_rows(
    F: FloatArray, width: int, skip: float, C: FloatArray, size: float
) -> LowRankSpectrum:
    """Decompose the n x n matrix `F S^2 F'` itself, which is the smaller one."""
    units, linear = F[:, :width], F[:, width:]
    kernel: FloatArray = units @ units.T
    if skip:
        kernel += skip * (linear @ linear.T)
    w, U = _eigen(kernel, max(F.shape), size)
    basis = F.T @ U / w
    basis[width:] *= skip
    return LowRankSpectrum(skip, w, U, C, basis)


def _eigen(matrix: FloatArray, count: int, size: float) -> tuple[FloatArray, FloatArray]:
    """Return the eigenvalues that are more than rounding, and their eigenvectors."""
    if len(matrix) <= SMALL:
        w, E = np.linalg.eigh(matrix)
    else:
        w, E = eigh(matrix, overwrite_a=True, check_finite=False, driver="evd")
    floor = count * np.finfo(np.float64).eps * max(w[-1], size)
    first = int(np.searchsorted(w, floor, side="right"))
    return w[first:], E[:, first:]
