"""What a network is to see of the features: equal weights, or weights that are learned."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from debinet.learners.inputs import Moments, column_moments
from debinet.learners.tails import cut_tails
from debinet.learners.threads import SINGLE_THREADS
from debinet.learners.wide.input_map import InputMap, NetworkInputs
from debinet.learners.wide.jump_search import add_jumps
from debinet.learners.wide.kernel_gradient import has_gradient
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.landmark_fit import LandmarkFit, SampledRows
from debinet.learners.wide.missed_feature import missed_feature
from debinet.learners.wide.relevance import CROWDED, FAR, ROWS, Relevance, learn_relevance
from debinet.learners.wide.rule_search import add_rules
from debinet.protocols import FloatArray

RELEVANCE = ("auto", "learned", "per-output", "equal")
# Where "auto" learns the weights of the features (docs/decisions/0016).
AUTO_ROWS, AUTO_FEATURES = 100, 100
# Jumps and rules are looked for among some rows first, then among this share of all rows, at most
# so many: the search is to take less time than the fit.
_SHARE, _MANY_ROWS = 0.5, 20_000


def relevance_can_be_learned(n: int, p: int) -> bool:
    """Whether n rows are enough to learn the weights of p features, and these few enough."""
    return n >= AUTO_ROWS and 1 < p <= min(AUTO_FEATURES, CROWDED * n)


def learns_relevance(relevance: str, architecture: Architecture, n: int, p: int) -> bool:
    """Whether weights of p features are learned from n rows if penalties are tuned by REML."""
    if relevance != "auto":
        return relevance != "equal"
    return has_gradient(architecture) and relevance_can_be_learned(n, p)


def network_inputs(
    Z: FloatArray,
    M: FloatArray,
    weight: FloatArray,
    architecture: Architecture,
    relevance: str,
    *,
    moments: Moments | None = None,
) -> tuple[NetworkInputs, ...]:
    """Return the inputs for all targets together, or for each of them.

    Parameters
    ----------
    Z : FloatArray of shape (n, p)
    M : FloatArray of shape (n, m)
        Targets.
    weight : FloatArray of shape (n,)
        Positive.
    architecture : Architecture
    relevance : str
        One of `RELEVANCE`.
    moments : Moments, optional
        Of the features, if these are some of the rows only.
    """
    moments = column_moments(Z, weight) if moments is None else moments
    if not learns_relevance(relevance, architecture, *Z.shape):
        return (NetworkInputs(InputMap(moments)),)
    M = column_moments(M, weight).standardize(M)
    parts = M.T[:, :, None] if relevance == "per-output" else [M]
    with SINGLE_THREADS:  # all matrices of a search are small
        return tuple(_learn_inputs(Z, part, weight, architecture, moments) for part in parts)


def _learn_inputs(
    Z: FloatArray,
    M: FloatArray,
    weight: FloatArray,
    architecture: Architecture,
    moments: Moments,
) -> NetworkInputs:
    """Learn scales, axes, jumps and rules, and return them for the given moments.

    They are learned by the rows' own moments: those of all rows, summed up in parts, differ in
    their last digits with the parts, and a search would make more of that.
    """
    own, root = column_moments(Z, weight), np.sqrt(weight)
    targets = root[:, None] * M
    learn = partial(learn_relevance, M=targets, root_weight=root, architecture=architecture)
    found = learn(own.standardize(Z))
    network = _network(InputMap(own), found)
    if found.skip is not None:
        every = SampledRows(Z, cut_tails(M, FAR), root, architecture)
        rows = every.sample()
        fit, rough = rows.fit(network), None
        if len(Z) > ROWS:  # more than the scales were learned from
            rough = missed_feature(rows.Z, rows.root[:, None] * fit.held_out(rows), rows.root)
        if rough is not None:
            found = learn(own.standardize(Z), rough=rough)
            fit = rows.fit(_network(InputMap(own), found))
        network = _add_jumps_and_rules(rows, fit, every)
        columns, jumps = network.map_.interactions(Z), network.map_.jumps
        if columns is not None or jumps is not None:  # which leave less for the network to explain
            start = _with_inputs(found.theta, 0 if jumps is None else jumps.width)
            found = learn(network.map_.inputs(Z), fixed=columns, start=start)
            again = _network(network.map_, found)
            # scales come from few rows: more of them may show that the first ones were better
            worse = len(Z) > ROWS and rows.fit(again).value > rows.fit(network).value
            network = network if worse else again
    return replace(network, map_=replace(network.map_, moments=moments))


def _add_jumps_and_rules(rows: SampledRows, fit: LandmarkFit, every: SampledRows) -> NetworkInputs:
    """Look for jumps and rules among some rows, then for what only more rows show."""
    network = add_rules(rows, add_jumps(rows, fit, every))
    more = every.sample(min(_MANY_ROWS, int(_SHARE * len(every.Z))))
    if len(more.Z) > len(rows.Z):
        network = add_rules(more, add_jumps(more, more.fit(network), every), steps=False)
    return network


def _network(map_: InputMap, found: Relevance) -> NetworkInputs:
    return NetworkInputs(replace(map_, matrix=found.matrix, smooths=found.smooths), found.skip)


def _with_inputs(theta: FloatArray | None, count: int) -> FloatArray | None:
    """Return the parameters of a search with so many inputs more, of scale one."""
    return None if theta is None else np.insert(theta, theta.size - 1, np.zeros(count))
