"""Decompositions of the features from Gram matrices, and fits without each fold.

In the coordinates `(u, U) = r J` of a decomposition, u the intercept's direction, ridge regression
learns the share `S^2` of each direction. With `P = (u, U) S`, `H = (u, U)'(u, U)` of a fold and `t`
its `P'm`, the fit without the fold has the coefficients `(I - S H S)^-1 (P'm - t)`: what all rows
say, less what the fold says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from debinet.learners.tangent.lowrank import eigen
from debinet.learners.tangent.solution import Tuning, learned_share, tune_projected
from debinet.learners.tangent.tuning import Projected
from debinet.protocols import FloatArray
from debinet.streaming.grams import FoldGrams


@dataclass(frozen=True)
class Decomposed:
    """Features of all rows under one skip weight; m features, K folds, 1 + q targets.

    Attributes
    ----------
    skip : float
    w : FloatArray of shape (k,)
        Eigenvalues.
    J : FloatArray of shape (m + 1, k + 1)
        From features and intercept to `(u, U)`.
    grams : FloatArray of shape (K, m + 1, m + 1)
        Of features and intercept, by fold.
    N : FloatArray of shape (K, k + 1, 1 + q)
        Products with the targets, by fold.
    """

    skip: float
    w: FloatArray
    J: FloatArray
    grams: FloatArray
    N: FloatArray

    @cached_property
    def H(self) -> FloatArray:
        """Gram matrices of `(u, U)` by fold, of shape (K, k + 1, k + 1); made if needed."""
        return np.stack([self.J.T @ (G @ self.J) for G in self.grams])

    @cached_property
    def T(self) -> FloatArray:
        """Targets of all rows in these coordinates, of shape (k, 1 + q)."""
        return np.asarray(self.N.sum(axis=0)[1:])


@dataclass(frozen=True)
class Sums:
    """All rows.

    Attributes
    ----------
    n : int
    weight : float
        Sum of the weights.
    MM : FloatArray of shape (1 + q, 1 + q)
        Products of the standardized targets.
    spectra : tuple of Decomposed
        One per skip weight.
    """

    n: int
    weight: float
    MM: FloatArray
    spectra: tuple[Decomposed, ...]


def decompose_sums(grams: FoldGrams, width: int, features: int, skips: tuple[float, ...]) -> Sums:
    """Decompose the features of all rows, once for every skip weight."""
    m = features
    total = grams.G.sum(axis=0)
    weight = float(total[m, m])
    centre = total[:m, m] / weight
    gram = total[:m, :m] - weight * np.outer(centre, centre)
    floor, size = max(grams.n, m) * np.finfo(np.float64).eps, weight * float(centre @ centre)
    spectra = []
    for skip in skips:
        scale = np.ones(m)
        scale[width:] = np.sqrt(skip)
        w, E = eigen(gram * scale * scale[:, None], floor, size)
        basis = scale[:, None] * E / np.sqrt(w)
        J = np.zeros((m + 1, w.size + 1))
        J[:m, 1:], J[m, 1:], J[m, 0] = basis, -(centre @ basis), 1 / np.sqrt(weight)
        N = np.stack([J.T @ G[: m + 1, m + 1 :] for G in grams.G])
        spectra.append(Decomposed(skip, w, J, grams.G[:, : m + 1, : m + 1], N))
    return Sums(grams.n, weight, total[m + 1 :, m + 1 :], tuple(spectra))


def tune_targets(sums: Sums, V: FloatArray, criterion: str) -> Tuning:
    """Tune the targets `M V` (1 + q, c) over skip weights and penalties."""
    energy = np.einsum("ic,ij,jc->c", V, sums.MM, V) / sums.weight
    # What is left of an outcome that the treatments explain wholly is rounding, of either sign.
    sd = np.sqrt(np.maximum(energy, np.finfo(np.float64).eps * (V**2).sum(axis=0)))
    parts = []
    for spectrum in sums.spectra:
        T = spectrum.T @ (V / sd)
        rest = np.maximum(sums.weight - (T**2).sum(axis=0), 0.0)
        parts.append(Projected(spectrum.w, T, rest, sums.n - 1))
    tuning = tune_projected(parts, [spectrum.skip for spectrum in sums.spectra], criterion)
    return replace(tuning, noise=tuning.noise * sd**2)


@dataclass(frozen=True)
class Held:
    """Fits without each fold, for one penalty.

    Attributes
    ----------
    spectrum : Decomposed
    share : FloatArray of shape (k,)
        Learned share of every direction.
    """

    spectrum: Decomposed
    share: FloatArray

    @property
    def root(self) -> FloatArray:
        """Diagonal of S, of shape (k + 1,)."""
        return np.concatenate([[1.0], np.sqrt(self.share)])

    def fitted(self, V: FloatArray) -> FloatArray:
        """Return coefficients (m + 1, c) of features and intercept, fitted to all rows."""
        learned = self.share[:, None] * (self.spectrum.T @ V)
        return np.asarray(self.spectrum.J[:, 1:] @ learned)

    def without(self, V: FloatArray) -> FloatArray:
        """Return coefficients (K, m + 1, c) of the targets `M V`, fitted without each fold."""
        root = self.root[:, None]
        whole = root * np.vstack([np.zeros((1, V.shape[1])), self.spectrum.T @ V])
        found = [
            self.spectrum.J @ (root * self._solve(k, whole - root * (N @ V)))
            for k, N in enumerate(self.spectrum.N)
        ]
        return np.stack(found)

    def adjoint(self, products: FloatArray) -> FloatArray:
        """Return what to add to X (s, c), by fold, so that it becomes `L'X`: (K, m + 1, c).

        L takes targets to their residuals without each fold, `L = blockdiag(R_BB^-1) R`, and
        `products` (K, m + 1, c) are those of the features with X, by fold.
        """
        root = self.root[:, None]
        solved = np.stack(
            [self._solve(k, root * (self.spectrum.J.T @ part)) for k, part in enumerate(products)]
        )
        return np.asarray(self.spectrum.J @ (root * (solved - solved.sum(axis=0))))

    def _solve(self, k: int, right: FloatArray) -> FloatArray:
        root = self.root
        inner = np.eye(root.size) - root[:, None] * self.spectrum.H[k] * root
        # numpy, not scipy's Cholesky: two libraries with threads of their own slow each other down
        return np.asarray(np.linalg.solve(inner, right), np.float64)


def hold_out(sums: Sums, tuning: Tuning, j: int) -> Held:
    """Return the fits without each fold at the penalty of target j."""
    spectrum = sums.spectra[tuning.spectrum_of[j]]
    return Held(spectrum, learned_share(spectrum.w, tuning.time[j : j + 1])[:, 0])
