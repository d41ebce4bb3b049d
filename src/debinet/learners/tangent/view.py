"""Rows as features, with the decompositions of their kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from debinet.data.free_memory import require_decompositions, row_chunks
from debinet.learners.spectral.heldout import Outside
from debinet.learners.spectral.lowrank import LowRankSpectrum, decompose_centred
from debinet.learners.spectral.prepared import OutputFit
from debinet.learners.tangent.features import FeatureMap
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class FeatureExpansion:
    """Outputs of a fitted network, `f(z) = phi(z)' coef + intercept`.

    Attributes
    ----------
    feature_map : FeatureMap
    coef : FloatArray of shape (features, m)
        Outgoing weights of the hidden units, and of the skip connection.
    intercept : FloatArray of shape (m,)
    """

    feature_map: FeatureMap
    coef: FloatArray
    intercept: FloatArray

    def predict(self, Z: FloatArray) -> FloatArray:
        """Return the outputs (r, m) for rows (r, p), a chunk of features at a time."""
        out = np.empty((len(Z), self.intercept.size))
        for rows in row_chunks(len(Z), len(self.coef)):
            out[rows] = self.feature_map(Z[rows]) @ self.coef + self.intercept
        return out


@dataclass(frozen=True)
class FeatureView:
    """Features of the rows, decomposed.

    Attributes
    ----------
    feature_map : FeatureMap
    centre : FloatArray of shape (m,)
        Weighted means of the features.
    length : float
        Square root of the sum of the weights.
    spectra : tuple of LowRankSpectrum
        One per skip weight.
    """

    feature_map: FeatureMap
    centre: FloatArray
    length: float
    spectra: tuple[LowRankSpectrum, ...]

    def outside(self, spectrum: LowRankSpectrum, Z: FloatArray) -> Outside:
        """Return further rows (n0, p) in the coordinates of a spectrum."""
        coordinates = (self.feature_map(Z) - self.centre) @ spectrum.basis
        pull = spectrum.w[:, None] * coordinates.T
        level = np.full((1, len(Z)), 1.0 / self.length)
        return Outside(spectrum.U, spectrum.C, pull, level)

    def expand(self, fits: Sequence[OutputFit]) -> FeatureExpansion:
        """Turn stopping times into coefficients: `basis diag(share) T`."""
        coef = np.empty((self.centre.size, len(fits)))
        for j, fit in enumerate(fits):
            share = 1.0 - fit.filter_.residual(fit.spectrum.w * fit.time)
            coef[:, j] = fit.sd * (fit.spectrum.basis @ (share * fit.coordinates))
        intercept = np.array([fit.mean for fit in fits]) - self.centre @ coef
        return FeatureExpansion(self.feature_map, coef, intercept)


def view_features(
    Z: FloatArray, weight: FloatArray, feature_map: FeatureMap, skips: tuple[float, ...]
) -> FeatureView:
    """Compute the features and decompose them: once for every skip weight.

    Parameters
    ----------
    Z : FloatArray of shape (n, p)
    weight : FloatArray of shape (n,)
        Positive.
    feature_map : FeatureMap
    skips : tuple of float
        Weights of the linear part to prepare for.
    """
    require_memory(len(Z), feature_map.count, len(skips))
    found = decompose_centred(feature_map(Z), feature_map.width, skips, np.sqrt(weight))
    return FeatureView(feature_map, found.centre, found.length, found.spectra)


def bytes_needed(n: int, features: int, decompositions: int) -> int:
    """Return the peak of a fit on `n` rows with that many features and decompositions.

    Every decomposition keeps an n x m matrix, the last in the place of the features, and an m x m
    one (m x n if n is less). The last one to be computed also needs four square matrices.
    """
    small = min(n, features)
    kept = decompositions * features * (n + small)
    return 8 * (kept + 4 * small * small)


def require_memory(n: int, features: int, decompositions: int) -> None:
    """Raise MemoryLimitError if a fit of `n` rows and that many features would not fit."""
    require_decompositions(
        partial(bytes_needed, n, features),
        decompositions,
        f"for {n} rows and {features} features",
        "fewer hidden units or knots: memory is proportional to them.",
    )
