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
    """An activation, element by element.

    Attributes
    ----------
    value : callable
        Maps an array and where to write, or None, to `a`.
    slope : callable
        Maps an array to `a'`, for ReLU as booleans; at a kink it is the slope from the right, as
        in the paper.
    steepest : float
        Largest slope.
    """

    value: Callable[[FloatArray, FloatArray | None], FloatArray]
    slope: Callable[[FloatArray], FloatArray | BoolArray]
    steepest: float = 1.0


def _relu(x: FloatArray, out: FloatArray | None) -> FloatArray:
    return np.maximum(x, 0.0, out=out)


def _relu_slope(x: FloatArray) -> BoolArray:
    positive: BoolArray = x >= 0
    return positive


def _leaky_relu(x: FloatArray, out: FloatArray | None) -> FloatArray:
    return np.maximum(x, LEAKY_SLOPE * x, out=out)


def _leaky_relu_slope(x: FloatArray) -> FloatArray:
    return np.where(x >= 0, 1.0, LEAKY_SLOPE)


def _erf(x: FloatArray, out: FloatArray | None) -> FloatArray:
    value: FloatArray = erf(x, out=out)
    return value


def _erf_slope(x: FloatArray) -> FloatArray:
    slope: FloatArray = 2 / np.sqrt(np.pi) * np.exp(-x * x)
    return slope


def _tanh(x: FloatArray, out: FloatArray | None) -> FloatArray:
    return np.tanh(x, out=out)


def _tanh_slope(x: FloatArray) -> FloatArray:
    slope: FloatArray = 1.0 - np.tanh(x) ** 2
    return slope


NEURONS: Mapping[str, Neuron] = MappingProxyType(
    {
        "relu": Neuron(_relu, _relu_slope),
        "leaky_relu": Neuron(_leaky_relu, _leaky_relu_slope),
        "erf": Neuron(_erf, _erf_slope, 2 / np.sqrt(np.pi)),
        "tanh": Neuron(_tanh, _tanh_slope),
    }
)


@dataclass(frozen=True)
class Network:
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
                "Transpose what stands the other way round.",
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
) -> Network:
    """Draw a network as the paper initializes it: `w_r ~ N(0, I)`, `A_rs` = 1 or -1 evenly.

    `check_convergence` starts from the same network at the same `random_state`.

    Parameters
    ----------
    p, outputs, width : int
        Columns of Z, columns of M, and neurons.
    activation : str
        As in `Network`.
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
    return Network(W, A, activation)
