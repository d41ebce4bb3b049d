"""Rules beside a network: grown on what it leaves, kept if the likelihood gains."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from debinet._random import named_generator
from debinet.learners.spectral.lowrank import LowRankSpectrum, decompose_centred
from debinet.learners.spectral.spectrum import RIDGE
from debinet.learners.spectral.tuning import Tuned, reml, time_grid, tune
from debinet.learners.wide.input_map import NetworkInputs
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.landmarks import choose_landmarks
from debinet.learners.wide.rules import grow_rules, join_rules
from debinet.protocols import FloatArray

# Rows to learn rules from, and landmarks of the network meanwhile.
MOST_ROWS, _LANDMARKS = 4000, 300
# With fewer rows a box has too few of them.
FEWEST_ROWS = 400
# How often rules are grown on what a network with all rules so far leaves.
_ROUNDS = 3
# Weights that are tried, and what twice the log-likelihood must gain.
_WEIGHTS = (0.01, 0.1, 1.0, 10.0, 100.0)
_PRICE = 10.0


@dataclass(frozen=True)
class _Rows:
    """Rows to learn rules from.

    Attributes
    ----------
    Z : FloatArray of shape (n, p)
    targets : FloatArray of shape (n, m)
        Times the square roots of the weights.
    root : FloatArray of shape (n,)
        Square roots of the weights.
    """

    Z: FloatArray
    targets: FloatArray
    root: FloatArray

    def fit(self, network: NetworkInputs, architecture: Architecture) -> _Fit:
        """Decompose the network on landmarks, and tune all targets."""
        count = min(_LANDMARKS, len(self.Z))
        features = choose_landmarks(self.Z, network.map_, architecture, count, 0)
        skips = (network.skip or 0.0,)
        (spectrum,) = decompose_centred(features(self.Z), features.width, skips, self.root).spectra
        part = spectrum.project(self.targets)
        return _Fit(network, spectrum, tune(reml(spectrum, part, RIDGE), time_grid(part.w)))

    def residual(self, fit: _Fit) -> FloatArray:
        """Return the leave-one-out residuals (n, m) of a fit, in the units of the targets."""
        left = RIDGE.residual(np.multiply.outer(fit.spectrum.w, fit.tuned.time))
        return fit.spectrum.leave_one_out(self.targets, left) / self.root[:, None]


@dataclass(frozen=True)
class _Fit:
    """A network with its decomposition and stopping times."""

    network: NetworkInputs
    spectrum: LowRankSpectrum
    tuned: Tuned

    @property
    def value(self) -> float:
        """Twice the negative restricted log-likelihood of all targets, up to a constant."""
        return float(self.tuned.value.sum())


def add_rules(
    Z: FloatArray,
    M: FloatArray,
    weight: FloatArray,
    network: NetworkInputs,
    architecture: Architecture,
) -> NetworkInputs:
    """Return the inputs with rules, or as they are if none are worth it.

    Parameters
    ----------
    Z : FloatArray of shape (n, p)
    M : FloatArray of shape (n, m)
        Standardized targets.
    weight : FloatArray of shape (n,)
        Positive.
    network : NetworkInputs
    architecture : Architecture
    """
    if len(Z) < FEWEST_ROWS:
        return network
    rng = named_generator(0, "rules")
    chosen = np.sort(rng.permutation(len(Z))[:MOST_ROWS])
    root = np.sqrt(weight[chosen])
    rows = _Rows(Z[chosen], root[:, None] * M[chosen], root)
    best = rows.fit(network, architecture)
    for _ in range(_ROUNDS):
        grown = grow_rules(rows.Z, rows.residual(best), weight[chosen], rng)
        if grown is None:
            break
        map_ = best.network.map_
        joined = join_rules(map_.rules, grown)
        tried = [replace(map_, rules=joined.weighted(a)) for a in _WEIGHTS]
        fits = [rows.fit(replace(network, map_=one), architecture) for one in tried]
        found = min(fits, key=lambda fit: fit.value)
        if found.value >= best.value - _PRICE:
            break
        best = found
    return best.network
