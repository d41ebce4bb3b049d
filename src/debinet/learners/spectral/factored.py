"""The decomposition of features in terms of them: for a search, which never needs its vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.spectral.lowrank import (
    LowRankSpectrum,
    centre_features,
    decompose_gram,
    decompose_rows,
)
from debinet.learners.spectral.spectrum import Projected
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class FactoredSpectrum:
    """Eigenvectors `U = F basis` of `F S^2 F'`, not multiplied out if there are more rows.

    F (n, m) and S are those of `LowRankSpectrum`; the only unpenalized column is the intercept.

    Attributes
    ----------
    skip : float
        Weight of the linear part in the kernel.
    w : FloatArray of shape (k,)
        Eigenvalues, ascending, all positive.
    F : FloatArray of shape (n, m)
        Weighted features without their means.
    basis : FloatArray of shape (m, k)
    along : FloatArray of shape (m, k)
        `F'U`, so that `F = U along'`.
    C : FloatArray of shape (n, 1)
        Orthonormal basis of the unpenalized column.
    U : FloatArray of shape (n, k), optional
        Where there are fewer rows than features. `F basis` would be less precise.
    gram : FloatArray of shape (m, m), optional
        `F'F`, where there are more rows.
    """

    skip: float
    w: FloatArray
    F: FloatArray
    basis: FloatArray
    along: FloatArray
    C: FloatArray
    U: FloatArray | None = None
    gram: FloatArray | None = None

    @property
    def directions(self) -> int:
        """Number of all directions orthogonal to the unpenalized column."""
        return len(self.F) - 1

    def project(self, X: FloatArray) -> Projected:
        """Return the coordinates of columns (n, c)."""
        T = self.basis.T @ (self.F.T @ X) if self.U is None else self.U.T @ X
        rest = X - self.C @ (self.C.T @ X) - self.turn_back(T)
        if self.w.size >= self.directions:
            rest = rest[:0]
        return Projected(self.w, T, rest, self.directions)

    def residual(self, X: FloatArray, T: FloatArray, left: FloatArray) -> FloatArray:
        """Return what is left of columns X (n, c) with coordinates T (k, c)."""
        return np.asarray(X - self.C @ (self.C.T @ X) - self.turn_back((1.0 - left) * T))

    def turn_back(self, T: FloatArray) -> FloatArray:
        """Return the columns `U T` (n, c) with coordinates T (k, c)."""
        return np.asarray(self.F @ (self.basis @ T) if self.U is None else self.U @ T)

    def pull(
        self, level: float, shares: FloatArray, right: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return `B G right` (n, c) and `G' B G right` (b, c), `B = level - U diag(shares) U'`.

        G are the first b features, as many as `right` (b, c) has rows. Directions that are not in U
        are not lost: `right` may be large in them.
        """
        b = len(right)
        if self.gram is None:
            G = self.F[:, :b]
            found = level * G @ right - self.turn_back(shares[:, None] * (self.along[:b].T @ right))
            return found, G.T @ found
        inner = (self.basis * -shares) @ self.along[:b].T
        inner[np.arange(b), np.arange(b)] += level
        inner = inner @ right
        return self.F @ inner, self.gram[:b] @ inner

    def expanded(self) -> LowRankSpectrum:
        """Return the same with its eigenvectors."""
        U = self.F @ self.basis if self.U is None else self.U
        return LowRankSpectrum(self.skip, self.w, U, self.C, self.basis)


def factor_centred(F: FloatArray, width: int, skip: float, root: FloatArray) -> FactoredSpectrum:
    """Decompose features (n, m) of rows with square roots (n,) of weights, and an intercept.

    Parameters
    ----------
    F : FloatArray of shape (n, m)
        The first `width` are penalized as they are, the others are linear. Destroyed.
    width : int
    skip : float
        Positive.
    root : FloatArray of shape (n,)
    """
    centre, length = centre_features(F, root), float(np.linalg.norm(root))
    size = length**2 * float(centre @ centre)
    C, (n, m) = root[:, None] / length, F.shape
    gram = U = None
    if n - 1 <= m:
        found = decompose_rows(F, width, skip, C, size)
        w, basis, U = found.w, found.basis, found.U
    else:
        gram = F.T @ F
        w, basis = decompose_gram(gram, width, skip, n, size)
    along = w * basis
    along[width:] /= skip
    return FactoredSpectrum(skip, w, F, basis, along, C, U, gram)
