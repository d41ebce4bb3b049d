"""Rules and products beside a network: found in what it leaves, kept if the likelihood gains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from debinet._random import named_generator
from debinet.learners.spectral.lowrank import LowRankSpectrum, decompose_centred
from debinet.learners.spectral.spectrum import RIDGE
from debinet.learners.spectral.tuning import Tuned, reml, time_grid, tune
from debinet.learners.threads import quiet_scipy
from debinet.learners.wide.input_map import NetworkInputs
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.landmarks import Landmarks, choose_landmarks
from debinet.learners.wide.missed_feature import missed_feature
from debinet.learners.wide.missed_pair import missed_pair
from debinet.learners.wide.products import add_pair
from debinet.learners.wide.rules import Rules, grow_rules, join_rules
from debinet.protocols import FloatArray, IntArray

# Rows to learn rules from, and landmarks of the network meanwhile.
MOST_ROWS, _LANDMARKS = 4000, 200
# Rows to find out on whether rules of the targets themselves are worth it.
_STEP_ROWS = 2000
# With fewer rows a box has too few of them.
FEWEST_ROWS = 400
# How often rules are grown on what a network with all rules so far leaves; products at most.
_ROUNDS = 3
_MOST_PRODUCTS = 6
# Weights that are tried, and what twice the log-likelihood must gain.
_WEIGHTS = (0.01, 0.1, 1.0, 10.0, 100.0)
_PRICE = 10.0
# What rules of the targets themselves must add to the log-likelihood of other rows.
_WORTH = 6.0


@dataclass(frozen=True)
class _Rows:
    """Rows to learn rules from.

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

    def of(self, rows: IntArray) -> _Rows:
        """Return some of the rows."""
        return _Rows(self.Z[rows], self.M[rows], self.root[rows], self.architecture)

    def fit(self, network: NetworkInputs) -> _Fit:
        """Decompose the network on landmarks, and tune all targets."""
        count = min(_LANDMARKS, len(self.Z))
        features = choose_landmarks(self.Z, network.map_, self.architecture, count, 0)
        return self._decompose(network, features, features(self.Z))

    def fit_all(self, networks: Sequence[NetworkInputs]) -> list[_Fit]:
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

    def _decompose(self, network: NetworkInputs, features: Landmarks, F: FloatArray) -> _Fit:
        found = decompose_centred(F, features.width, (network.skip or 0.0,), self.root)
        spectrum = found.spectra[0]
        part = spectrum.project(self.root[:, None] * self.M)
        tuned = tune(reml(spectrum, part, RIDGE), time_grid(part.w))
        mean = self.weight @ self.M / self.weight.sum()
        return _Fit(network, features, found.centre, spectrum, part.T, tuned, mean)


@dataclass(frozen=True)
class _Fit:
    """A network on landmarks, fitted to m targets."""

    network: NetworkInputs
    features: Landmarks
    centre: FloatArray
    spectrum: LowRankSpectrum
    T: FloatArray
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

    def held_out(self, rows: _Rows) -> FloatArray:
        """Return the leave-one-out residuals (n, m) of the rows that it was fitted to."""
        root = rows.root[:, None]
        return self.spectrum.leave_one_out(root * rows.M, self.left) / root

    def errors(self, rows: _Rows) -> FloatArray:
        """Return the mean squared errors (m,) of predictions of other rows."""
        coordinates = (self.features(rows.Z) - self.centre) @ self.spectrum.basis
        predicted = self.mean + coordinates @ ((1.0 - self.left) * self.T)
        squares = np.average((rows.M - predicted) ** 2, axis=0, weights=rows.weight)
        return np.asarray(np.maximum(squares, np.finfo(np.float64).tiny))


def find_missed(
    Z: FloatArray,
    M: FloatArray,
    weight: FloatArray,
    network: NetworkInputs,
    architecture: Architecture,
) -> int | None:
    """Return a feature that the network misses a function of, if there is one.

    Parameters are those of `add_rules`.
    """
    rows = _choose(Z, M, weight, architecture, named_generator(0, "missed"))
    with quiet_scipy():
        residual = rows.root[:, None] * rows.fit(network).held_out(rows)
    return missed_feature(rows.Z, residual, rows.root)


def add_rules(
    Z: FloatArray,
    M: FloatArray,
    weight: FloatArray,
    network: NetworkInputs,
    architecture: Architecture,
) -> NetworkInputs:
    """Return the inputs with rules and products, or as they are if none are worth it.

    First with rules that are grown on the targets themselves, if the network then predicts rows
    better that neither was learned from; then with products and rules in what it leaves.

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
    rows = _choose(Z, M, weight, architecture, rng)
    with quiet_scipy():
        return _add(rows, network, rng)


def _choose(
    Z: FloatArray,
    M: FloatArray,
    weight: FloatArray,
    architecture: Architecture,
    rng: np.random.Generator,
) -> _Rows:
    """Return at most so many rows, drawn at random, in the order of the data."""
    chosen = np.sort(rng.permutation(len(Z))[:MOST_ROWS])
    return _Rows(Z[chosen], M[chosen], np.sqrt(weight[chosen]), architecture)


def _add(rows: _Rows, network: NetworkInputs, rng: np.random.Generator) -> NetworkInputs:
    """Add rules of the targets, then products, then rules of what is left."""
    best = _with_products(rows, rows.fit(_with_steps(rows, network, rng)))
    for _ in range(_ROUNDS):
        grown = grow_rules(rows.Z, best.held_out(rows), rows.weight, rng)
        if grown is None:
            break
        joined = join_rules(best.network.map_.rules, grown)
        found = min(rows.fit_all(_weighted(best.network, joined)), key=lambda fit: fit.value)
        if found.value >= best.value - _PRICE:
            break
        best = found
    return best.network


def _with_steps(rows: _Rows, network: NetworkInputs, rng: np.random.Generator) -> NetworkInputs:
    """Return the network with rules of the targets themselves, if it predicts better with them."""
    order = rng.permutation(len(rows.Z))[:_STEP_ROWS]
    half, others = (rows.of(np.sort(part)) for part in np.array_split(order, 2))
    rules = grow_rules(half.Z, half.M, half.weight, rng)
    if rules is None:
        return network
    plain = np.log(half.fit(network).errors(others)).sum()
    gains = [
        0.5 * len(others.Z) * float(plain - np.log(fit.errors(others)).sum())
        for fit in half.fit_all(_weighted(network, rules))
    ]
    k = int(np.argmax(gains))
    grown = grow_rules(rows.Z, rows.M, rows.weight, rng) if gains[k] > _WORTH else None
    return network if grown is None else _weighted(network, grown)[k]


def _with_products(rows: _Rows, best: _Fit) -> _Fit:
    """Add the products on which the residuals depend most, one after the other."""
    root = rows.root[:, None]
    inputs = best.network.map_.moments.standardize(rows.Z)
    every = np.ones(inputs.shape[1], dtype=np.bool_)
    for _ in range(_MOST_PRODUCTS):
        map_ = best.network.map_
        pair = missed_pair(inputs, root * best.held_out(rows), rows.root, every)
        if pair is None or (map_.products is not None and pair in map_.products):
            break
        products = add_pair(map_.products, pair)
        tried = [replace(map_, products=products.weighted(a)) for a in _WEIGHTS]
        fits = [rows.fit(replace(best.network, map_=one)) for one in tried]
        found = min(fits, key=lambda fit: fit.value)
        if found.value >= best.value - _PRICE:
            break
        best = found
    return best


def _weighted(network: NetworkInputs, rules: Rules) -> list[NetworkInputs]:
    """Return the network with rules of all weights."""
    return [replace(network, map_=replace(network.map_, rules=rules.weighted(a))) for a in _WEIGHTS]
