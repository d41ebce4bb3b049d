"""What a network is to see of the features: equal weights, or weights that are learned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.inputs import Moments, column_moments
from debinet.learners.wide.input_map import InputMap
from debinet.learners.wide.kernel_gradient import has_gradient
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.relevance import CROWDED, Relevance, learn_relevance
from debinet.protocols import FloatArray

RELEVANCE = ("auto", "learned", "per-output", "equal")
# Where "auto" learns the weights of the features (docs/decisions/0016).
AUTO_ROWS, AUTO_FEATURES = 100, 100


@dataclass(frozen=True)
class NetworkInputs:
    """Inputs of a network.

    Attributes
    ----------
    map_ : InputMap
    skip : float, optional
        Weight of the linear part, where it was learned with the weights of the features.
    """

    map_: InputMap
    skip: float | None = None


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
    own = column_moments(Z, weight)
    moments = own if moments is None else moments
    if not learns_relevance(relevance, architecture, *Z.shape):
        return (NetworkInputs(InputMap(moments)),)
    # by their own moments: those of all rows, summed up in parts, differ in their last digits with
    # the parts, and a search for weights would make more of that
    root, inputs = np.sqrt(weight), own.standardize(Z)
    targets = root[:, None] * column_moments(M, weight).standardize(M)
    parts = targets.T[:, :, None] if relevance == "per-output" else [targets]
    found: list[Relevance] = [learn_relevance(inputs, part, root, architecture) for part in parts]
    return tuple(NetworkInputs(InputMap(moments, one.matrix), one.skip) for one in found)
