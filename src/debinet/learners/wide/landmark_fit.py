"""A network on landmarks, fitted to a sample of the rows: quick enough to try many of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from debinet._random import named_generator
from debinet.learners.spectral.lowrank import LowRankSpectrum, decompose_centred
from debinet.learners.spectral.spectrum import RIDGE, Projected
from debinet.learners.spectral.tuning import Tuned, reml, time_grid, tune
from debinet.learners.wide.input_map import NetworkInputs
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.landmarks import Landmarks, choose_landmarks
from debinet.protocols import FloatArray, IntArray

# Rows of a sample, and landmarks. With 100 of them and 500 rows, a network that needs 50 degrees of
# freedom leaves so much that rules were found where there are none.
MOST_ROWS, _LANDMARKS = 4000, 200
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class SampledRows:
    """Rows to look for what a network misses.

    Attributes
    ----------
    Z : FloatArray of shape (n, p)
    M : FloatArray of shape (n, m)
        Standardized targets.
    root : FloatArray of shape (n,)
        Square roots of the weights.
    architecture : Architecture
        Of the network.
    """

    Z: FloatArray
    M: FloatArray
    root: FloatArray
    architecture: Architecture

    @property
    def weight(self) -> FloatArray:
        """Precisions (n,)."""
        return self.root**2

    def of(self, rows: IntArray) -> SampledRows:
        """Return some of the rows."""
        return SampledRows(self.Z[rows], self.M[rows], self.root[rows], self.architecture)

    def sample(self, most: int = MOST_ROWS) -> SampledRows:
        """Return at most so many of the rows, drawn at random, in the order of the data."""
        if len(self.Z) <= most:
            return self
        return self.of(np.sort(named_generator(0, "sample").permutation(len(self.Z))[:most]))

    def fit(self, network: NetworkInputs) -> LandmarkFit:
        """Decompose the network on landmarks, and tune all targets."""
        count = min(_LANDMARKS, len(self.Z))
        features = choose_landmarks(self.Z, network.map_, self.architecture, count, 0, quick=True)
        return self._decompose(network, features, features(self.Z))

    def fit_all(self, networks: Sequence[NetworkInputs]) -> list[LandmarkFit]:
        """Fit networks that differ only in the weight of their rules."""
        first = self.fit(networks[0])
        rules = first.network.map_.rules
        assert rules is not None
        F, end = first.features(self.Z), first.features.width
        columns = F[:, end - rules.width : end].copy()
        fits = [first]
        for network in networks[1:]:
            features, other = replace(first.features, inputs=network.map_), network.map_.rules
            assert other is not None
            F[:, end - rules.width : end] = columns * np.sqrt(other.weight / rules.weight)
            fits.append(self._decompose(network, features, F.copy()))
        return fits

    def _decompose(self, network: NetworkInputs, features: Landmarks, F: FloatArray) -> LandmarkFit:
        found = decompose_centred(F, features.width, (network.skip or 0.0,), self.root)
        spectrum = found.spectra[0]
        part = spectrum.project(self.root[:, None] * self.M)
        tuned = tune(reml(spectrum, part, RIDGE), time_grid(part.w))
        mean = self.weight @ self.M / self.weight.sum()
        return LandmarkFit(network, features, found.centre, spectrum, part, tuned, mean)


@dataclass(frozen=True)
class LandmarkFit:
    """A network on landmarks, fitted to m targets.

    Attributes
    ----------
    network : NetworkInputs
    features : Landmarks
    centre : FloatArray of shape (f,)
        Weighted means of the features.
    spectrum : LowRankSpectrum
    part : Projected
        The targets in its coordinates.
    tuned : Tuned
        Their penalties.
    mean : FloatArray of shape (m,)
        Weighted means of the targets.
    """

    network: NetworkInputs
    features: Landmarks
    centre: FloatArray
    spectrum: LowRankSpectrum
    part: Projected
    tuned: Tuned
    mean: FloatArray

    @property
    def value(self) -> float:
        """Twice the negative restricted log-likelihood of all targets, up to a constant."""
        return float(self.tuned.value.sum())

    @property
    def left(self) -> FloatArray:
        """Shares (k, m) of all directions that are not learned."""
        return RIDGE.residual(np.multiply.outer(self.spectrum.w, self.tuned.time))

    @property
    def noise(self) -> FloatArray:
        """Variances (m,) of what is not learned."""
        energy = self.part.energy(self.left.T[None])[0]
        return np.asarray(np.maximum(energy / self.part.directions, _TINY))

    def coordinates(self, Z: FloatArray) -> FloatArray:
        """Return rows (n, p) in the coordinates (n, k) of the spectrum."""
        return np.asarray((self.features(Z) - self.centre) @ self.spectrum.basis)

    def predict(self, Z: FloatArray) -> FloatArray:
        """Return the targets (n, m) that are expected of rows (n, p)."""
        return np.asarray(self.mean + self.coordinates(Z) @ ((1.0 - self.left) * self.part.T))

    def held_out(self, rows: SampledRows) -> FloatArray:
        """Return the leave-one-out residuals (n, m) of the rows that it was fitted to."""
        root = rows.root[:, None]
        return self.spectrum.leave_one_out(root * rows.M, self.left) / root
