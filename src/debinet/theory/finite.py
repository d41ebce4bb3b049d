"""The tangent kernel of a finite network in closed form, and its distance from the limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from debinet.exceptions import InputError
from debinet.learners.wide.kernels import Architecture
from debinet.protocols import FloatArray
from debinet.theory.inputs import read_rows, require_memory
from debinet.theory.network import TwoLayerNetwork

# Elements of a temporary that stay in the processor's cache.
_CHUNK = 2**18


@dataclass(frozen=True)
class KernelDistance:
    """Relative distances of a kernel of several outputs from its limit, in Frobenius norm.

    Attributes
    ----------
    blocks : FloatArray of shape (outputs, outputs)
        `|H_sh - H| / |H|` on the diagonal, `|H_sh| / |H|` off it, where the limit is 0.
    """

    blocks: FloatArray

    @property
    def diagonal(self) -> float:
        """Largest distance of a diagonal block from the limit."""
        return float(np.diag(self.blocks).max())

    @property
    def off_diagonal(self) -> float:
        """Largest size of an off-diagonal block; 0 for a single output."""
        return float((self.blocks - np.diag(np.diag(self.blocks))).max())

    @property
    def whole(self) -> float:
        """Distance of all blocks together from the block-diagonal limit."""
        return float(np.sqrt((self.blocks**2).sum() / len(self.blocks)))


def finite_kernel(network: TwoLayerNetwork, Z: Any, train: str = "first") -> FloatArray:
    """Return the tangent kernel of a finite network, H_whole in the paper, block by block.

    `(H_sh)_ij = 1/m z_i'z_j sum_r A_rs A_rh a'(w_r'z_i) a'(w_r'z_j)`, and on the diagonal
    `1/m sum_r a(w_r'z_i) a(w_r'z_j)` more if both layers are trained. `tangent_kernel` computes the
    same for any network that torch can differentiate.

    Parameters
    ----------
    network : TwoLayerNetwork
        With any weights, random or trained.
    Z : array or data frame of shape (n, p)
        Rows as the network sees them.
    train : str
        `"first"` layer only, or `"all"`.

    Returns
    -------
    FloatArray of shape (outputs, outputs, n, n)
        `[s, h, i, j]` is the inner product of the gradients of `F_s(z_i)` and `F_h(z_j)`.
    """
    rows = read_rows(Z)
    architecture = Architecture(1, network.activation, train)
    require_columns(rows, len(network.W))
    n, outputs = len(rows), network.outputs
    require_memory(
        (n * outputs) ** 2, f"the kernel of {n} rows and {outputs} outputs", "Take fewer rows."
    )
    blocks = np.zeros((outputs, outputs, n, n))
    values = np.zeros((n, n))
    step = max(1, _CHUNK // n)
    for start in range(0, network.width, step):
        part = slice(start, start + step)
        hidden = rows @ network.W[:, part]
        slopes = network.neuron.slope(hidden).astype(np.float64, copy=False)
        _add_slopes(blocks, slopes, network.A[part])
        if architecture.train == "all":
            active = network.neuron.value(hidden, None)
            values += active @ active.T
    blocks *= rows @ rows.T
    for s in range(outputs):
        blocks[s, s] += values
        blocks[s + 1 :, s] = blocks[s, s + 1 :]
    blocks /= network.width
    return blocks


def _add_slopes(blocks: FloatArray, slopes: FloatArray, A: FloatArray) -> None:
    """Add `sum_r A_rs A_rh a'_ir a'_jr` to the blocks on and above the diagonal."""
    for s in range(A.shape[1]):
        for h in range(s, A.shape[1]):
            blocks[s, h] += (slopes * (A[:, s] * A[:, h])) @ slopes.T


def kernel_distance(blocks: FloatArray, H: FloatArray) -> KernelDistance:
    """Return how far the blocks of a finite kernel are from the limit `diag(H, ..., H)`.

    Parameters
    ----------
    blocks : FloatArray of shape (outputs, outputs, n, n)
        From `finite_kernel` or `tangent_kernel`.
    H : FloatArray of shape (n, n)
        From `limiting_kernel`.

    Examples
    --------
    >>> from debinet.theory import draw_network, limiting_kernel
    >>> Z = [[1.0, 0.0], [0.6, 0.8]]
    >>> distance = kernel_distance(finite_kernel(draw_network(2, 2), Z), limiting_kernel(Z))
    >>> distance.whole < 0.05
    True
    """
    blocks, H = np.asarray(blocks, dtype=np.float64), np.asarray(H, dtype=np.float64)
    require_blocks(blocks)
    if H.shape != blocks.shape[2:]:
        raise InputError(
            f"a limiting kernel of shape {blocks.shape[2:]}",
            f"shape {H.shape}",
            "Compute both kernels from the same rows.",
        )
    each = [
        [np.linalg.norm(block - H if s == h else block) for h, block in enumerate(line)]
        for s, line in enumerate(blocks)
    ]
    return KernelDistance(np.array(each) / np.linalg.norm(H))


def require_blocks(blocks: FloatArray) -> None:
    """Require a kernel of shape (outputs, outputs, n, n)."""
    if blocks.ndim != 4 or blocks.shape[0] != blocks.shape[1] or blocks.shape[2] != blocks.shape[3]:
        raise InputError(
            "a kernel of shape (outputs, outputs, n, n)",
            f"shape {blocks.shape}",
            "Pass what finite_kernel or tangent_kernel returned.",
        )


def require_columns(Z: FloatArray, p: int) -> None:
    """Require rows with as many columns as the network has inputs."""
    if Z.shape[1] != p:
        raise InputError(
            f"rows of {p} columns, as W has rows",
            f"{Z.shape[1]} columns",
            "Draw the network with p=Z.shape[1].",
        )
