"""How weighted sums of kernel entries depend on the inputs: the recursion of `kernels`, backwards.

For rectifiers, with `c = (1 - slope)^2` and `root = sqrt(va vb - g^2)`, the averages over a layer
depend on inner products g and squared lengths v by

    d value / dg = slope,           d value / dva = c root / (4 pi va),
    d slope / dg = c / (2 pi root), d slope / dva = -g / (2 va) (d slope / dg).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.exceptions import OptionError
from debinet.learners.wide.activations import ACTIVATIONS, LEAKY_SLOPE
from debinet.learners.wide.kernels import Architecture
from debinet.protocols import FloatArray

RECTIFIERS = {"relu": 0.0, "leaky_relu": LEAKY_SLOPE}
# Rows closer to each other than this, in units of their lengths, are one point: what the angle
# between them would be if they moved apart has no derivative.
_ONE_POINT = 1e-7


@dataclass(frozen=True)
class _Layer:
    """One layer as the way forward left it, n x n matrices all."""

    g: FloatArray
    tangent: FloatArray
    slope: FloatArray


def require_rectifier(architecture: Architecture) -> None:
    """Require an activation whose derivatives are here."""
    if architecture.activation not in RECTIFIERS:
        raise OptionError(
            f"activation to be one of {', '.join(map(repr, RECTIFIERS))} for learned relevance",
            repr(architecture.activation),
            "Use activation='relu', or relevance='equal'.",
        )


def pull_back(
    X: FloatArray, B: FloatArray, architecture: Architecture, skip: float
) -> tuple[FloatArray, float]:
    """Return the derivatives of `sum B * K(X, X)` by the rows X (n, d) and by the skip weight.

    Parameters
    ----------
    X : FloatArray of shape (n, d)
        Encoded rows.
    B : FloatArray of shape (n, n)
        Symmetric weights.
    architecture : Architecture
        With a rectifier.
    skip : float
        Weight of the linear part.
    """
    first = X @ X.T
    v = np.einsum("ij,ij->i", X, X)
    layers = _forward(first, v, architecture)
    a = RECTIFIERS[architecture.activation]
    c, gain = (1 - a) ** 2, 2.0 / (1 + a**2)
    trains_all = architecture.train == "all"
    d_tangent, d_g = B, np.zeros_like(B)
    d_v = np.zeros(len(X))
    for number in range(architecture.depth, 0, -1):
        layer = layers[number - 1]
        factor = gain if number < architecture.depth else 1.0
        d_slope = factor * d_tangent * layer.tangent
        # what the next layer's inner products and, if trained, its tangent take of the value
        d_value = factor * (d_g + d_tangent) if trains_all else factor * d_g
        d_tangent = factor * d_tangent * layer.slope
        d_g, d_row = _layer_back(layer, v, d_value, d_slope, c)
        d_v += d_row
    # the first tangent is g itself; on the diagonal g is v, and the angle stays zero
    d_g = d_g + d_tangent + skip * B
    d_skip = float(np.sum(B * (first - 1.0)))
    return 2.0 * (d_g @ X + d_v[:, None] * X), d_skip


def _forward(g: FloatArray, v: FloatArray, architecture: Architecture) -> list[_Layer]:
    activation = ACTIVATIONS[architecture.activation]
    gain = 1.0 / float(activation.energy(np.ones(1))[0])
    layers, tangent = [], g
    for number in range(1, architecture.depth + 1):
        moments = activation.moments(g, v, v)
        layers.append(_Layer(g, tangent, moments.slope))
        tangent = tangent * moments.slope
        if architecture.train == "all":
            tangent = tangent + moments.value
        if number < architecture.depth:
            # lengths stay what they are: rectifiers are linear along rays
            tangent, g = gain * tangent, gain * moments.value
    return layers


def _layer_back(
    layer: _Layer, v: FloatArray, d_value: FloatArray, d_slope: FloatArray, c: float
) -> tuple[FloatArray, FloatArray]:
    """Return derivatives by inner products (n, n) and by squared lengths (n,)."""
    lengths = np.multiply.outer(v, v)
    root = np.sqrt(np.maximum(lengths - layer.g**2, 0.0))
    apart = root > _ONE_POINT * np.sqrt(lengths)
    np.fill_diagonal(apart, False)
    turn = np.divide(c / (2 * np.pi), root, out=np.zeros_like(root), where=apart)
    bend = d_slope * turn
    d_g = d_value * layer.slope + bend
    # both rows of a pair have a length, and all matrices are symmetric
    along = d_value * (c / (4 * np.pi)) * np.where(apart, root, 0.0) - 0.5 * layer.g * bend
    return d_g, 2.0 * along.sum(axis=1) / v
