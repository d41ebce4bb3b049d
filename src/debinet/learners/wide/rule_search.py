"""Rules and products beside a network: found in what it leaves, kept if the likelihood gains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from debinet._random import named_generator
from debinet.learners.wide.input_map import NetworkInputs
from debinet.learners.wide.landmark_fit import LandmarkFit, SampledRows
from debinet.learners.wide.missed_pair import missed_pair
from debinet.learners.wide.products import add_pair
from debinet.learners.wide.rule_weights import errors_with_rules
from debinet.learners.wide.rules import Rules, grow_rules, join_rules

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


def add_rules(rows: SampledRows, fit: LandmarkFit, *, steps: bool = True) -> NetworkInputs:
    """Return the inputs with rules and products, or as they are if none are worth it.

    First with rules that are grown on the targets themselves, if the network then predicts rows
    better that neither was learned from; then with products and rules in what it leaves.

    Parameters
    ----------
    rows : SampledRows
    fit : LandmarkFit
        Of the network to which they may be added, to these rows.
    steps : bool
        Whether rules of the targets themselves are tried.
    """
    if len(rows.Z) < FEWEST_ROWS:
        return fit.network
    rng = named_generator(0, "rules")
    stepped = _with_steps(rows, fit.network, rng) if steps else fit.network
    best = _with_products(rows, fit if stepped is fit.network else rows.fit(stepped))
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


def _with_steps(
    rows: SampledRows, network: NetworkInputs, rng: np.random.Generator
) -> NetworkInputs:
    """Return the network with rules of the targets themselves, if it predicts better with them."""
    order = rng.permutation(len(rows.Z))[:_STEP_ROWS]
    half, others = (rows.of(np.sort(part)) for part in np.array_split(order, 2))
    rules = grow_rules(half.Z, half.M, half.weight, rng)
    if rules is None:
        return network
    plain, ruled = errors_with_rules(half.fit(network), rules, _WEIGHTS, half, others)
    gains = [0.5 * len(others.Z) * float(np.log(plain / errors).sum()) for errors in ruled]
    k = int(np.argmax(gains))
    grown = grow_rules(rows.Z, rows.M, rows.weight, rng) if gains[k] > _WORTH else None
    return network if grown is None else _weighted(network, grown)[k]


def _with_products(rows: SampledRows, best: LandmarkFit) -> LandmarkFit:
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
