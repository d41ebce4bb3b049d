"""The paper's two-layer network of finite width: `F(z) = 1/sqrt(m) sum_r A_r a(w_r'z)`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.special import erf

from debinet._random import RandomState, named_generator, root_seed
from debinet.data.options import whole_number
from debinet.exceptions import InputError
from debinet.learners.wide.activations import LEAKY_SLOPE
from debinet.learners.wide.kernels import Architecture
from debinet.protocols import BoolArray, FloatArray


@dataclass(frozen=True)
class Neuron:
    """An elementwise activation a.

    Attributes
    ----------
    value : callable
        Maps an array, and the array to write to or None, to `a`.
    slope : callable
        Maps an array to `a'`, for ReLU as booleans; at a kink the slope from the right, as in the
        paper.
    steepest : float
        Largest slope.
    """

    value: Callable[[FloatArray, FloatArray | None], FloatArray]
    slope: Callable[[FloatArray], FloatArray | BoolArray]
    steepest: float = 1.0


_STEEP = 2 / np.sqrt(np.pi)
NEURONS: Mapping[str, Neuron] = MappingProxyType(
    {
        "relu": Neuron(lambda x, out: np.maximum(x, 0.0, out=out), lambda x: x >= 0),
        "leaky_relu": Neuron(
            lambda x, out: np.maximum(x, LEAKY_SLOPE * x, out=out),
            lambda x: np.where(x >= 0, 1.0, LEAKY_SLOPE),
        ),
        "erf": Neuron(lambda x, out: erf(x, out=out), lambda x: _STEEP * np.exp(-x * x), _STEEP),
        "tanh": Neuron(np.tanh, lambda x: 1.0 - np.tanh(x) ** 2),
    }
)


@dataclass(frozen=True)
class TwoLayerNetwork:
    """Weights of a two-layer network of width m without biases.

    Attributes
    ----------
    W : FloatArray of shape (p, m)
        First layer, a column per neuron.
    A : FloatArray of shape (m, outputs)
        Second layer.
    activation : str
        `"relu"`, `"leaky_relu"`, `"erf"` or `"tanh"`.
    """

    W: FloatArray
    A: FloatArray
    activation: str = "relu"

    def __post_init__(self) -> None:
        Architecture(1, self.activation)  # refuses an unknown activation
        for name in ("W", "A"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))
        if self.W.ndim != 2 or self.A.ndim != 2 or self.W.shape[1] != len(self.A):
            raise InputError(
                "W of shape (p, width) and A of shape (width, outputs)",
                f"shapes {self.W.shape} and {self.A.shape}",
                "Transpose the one that is the wrong way round.",
            )

    @property
    def width(self) -> int:
        """Number m of neurons."""
        return int(self.W.shape[1])

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return int(self.A.shape[1])

    @property
    def neuron(self) -> Neuron:
        """The activation as functions."""
        return NEURONS[self.activation]

    def predict(self, Z: Any) -> FloatArray:
        """Return F of shape (n, outputs) at rows (n, p)."""
        hidden = self.neuron.value(np.asarray(Z, dtype=np.float64) @ self.W, None)
        outputs: FloatArray = hidden @ self.A / np.sqrt(self.width)
        return outputs


def draw_network(
    p: int,
    outputs: int,
    width: int = 10_000,
    activation: str = "relu",
    random_state: RandomState = 0,
) -> TwoLayerNetwork:
    """Draw a network as in the paper: `w_r ~ N(0, I)`, `A_rs` = 1 or -1 with equal probability.

    `check_convergence` starts from the same network at the same `random_state`.

    Parameters
    ----------
    p, outputs, width : int
        Columns of Z, columns of M, and neurons.
    activation : str
        As in `TwoLayerNetwork`.
    random_state : int, numpy random generator, or None
        Seed.

    Examples
    --------
    >>> network = draw_network(p=3, outputs=2, width=50)
    >>> network.W.shape, network.A.shape
    ((3, 50), (50, 2))
    """
    rng = named_generator(root_seed(random_state), "two-layer network")
    p, outputs = whole_number("p", p, 1), whole_number("outputs", outputs, 1)
    width = whole_number("width", width, 1)
    W = rng.standard_normal((p, width))
    A = rng.choice(np.array([-1.0, 1.0]), size=(width, outputs))
    return TwoLayerNetwork(W, A, activation)
