"""How weighted sums of kernel entries depend on the inputs: rectifiers' recursion, backwards.

For rectifiers of slopes a and 1, with `c = (1 - a)^2`, `root = sqrt(va vb - g^2)` and
`excess = value - g slope = c root / (2 pi)`, the averages over a layer depend on inner products g
and squared lengths v by

    d value / dg = slope,                              d value / dva = excess / (2 va),
    d slope / dg = c / (2 pi root) = (c / 2 pi)^2 / excess,
    d slope / dva = -g / (2 va) (d slope / dg).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.data.free_memory import row_chunks
from debinet.exceptions import OptionError
from debinet.learners.wide.activations import LEAKY_SLOPE
from debinet.learners.wide.kernels import Architecture, Layer, propagate
from debinet.protocols import FloatArray

RECTIFIERS = {"relu": 0.0, "leaky_relu": LEAKY_SLOPE}
# Rows closer to each other than this, in units of their lengths, are one point: what the angle
# between them would be if they moved apart has no derivative.
_ONE_POINT = 1e-7


def has_gradient(architecture: Architecture) -> bool:
    """Whether the derivatives of the kernel are implemented."""
    smooth = architecture.activation == "erf" and architecture.depth == 1  # by erf_pairs
    return smooth or architecture.activation in RECTIFIERS


def require_gradient(architecture: Architecture) -> None:
    """Require an architecture whose derivatives are implemented."""
    if not has_gradient(architecture):
        raise OptionError(
            "a rectifier, or activation='erf' with depth=1, for learned relevance",
            f"activation={architecture.activation!r} with depth={architecture.depth}",
            "Use activation='erf' with depth=1, or relevance='equal'.",
        )


@dataclass(frozen=True)
class Forward:
    """The computation of a kernel from rows, layer by layer.

    Attributes
    ----------
    X : FloatArray of shape (n, d)
        Encoded rows.
    architecture : Architecture
    lengths : FloatArray of shape (n,)
        Squared lengths of the rows. All layers of rectifiers keep them: they are linear along rays.
    layers : tuple of Layer
    kernel : FloatArray of shape (n, n)
        Without a skip connection.
    """

    X: FloatArray
    architecture: Architecture
    lengths: FloatArray
    layers: tuple[Layer, ...]
    kernel: FloatArray

    def with_skip(self, skip: float) -> FloatArray:
        """Return the kernel with a linear part of this weight."""
        return self.kernel + skip * (self.layers[0].g - 1.0)


def forward(X: FloatArray, architecture: Architecture) -> Forward:
    """Compute the kernel of the rows X (n, d) and keep what `pull_back` needs."""
    v = np.einsum("ij,ij->i", X, X)
    g = X @ X.T
    kernel = np.empty_like(g)
    layers = [Layer(*(np.empty_like(g) for _ in range(4))) for _ in range(architecture.depth)]
    # a few rows at a time stay in the processor's cache
    for rows in row_chunks(*g.shape):
        kernel[rows], found = propagate(g[rows], v[rows], v, architecture)
        for layer, part in zip(layers, found, strict=True):
            layer.g[rows], layer.tangent[rows] = part.g, part.tangent
            layer.value[rows], layer.slope[rows] = part.value, part.slope
    return Forward(X, architecture, v, tuple(layers), kernel)


def pull_back(way: Forward, B: FloatArray, skip: float) -> tuple[FloatArray, float]:
    """Return the derivatives of `sum B * K(X, X)` by the rows X (n, d) and by the skip weight.

    Parameters
    ----------
    way : Forward
    B : FloatArray of shape (n, n)
        Symmetric weights.
    skip : float
        Weight of the linear part of K.
    """
    gain = 2.0 / (1 + RECTIFIERS[way.architecture.activation] ** 2)
    back = _Back(B, np.zeros_like(B), np.zeros(len(B)))
    for number, layer in reversed(list(enumerate(way.layers, 1))):
        back = _layer_back(layer, way, back, gain if number < len(way.layers) else 1.0)
    # the first tangent is g itself; on the diagonal g is v, and the angle stays zero
    d_g = back.g
    d_g += back.tangent
    d_g += skip * B
    d_skip = float(np.vdot(B, way.layers[0].g) - B.sum())
    return 2.0 * (d_g @ way.X + back.v[:, None] * way.X), d_skip


@dataclass(frozen=True)
class _Back:
    """Derivatives by the inputs of a layer: tangent and inner products (n, n), lengths (n,)."""

    tangent: FloatArray
    g: FloatArray
    v: FloatArray


def _layer_back(layer: Layer, way: Forward, after: _Back, factor: float) -> _Back:
    """Go back through a layer whose results were multiplied by `factor`."""
    turn = (1 - RECTIFIERS[way.architecture.activation]) ** 2 / (2 * np.pi)
    trains_all = way.architecture.train == "all"
    norm = np.sqrt(way.lengths)
    before = _Back(np.empty_like(after.g), np.empty_like(after.g), after.v.copy())
    for rows in row_chunks(*layer.g.shape):
        g, slope, d_tangent = layer.g[rows], layer.slope[rows], after.tangent[rows]
        # the value enters the next layer's inner products and, if trained, its tangent
        d_value = after.g[rows] + d_tangent if trains_all else after.g[rows]
        excess = layer.value[rows] - g * slope
        apart = excess > np.multiply.outer(_ONE_POINT * turn * norm[rows], norm)
        np.fill_diagonal(apart[:, rows.start :], False)
        excess *= apart
        bend = d_tangent * layer.tangent[rows]
        np.divide(bend, excess, out=bend, where=apart)
        bend *= turn**2 * apart
        # both rows of a pair have a length, and all matrices are symmetric
        along = np.einsum("ij,ij->i", d_value, excess) - np.einsum("ij,ij->i", g, bend)
        before.v[rows] += factor * along / way.lengths[rows]
        bend += d_value * slope
        np.multiply(bend, factor, out=before.g[rows])
        np.multiply(d_tangent, factor * slope, out=before.tangent[rows])
    return before
