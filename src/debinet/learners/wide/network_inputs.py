"""What a network is to see of the features: equal weights, or weights that are learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from debinet.learners.inputs import Moments, column_moments
from debinet.learners.tails import cut_tails
from debinet.learners.wide.input_map import InputMap, NetworkInputs
from debinet.learners.wide.kernel_gradient import has_gradient
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.relevance import CROWDED, FAR, ROWS, learn_relevance
from debinet.learners.wide.rule_search import add_rules, find_missed
from debinet.protocols import FloatArray

RELEVANCE = ("auto", "learned", "per-output", "equal")
# Where "auto" learns the weights of the features (docs/decisions/0016).
AUTO_ROWS, AUTO_FEATURES = 100, 100


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
    return tuple(_learn_inputs(Z, part, weight, architecture, moments) for part in parts)


def _learn_inputs(
    Z: FloatArray,
    M: FloatArray,
    weight: FloatArray,
    architecture: Architecture,
    moments: Moments,
) -> NetworkInputs:
    """Learn scales, axes and rules, and return them for the given moments.

    They are learned by the rows' own moments: those of all rows, summed up in parts, differ in
    their last digits with the parts, and a search would make more of that.
    """
    own, root = column_moments(Z, weight), np.sqrt(weight)
    inputs, targets = own.standardize(Z), root[:, None] * M
    found = learn_relevance(inputs, targets, root, architecture)
    network = NetworkInputs(InputMap(own, found.matrix, found.smooths), found.skip)
    if found.skip is not None:
        cut, rough = cut_tails(M, FAR), None
        if len(Z) > ROWS:  # more than the scales were learned from
            rough = find_missed(Z, cut, weight, network, architecture)
        if rough is not None:
            found = learn_relevance(inputs, targets, root, architecture, rough=rough)
            network = NetworkInputs(InputMap(own, found.matrix, found.smooths), found.skip)
        network = add_rules(Z, cut, weight, network, architecture)
        columns = network.map_.interactions(Z)
        if columns is not None:  # which leave less for the network to explain
            start = found.theta
            found = learn_relevance(inputs, targets, root, architecture, columns, start=start)
            map_ = replace(network.map_, matrix=found.matrix, smooths=found.smooths)
            network = NetworkInputs(map_, found.skip)
    return replace(network, map_=replace(network.map_, moments=moments))
