"""The tangent kernel of an infinitely wide network, by recursion over layers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.data.free_memory import row_chunks
from debinet.data.options import whole_number
from debinet.exceptions import OptionError
from debinet.learners.wide.activations import ACTIVATIONS
from debinet.protocols import FloatArray


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


def kernel_matrix(
    left: FloatArray,
    right: FloatArray,
    architecture: Architecture,
    skip: float = 0.0,
    added: int = 0,
) -> FloatArray:
    """Return the kernel between the rows of `left` and `right`.

    Parameters
    ----------
    left, right : FloatArray of shapes (r, p + 1 + added), (n, p + 1 + added)
        Encoded rows `(z / sqrt(p), 1)`, then columns whose inner products are added.
    architecture : Architecture
    skip : float
        Weight s of the linear part: `K + s <z, z'> / p`.
    added : int
        Number of columns whose inner products are added.

    Returns
    -------
    FloatArray of shape (r, n)
        C-ordered. If `left is right` it is symmetric: exactly, or for tanh up to rounding.
    """
    return kernel_matrices(left, right, architecture, (skip,), added)[0]


def kernel_matrices(
    left: FloatArray,
    right: FloatArray,
    architecture: Architecture,
    skips: tuple[float, ...],
    added: int = 0,
) -> list[FloatArray]:
    """Return `kernel_matrix` for every skip weight, for the price of one and n^2 additions."""
    if added:
        same, end = left is right, left.shape[1] - added
        first, other = left[:, :end], right[:, :end]
        more: FloatArray = left[:, end:] @ right[:, end:].T
        found = kernel_matrices(first, first if same else other, architecture, skips)
        return [np.add(kernel, more, out=kernel) for kernel in found]
    # `A @ A.T` goes through syrk, which is half the work and exactly symmetric
    products: FloatArray = left @ right.T
    kernels = [products, *(np.empty_like(products) for _ in skips[1:])]
    va, vb = np.einsum("ij,ij->i", left, left), np.einsum("ij,ij->i", right, right)
    for rows in row_chunks(*products.shape):
        # the first kernel takes the place of the products, so it is written last
        g = products[rows]
        network, _ = propagate(g, va[rows], vb, architecture)
        for kernel, skip in reversed(list(zip(kernels, skips, strict=True))):
            # the encoded rows end in 1, so <z, z'> / p is what is above 1
            kernel[rows] = network + skip * (g - 1.0) if skip else network
    return kernels


@dataclass(frozen=True)
class Layer:
    """Inputs and outputs of one layer: matrices (r, n)."""

    g: FloatArray
    tangent: FloatArray
    value: FloatArray
    slope: FloatArray


def propagate(
    g: FloatArray, va: FloatArray, vb: FloatArray, architecture: Architecture
) -> tuple[FloatArray, list[Layer]]:
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
        layers.append(Layer(g, tangent, moments.value, moments.slope))
        tangent = tangent * moments.slope
        if architecture.train == "all":
            tangent += moments.value
        if number < architecture.depth:
            tangent *= gain
            g = gain * moments.value
            va, vb = gain * activation.energy(va), gain * activation.energy(vb)
    return tangent, layers
