"""Fully connected networks: widths, activation, and how weights are scaled and drawn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from debinet.data.options import whole_number
from debinet.exceptions import OptionError
from debinet.learners.wide.activations import ACTIVATIONS as LIMITS
from debinet.learners.wide.activations import LEAKY_SLOPE

ACTIVATIONS = {
    "relu": torch.relu,
    "leaky_relu": partial(torch.nn.functional.leaky_relu, negative_slope=LEAKY_SLOPE),
    "tanh": torch.tanh,
}


@dataclass(frozen=True)
class NetArchitecture:
    """A fully connected network.

    Attributes
    ----------
    hidden : tuple of int
        Units of each hidden layer; one layer is the paper's two-layer network.
    activation : str
        One of `ACTIVATIONS`.
    parametrization : str
        `"paper"`: weights from N(0, 1), hidden units weighted by +-1, `1/sqrt(units)` outside;
        `"standard"`: weights from N(0, gain / inputs) and biases, as most networks have.
    train : str
        `"all"` layers, or only the `"first"`.
    start : str
        `"random"` outputs, or `"mean"`: in the paper's parametrization hidden units come in pairs
        of equal weights and opposite signs, in the standard one the last weights are zero.
    """

    hidden: tuple[int, ...] = (1000,)
    activation: str = "relu"
    parametrization: str = "paper"
    train: str = "all"
    start: str = "mean"

    def __post_init__(self) -> None:
        if self.pairs and self.hidden[-1] % 2:
            raise OptionError(
                "an even number of units in the last hidden layer, where they start in pairs",
                repr(self.hidden),
                "Add a unit, or use start='random'.",
            )
        if (self.parametrization, self.train, self.start) == ("standard", "first", "mean"):
            raise OptionError(
                "weights of the first layer that can be trained",
                "last weights that are zero and stay zero (parametrization='standard', "
                "train='first', start='mean')",
                "Use start='random'.",
            )

    @property
    def pairs(self) -> bool:
        """Whether hidden units start in pairs that cancel."""
        return self.parametrization == "paper" and self.start == "mean"

    @cached_property
    def gain(self) -> float:
        """`1 / E[a(x)^2]`, x ~ N(0, 1): rows keep their length, as in the wide network's kernel."""
        return 1.0 / float(LIMITS[self.activation].energy(np.ones(1))[0])


def read_hidden(hidden: Any) -> tuple[int, ...]:
    """Return the widths, which may be given as a number, a tuple or a list."""
    layers = hidden if isinstance(hidden, (tuple, list)) else (hidden,)
    if not layers:
        raise OptionError(
            "hidden to be the units of each hidden layer", repr(hidden), "Use hidden=(1000,)."
        )
    return tuple(whole_number("hidden", units, 1) for units in layers)


def draw_weights(
    architecture: NetArchitecture, inputs: int, outputs: int, generator: Any
) -> list[Any]:
    """Return the weights of one network, layer by layer, and biases behind them if it has any."""
    sizes = [inputs, *architecture.hidden, outputs]
    weights = [
        torch.randn(a, b, generator=generator, dtype=torch.float32) for a, b in pairwise(sizes)
    ]
    if architecture.parametrization == "paper":
        weights[-1] = torch.where(weights[-1] >= 0, 1.0, -1.0).float()
        if architecture.pairs:
            half = architecture.hidden[-1] // 2
            weights[-2][:, half:] = weights[-2][:, :half]
            weights[-1][half:] = -weights[-1][:half]
        return weights
    for layer, weight in enumerate(weights):
        last = layer == len(weights) - 1
        weight.mul_(((1.0 if last else architecture.gain) / weight.shape[0]) ** 0.5)
    if architecture.start == "mean":
        weights[-1].zero_()
    return weights + [torch.zeros(1, size, dtype=torch.float32) for size in sizes[1:]]
