"""Full-batch gradient descent on the paper's loss `L = sum_i 1/2 |F(z_i) - M_i|^2`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from debinet.protocols import FloatArray
from debinet.theory.network import Network


@dataclass(frozen=True)
class State:
    """A network on its way; the arrays are overwritten by the next step.

    Attributes
    ----------
    network : Network
        The weights now.
    residuals : FloatArray of shape (n, outputs)
        `M - F`.
    """

    network: Network
    residuals: FloatArray


def descend(
    start: Network, Z: FloatArray, M: FloatArray, step: float, train: str
) -> Iterator[State]:
    """Yield the network at the start and after every step of gradient descent, without end.

    Parameters
    ----------
    start : Network
        It is copied.
    Z, M : FloatArray of shapes (n, p), (n, outputs)
    step : float
        Learning rate: the time that one step stands for.
    train : str
        `"first"` layer only, or `"all"`.
    """
    network = Network(start.W.copy(), start.A.copy(), start.activation)
    W, A, neuron = network.W, network.A, network.neuron
    scale = 1.0 / np.sqrt(network.width)
    # Arrays of n x width are the memory of a run, so three of them are kept and reused.
    hidden = Z @ W
    active = neuron.value(hidden, None)
    back = np.empty_like(hidden)
    while True:
        residuals = M - scale * (active @ A)
        yield State(network, residuals)
        # -dL/dF_is = residuals_is reaches neuron r through A_rs, and its weights through a' and Z
        np.matmul(residuals, A.T, out=back)
        back *= neuron.slope(hidden)
        if train == "all":
            A += (step * scale) * (active.T @ residuals)
        W += (step * scale) * (Z.T @ back)
        np.matmul(Z, W, out=hidden)
        neuron.value(hidden, active)
