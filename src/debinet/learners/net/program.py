"""K networks of one shape as one program, with stacked weights."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, Protocol

import torch

from debinet.exceptions import TrainingError
from debinet.learners.net.architecture import ACTIVATIONS, NetArchitecture

State = dict[str, Any]  # names to numpy arrays


class Program(Protocol):
    """What training needs of K networks."""

    def __call__(self, Z: Any) -> Any:
        """Return outputs (K, b, m) of inputs (K, b, p)."""

    def parameters(self) -> list[Any]:
        """Return the tensors that are trained."""

    def state(self, k: int) -> State:
        """Return a copy of the weights of network k."""

    def set_training(self, training: bool) -> None:
        """Tell layers such as dropout whether the network is being trained."""


class Perceptrons:
    """Fully connected networks.

    Parameters
    ----------
    architecture : NetArchitecture
    weights : sequence of K lists of tensors
        As `draw_weights` returns them.
    device : str
    """

    def __init__(
        self, architecture: NetArchitecture, weights: Sequence[list[Any]], device: str
    ) -> None:
        self.architecture = architecture
        self.layers = len(architecture.hidden) + 1
        self.tensors = [torch.stack(parts).to(device) for parts in zip(*weights, strict=True)]
        trained = self.tensors[:1] if architecture.train == "first" else self.tensors
        if architecture.train == "first" and architecture.parametrization == "standard":
            trained = [self.tensors[0], self.tensors[self.layers]]
        for tensor in trained:
            tensor.requires_grad_()
        self._trained = trained

    def __call__(self, Z: Any) -> Any:
        """Return outputs (K, b, m) of inputs (K, b, p)."""
        paper = self.architecture.parametrization == "paper"
        activation, gain = ACTIVATIONS[self.architecture.activation], self.architecture.gain
        values = Z
        for layer in range(self.layers):
            weight, last = self.tensors[layer], layer == self.layers - 1
            values = values @ weight
            if not paper:
                values = values + self.tensors[self.layers + layer]
            elif layer:
                values = values * ((1.0 if last else gain) / weight.shape[1]) ** 0.5
            if not last:
                values = activation(values)
        return values

    def parameters(self) -> list[Any]:
        """Return the stacked weights of the layers that are trained."""
        return self._trained

    def state(self, k: int) -> State:
        """Return a copy of the weights of network k."""
        return {
            str(i): tensor[k].detach().cpu().numpy().copy() for i, tensor in enumerate(self.tensors)
        }

    def set_training(self, training: bool) -> None:
        """Do nothing; these layers are the same in training."""


class OneModule:
    """A single torch module as a stack of one."""

    def __init__(self, module: Any, outputs: int, device: str) -> None:
        self.module = module.to(device)
        self.outputs = outputs

    def __call__(self, Z: Any) -> Any:
        """Return outputs (1, b, m) of inputs (1, b, p)."""
        values = self.module(Z[0])
        if values.shape != (Z.shape[1], self.outputs):
            raise TrainingError(
                f"a module with {self.outputs} outputs, that is, outputs of shape "
                f"({Z.shape[1]}, {self.outputs}) for {Z.shape[1]} rows",
                f"outputs of shape {tuple(values.shape)}",
                "Pass a function of the numbers of inputs and outputs that makes the module.",
            )
        return values[None]

    def parameters(self) -> list[Any]:
        """Return the tensors that the module does not freeze."""
        return [tensor for tensor in self.module.parameters() if tensor.requires_grad]

    def state(self, k: int) -> State:  # noqa: ARG002 - there is only one
        """Return a copy of the weights and buffers."""
        return {
            name: tensor.detach().cpu().numpy().copy()
            for name, tensor in self.module.state_dict().items()
        }

    def set_training(self, training: bool) -> None:
        """Put the module into its training or evaluation mode."""
        self.module.train(training)


def restore_perceptron(architecture: NetArchitecture, state: State, device: str) -> Perceptrons:
    """Return a stack of one network from its stored weights."""
    weights = [torch.from_numpy(state[str(i)]) for i in range(len(state))]
    return Perceptrons(architecture, [weights], device)


def restore_module(module: Any, state: State, outputs: int, device: str) -> OneModule:
    """Return a copy of `module` with stored weights."""
    copied = deepcopy(module)
    copied.load_state_dict({name: torch.from_numpy(value) for name, value in state.items()})
    return OneModule(copied, outputs, device)
