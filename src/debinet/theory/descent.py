"""Full-batch gradient descent on the paper's loss `L = sum_i 1/2 |F(z_i) - M_i|^2`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from debinet.protocols import FloatArray
from debinet.theory.network import TwoLayerNetwork


def descend(
    start: TwoLayerNetwork, Z: FloatArray, M: FloatArray, step: float, train: str
) -> Iterator[tuple[TwoLayerNetwork, FloatArray]]:
    """Yield the network and its residuals `M - F` (n, outputs), at the start and after each step.

    It never ends. The weights are updated in place by the next step.

    Parameters
    ----------
    start : TwoLayerNetwork
        Not changed.
    Z, M : FloatArray of shapes (n, p), (n, outputs)
    step : float
        Learning rate: the time of one step.
    train : str
        `"first"` layer only, or `"all"`.
    """
    network = TwoLayerNetwork(start.W.copy(), start.A.copy(), start.activation)
    W, A, neuron = network.W, network.A, network.neuron
    scale = 1.0 / np.sqrt(network.width)
    # Arrays of n x width take most of the memory, so three of them are reused.
    hidden = Z @ W
    active = neuron.value(hidden, None)
    back = np.empty_like(hidden)
    while True:
        residuals = M - scale * (active @ A)
        yield network, residuals
        # -dL/dF_is = residuals_is reaches neuron r through A_rs, and its weights through a' and Z
        np.matmul(residuals, A.T, out=back)
        back *= neuron.slope(hidden)
        if train == "all":
            A += (step * scale) * (active.T @ residuals)
        W += (step * scale) * (Z.T @ back)
        np.matmul(Z, W, out=hidden)
        neuron.value(hidden, active)
