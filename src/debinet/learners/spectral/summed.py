"""The same decomposition where only Gram matrices of the rows are known, one per fold.

A row is `r = sqrt(weight) (phi(z), 1, y, d)`: m features, the intercept, and the targets. A column
over the rows is a linear map of r, one for each fold, an array (K, s, c). With `G` the Gram
matrices of r by fold, products of two columns are `sum_k A_k' G_k B_k`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from debinet.learners.spectral.lowrank import decompose_gram, penalty_columns, solve_inner
from debinet.learners.spectral.spectrum import Block, Projected
from debinet.protocols import FloatArray


def column_products(G: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the inner products (a, b) of columns, given the Gram matrices (K, s, s)."""
    return np.asarray(sum(a.T @ (g @ b) for a, g, b in zip(left, G, right, strict=True)))


@dataclass(frozen=True)
class SummedSpectrum:
    """Eigenvectors of a kernel of m features, as maps of a row; K folds.

    Attributes
    ----------
    skip : float
    w : FloatArray of shape (k,)
        Eigenvalues, ascending, all positive.
    J : FloatArray of shape (m + 1, k + 1)
        From features and intercept to the direction of the intercept and the k eigenvectors.
    G : FloatArray of shape (K, s, s)
        Gram matrices of rows.
    n : int
        Number of rows.
    """

    skip: float
    w: FloatArray
    J: FloatArray
    G: FloatArray
    n: int

    @cached_property
    def H(self) -> FloatArray:
        """Gram matrices of the directions by fold, of shape (K, k + 1, k + 1)."""
        m = len(self.J)
        return np.stack([self.J.T @ (G[:m, :m] @ self.J) for G in self.G])

    def project(self, X: FloatArray) -> Projected:
        """Return the coordinates of columns (K, s, c)."""
        T = self._products(X).sum(axis=0)
        values, vectors = np.linalg.eigh(column_products(self.G, X, X) - T.T @ T)
        rest = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        return Projected(self.w, T[1:], rest, self.n - 1)

    def residual(self, X: FloatArray, left: FloatArray) -> FloatArray:
        """Return `R X` for columns (K, s, c)."""
        share = np.vstack([np.ones((1, left.shape[1])), 1.0 - left])
        out = X.copy()
        out[:, : len(self.J)] -= self.J @ (share * self._products(X).sum(axis=0))
        return out

    def solve_blocks(
        self,
        X: FloatArray,
        left: FloatArray,
        blocks: Sequence[Block],  # noqa: ARG002 - the folds of the Gram matrices
    ) -> FloatArray:
        """Return `blockdiag(R_BB^-1) X` for columns (K, s, c)."""
        out, products = X.copy(), self._products(X)
        for share, j in penalty_columns(left, 1):
            for k, H in enumerate(self.H):
                solved = solve_inner(H, np.sqrt(share), products[k][:, j])
                out[k, : len(self.J), j] += self.J @ solved
        return out

    def _products(self, X: FloatArray) -> FloatArray:
        """Return the inner products (K, k + 1, c) of the directions with columns, by fold."""
        m = len(self.J)
        return np.stack([self.J.T @ (G[:m] @ x) for G, x in zip(self.G, X, strict=True)])


def decompose_sums(
    G: FloatArray, n: int, width: int, features: int, skips: tuple[float, ...]
) -> tuple[SummedSpectrum, ...]:
    """Decompose the features of all rows, once for every skip weight.

    Parameters
    ----------
    G : FloatArray of shape (K, s, s)
        Gram matrices of rows by fold.
    n : int
        Number of rows.
    width, features : int
        Numbers of features: before the linear ones, and of all.
    skips : tuple of float
    """
    m, total = features, G.sum(axis=0)
    weight = float(total[m, m])
    centre = total[:m, m] / weight
    gram = total[:m, :m] - weight * np.outer(centre, centre)
    spectra = []
    for skip in skips:
        w, basis = decompose_gram(gram, width, skip, n, weight * float(centre @ centre))
        J = np.zeros((m + 1, w.size + 1))
        J[:m, 1:], J[m, 1:], J[m, 0] = basis, -(centre @ basis), 1 / np.sqrt(weight)
        spectra.append(SummedSpectrum(skip, w, J, G, n))
    return tuple(spectra)
