"""From samples to trained networks: together where that is faster, else one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from debinet.exceptions import OptionError, TrainingError
from debinet.learners.net.architecture import Architecture, draw_weights
from debinet.learners.net.history import History
from debinet.learners.net.outputs import Outputs
from debinet.learners.net.sample import Inputs, Sample
from debinet.learners.net.stack import (
    OneModule,
    Perceptrons,
    Stack,
    State,
    restore_module,
    restore_perceptron,
)
from debinet.learners.net.training import Plan, Trained, same_steps, train
from debinet.protocols import FloatArray

# Hidden values of one step of one network up to which training folds together is faster; beyond,
# one network alone fills the cores and the cache (docs/decisions/0012).
_TOGETHER = 500_000
# Hidden values that predictions hold at a time.
_VALUES = 2**24


@dataclass(frozen=True)
class Network:
    """A trained network that predicts.

    Attributes
    ----------
    inputs : Inputs
    outputs : Outputs
        How it scales what comes in and goes out.
    states : dict from int to State
        Weights by epoch.
    history : History
        Its `best_epoch` says which of them predicts each output.
    blueprint : Blueprint
        What the weights are the weights of.
    """

    inputs: Inputs
    outputs: Outputs
    states: dict[int, State]
    history: History
    blueprint: Blueprint

    def predict(self, Z: FloatArray, device: str) -> FloatArray:
        """Return predictions (r, m)."""
        encoded = self.inputs.encode(Z).astype(np.float32)
        best = self.history.best_epoch
        F = np.empty((len(Z), best.size))
        for epoch, state in self.states.items():
            columns = np.flatnonzero(best == epoch)
            values = forward(self.blueprint.restore(state, best.size, device), encoded, device)
            F[:, columns] = values[:, columns]
        return np.asarray(self.outputs.decode(F))


@dataclass(frozen=True)
class Blueprint:
    """Which network is trained.

    Attributes
    ----------
    architecture : Architecture or None
        A fully connected network.
    module : torch module, or a function of the numbers of inputs and outputs, or None
        Any other one.
    """

    architecture: Architecture | None
    module: Any

    @property
    def width(self) -> int:
        """Units of the widest hidden layer; unknown, so large, for modules."""
        return max(self.architecture.hidden) if self.architecture is not None else 2**31

    def restore(self, state: State, outputs: int, device: str) -> Stack:
        """Return a stack of one network with stored weights."""
        if self.architecture is not None:
            return restore_perceptron(self.architecture, state, device)
        return restore_module(self.module, state, outputs, device)


def fit_networks(samples: Sequence[Sample], blueprint: Blueprint, plan: Plan) -> list[Network]:
    """Train one network per sample. After an interruption fewer are returned."""
    batch = plan.optimizer.batch or max(len(sample.train.M) for sample in samples)
    together = (
        len(samples) > 1
        and batch * blueprint.width <= _TOGETHER
        and same_steps(samples, plan.optimizer.batch)
    )
    if together:
        return _fit(samples, blueprint, plan)
    networks: list[Network] = []
    for sample in samples:
        networks.append(fit_network(sample, blueprint, plan))
        if networks[-1].history.stopped == "interrupted":
            break
    return networks


def fit_network(sample: Sample, blueprint: Blueprint, plan: Plan) -> Network:
    """Train one network."""
    return _fit([sample], blueprint, plan)[0]


def _fit(samples: Sequence[Sample], blueprint: Blueprint, plan: Plan) -> list[Network]:
    inputs, outputs = samples[0].train.Z.shape[1], samples[0].train.M.shape[1]
    if blueprint.architecture is not None:
        weights = [
            draw_weights(
                blueprint.architecture, inputs, outputs, torch.Generator().manual_seed(s.seed)
            )
            for s in samples
        ]
        stack: Stack = Perceptrons(blueprint.architecture, weights, plan.device)
        return _networks(samples, blueprint, train(stack, samples, plan))
    # Modules may draw from torch's own generator, when they are made and in layers such as
    # dropout: it is put back afterwards.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(samples[0].seed)
        module = make_module(blueprint.module, inputs, outputs)
        stack = OneModule(module, outputs, plan.device)
        _probe(stack, inputs, plan.device)
        return _networks(samples, Blueprint(None, module), train(stack, samples, plan))


def _networks(
    samples: Sequence[Sample], blueprint: Blueprint, trained: list[Trained]
) -> list[Network]:
    return [
        Network(sample.inputs, sample.outputs, one.states, one.history, blueprint)
        for sample, one in zip(samples, trained, strict=True)
    ]


def make_module(module: Any, inputs: int, outputs: int) -> Any:
    """Return a copy of a module, or what a function of the numbers of inputs and outputs makes."""
    if isinstance(module, torch.nn.Module):
        return deepcopy(module)
    if isinstance(module, Callable):  # type: ignore[arg-type]
        made = module(inputs, outputs)
        if isinstance(made, torch.nn.Module):
            return made
    raise OptionError(
        "module to be a torch module, or a function of the numbers of inputs and outputs that "
        "makes one",
        repr(module),
        "Pass, for example, lambda inputs, outputs: torch.nn.Linear(inputs, outputs).",
    )


def _probe(stack: OneModule, inputs: int, device: str) -> None:
    """Try the module on two rows, so that what does not fit is said before training."""
    stack.set_training(False)
    try:
        with torch.no_grad():
            stack(torch.zeros(1, 2, inputs, device=device))
    except (RuntimeError, ValueError, TypeError, IndexError) as error:
        if isinstance(error, TrainingError):
            raise
        raise TrainingError(
            f"a module that takes rows of {inputs} numbers",
            f"one that fails on them: {error}",
            "Pass a function of the numbers of inputs and outputs that makes the module.",
        ) from error
    if not stack.parameters():
        raise TrainingError(
            "a module with weights to train", "one without", "Add a layer, or unfreeze one."
        )


def forward(stack: Stack, encoded: Any, device: str) -> FloatArray:
    """Return the outputs (r, m) of a stack of one network for encoded rows (r, inputs)."""
    stack.set_training(False)
    step = max(1, _VALUES // 10_000)
    with torch.no_grad():
        parts = [
            stack(torch.from_numpy(encoded[None, start : start + step]).to(device))[0]
            for start in range(0, len(encoded), step)
        ]
    return np.asarray(torch.cat(parts).cpu().double().numpy())
