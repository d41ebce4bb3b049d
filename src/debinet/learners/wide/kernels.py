"""The tangent kernel of an infinitely wide network and its derivatives, by recursion over layers.

How weighted sums of kernel entries depend on the inputs is the recursion backwards. For rectifiers
of slopes a and 1, with `c = (1 - a)^2`, `root = sqrt(va vb - g^2)` and
`excess = value - g slope = c root / (2 pi)`, the averages over a layer depend on inner products g
and squared lengths v by

    d value / dg = slope,                              d value / dva = excess / (2 va),
    d slope / dg = c / (2 pi root) = (c / 2 pi)^2 / excess,
    d slope / dva = -g / (2 va) (d slope / dg).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from debinet.data.free_memory import row_chunks
from debinet.data.options import whole_number
from debinet.exceptions import OptionError
from debinet.learners.inputs import Moments
from debinet.learners.wide.activations import ACTIVATIONS, LEAKY_SLOPE
from debinet.protocols import FloatArray

RECTIFIERS = {"relu": 0.0, "leaky_relu": LEAKY_SLOPE}
# Rows closer to each other than this, in units of their lengths, are one point: what the angle
# between them would be if they moved apart has no derivative.
_ONE_POINT = 1e-7


@dataclass(frozen=True)
class Architecture:
    """The network that a kernel belongs to.

    Attributes
    ----------
    depth : int
        Number of hidden layers; 1 is the paper's two-layer network.
    activation : str
        One of `ACTIVATIONS`.
    train : str
        `"all"` layers, or only the `"first"` (the paper's H-infinity for depth 1).
    """

    depth: int = 1
    activation: str = "relu"
    train: str = "all"

    def __post_init__(self) -> None:
        whole_number("depth", self.depth, 1)
        if self.activation not in ACTIVATIONS:
            raise OptionError(
                f"activation to be one of {', '.join(map(repr, ACTIVATIONS))}",
                repr(self.activation),
                "Use activation='relu' for the paper's network.",
            )
        if self.train not in {"all", "first"}:
            raise OptionError(
                "train to be 'all' or 'first'",
                repr(self.train),
                "Use train='first' for the paper's H-infinity, train='all' otherwise.",
            )


def encode(Z: FloatArray, moments: Moments) -> FloatArray:
    """Return the rows `(z / sqrt(p), 1)` of standardized features."""
    n, p = Z.shape
    encoded = np.empty((n, p + 1))
    np.divide(moments.standardize(Z), np.sqrt(p), out=encoded[:, :p])
    encoded[:, p] = 1.0
    return encoded


def kernel_matrix(
    left: FloatArray, right: FloatArray, architecture: Architecture, skip: float = 0.0
) -> FloatArray:
    """Return the kernel between the rows of `left` and `right`.

    Parameters
    ----------
    left, right : FloatArray of shapes (r, p + 1), (n, p + 1)
        Encoded rows `(z / sqrt(p), 1)`.
    architecture : Architecture
    skip : float
        Weight s of the linear part: `K + s <z, z'> / p`.

    Returns
    -------
    FloatArray of shape (r, n)
        C-ordered. If `left is right` it is symmetric: exactly, or for tanh up to rounding.
    """
    return kernel_matrices(left, right, architecture, (skip,))[0]


def kernel_matrices(
    left: FloatArray, right: FloatArray, architecture: Architecture, skips: tuple[float, ...]
) -> list[FloatArray]:
    """Return `kernel_matrix` for every skip weight, for the price of one and n^2 additions."""
    # `A @ A.T` goes through syrk, which is half the work and exactly symmetric
    products: FloatArray = left @ right.T
    kernels = [products, *(np.empty_like(products) for _ in skips[1:])]
    va, vb = np.einsum("ij,ij->i", left, left), np.einsum("ij,ij->i", right, right)
    for rows in row_chunks(*products.shape):
        # the first kernel takes the place of the products, so it is written last
        g = products[rows]
        network, _ = _propagate(g, va[rows], vb, architecture)
        for kernel, skip in reversed(list(zip(kernels, skips, strict=True))):
            # the encoded rows end in 1, so <z, z'> / p is what is above 1
            kernel[rows] = network + skip * (g - 1.0) if skip else network
    return kernels


@dataclass(frozen=True)
class _Layer:
    """Inputs and outputs of one layer: matrices (r, n)."""

    g: FloatArray
    tangent: FloatArray
    value: FloatArray
    slope: FloatArray


def _propagate(
    g: FloatArray, va: FloatArray, vb: FloatArray, architecture: Architecture
) -> tuple[FloatArray, list[_Layer]]:
    """Run the recursion of Jacot et al. (2018) from the inner products of the inputs.

    With `S_1 = g`, `T_1 = g` and Gaussian averages under covariance `S_l`,
    `S_{l+1} = c E[a a]` and `T_{l+1} = c (T_l E[a' a'] + E[a a])`, the last term only if the
    layer's own weights are trained. `c = 1 / E[a(x)^2]` between hidden layers keeps rows of unit
    length at unit length, whatever the depth; after the last hidden layer c = 1, as in the paper.
    """
    activation = ACTIVATIONS[architecture.activation]
    gain = 1.0 / float(activation.energy(np.ones(1))[0])
    tangent, layers = g, []
    for number in range(1, architecture.depth + 1):
        moments = activation.moments(g, va, vb)
        layers.append(_Layer(g, tangent, moments.value, moments.slope))
        tangent = tangent * moments.slope
        if architecture.train == "all":
            tangent += moments.value
        if number < architecture.depth:
            tangent *= gain
            g = gain * moments.value
            va, vb = gain * activation.energy(va), gain * activation.energy(vb)
    return tangent, layers


@dataclass(frozen=True)
class Forward:
    """The computation of a kernel from rows, layer by layer.

    Attributes
    ----------
    X : FloatArray of shape (n, d)
        Encoded rows.
    architecture : Architecture
        With a rectifier.
    lengths : FloatArray of shape (n,)
        Squared lengths of the rows, which all layers keep: rectifiers are linear along rays.
    layers : tuple of _Layer
    kernel : FloatArray of shape (n, n)
        Without a skip connection.
    """

    X: FloatArray
    architecture: Architecture
    lengths: FloatArray
    layers: tuple[_Layer, ...]
    kernel: FloatArray

    def with_skip(self, skip: float) -> FloatArray:
        """Return the kernel with a linear part of this weight."""
        return self.kernel + skip * (self.layers[0].g - 1.0)


def require_rectifier(architecture: Architecture) -> None:
    """Require an activation whose derivatives are implemented here."""
    if architecture.activation not in RECTIFIERS:
        raise OptionError(
            f"activation to be one of {', '.join(map(repr, RECTIFIERS))} for learned relevance",
            repr(architecture.activation),
            "Use activation='relu', or relevance='equal'.",
        )


def forward(X: FloatArray, architecture: Architecture) -> Forward:
    """Compute the kernel of the rows X (n, d) and keep what `pull_back` needs."""
    v = np.einsum("ij,ij->i", X, X)
    g = X @ X.T
    kernel = np.empty_like(g)
    layers = [
        _Layer(*(np.empty_like(g) for _ in fields(_Layer))) for _ in range(architecture.depth)
    ]
    # a few rows at a time stay in the processor's cache
    for rows in row_chunks(*g.shape):
        kernel[rows], found = _propagate(g[rows], v[rows], v, architecture)
        for layer, part in zip(layers, found, strict=True):
            for field in fields(_Layer):
                getattr(layer, field.name)[rows] = getattr(part, field.name)
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
    a = RECTIFIERS[way.architecture.activation]
    gain = 2.0 / (1 + a**2)
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


def _layer_back(layer: _Layer, way: Forward, after: _Back, factor: float) -> _Back:
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
