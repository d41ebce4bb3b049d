"""From samples to trained networks, together where that is faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import torch

from debinet.exceptions import DebiNetError, InputError, OptionError, TrainingError
from debinet.learners.net.architecture import NetArchitecture, draw_weights
from debinet.learners.net.history import History
from debinet.learners.net.program import (
    OneModule,
    Perceptrons,
    Program,
    State,
    restore_module,
    restore_perceptron,
)
from debinet.learners.net.sample import Inputs, Outputs, TrainingSample
from debinet.learners.net.training import VALUES, TrainingPlan, TrainingResult, same_steps, train
from debinet.protocols import FloatArray

# Hidden values of one step of one network up to which training folds together is faster; beyond
# that, one network alone fills the cores and the cache (docs/decisions/0012).
_TOGETHER = 500_000
# Numbers that networks trained together may hold: inputs, and hidden values of one step.
_AT_ONCE = 2**26
_GENERATOR = Lock()


@dataclass(frozen=True)
class TrainedNetwork:
    """A trained network that predicts.

    Attributes
    ----------
    inputs : Inputs
    outputs : Outputs
        How inputs and outputs are scaled.
    states : dict from int to State
        Weights by epoch.
    history : History
        Its `best_epoch` says which of them predicts each output.
    blueprint : Blueprint
        The network that has these weights.
    """

    inputs: Inputs
    outputs: Outputs
    states: dict[int, State]
    history: History
    blueprint: Blueprint

    def predict(self, Z: FloatArray, device: str) -> FloatArray:
        """Return predictions (r, m)."""
        with np.errstate(over="ignore"):
            encoded = self.inputs.encode(Z).astype(np.float32)
        best = self.history.best_epoch
        F = np.empty((len(Z), best.size))
        for epoch, state in self.states.items():
            columns = np.flatnonzero(best == epoch)
            values = forward(self.blueprint.restore(state, best.size, device), encoded, device)
            F[:, columns] = values[:, columns]
        if not np.isfinite(F).all():
            raise InputError(
                "rows like those of fit",
                "rows so far from them that the network's outputs are not finite",
                "Check the units of Z.",
            )
        return np.asarray(self.outputs.decode(F))


@dataclass(frozen=True)
class Blueprint:
    """Which network is trained.

    Attributes
    ----------
    architecture : NetArchitecture or None
        A fully connected network.
    module : torch module, or a function of the numbers of inputs and outputs, or None
        Any other one.
    """

    architecture: NetArchitecture | None
    module: Any

    @property
    def width(self) -> int:
        """Units of the widest hidden layer; for modules, where it is unknown, a large number."""
        return max(self.architecture.hidden) if self.architecture is not None else 2**31

    def restore(self, state: State, outputs: int, device: str) -> Program:
        """Return a stack of one network with stored weights."""
        if self.architecture is not None:
            return restore_perceptron(self.architecture, state, device)
        return restore_module(self.module, state, outputs, device)


def fit_networks(
    samples: Sequence[TrainingSample], blueprint: Blueprint, plan: TrainingPlan
) -> list[TrainedNetwork]:
    """Train one network per sample. After an interruption fewer are returned."""
    batch = plan.optimizer.batch or max(len(sample.train.M) for sample in samples)
    together = (
        len(samples) > 1
        and batch * blueprint.width <= _TOGETHER
        and same_steps(samples, plan.optimizer.batch)
    )
    rows, inputs = samples[0].train.Z.shape
    room = max(1, _AT_ONCE // (batch * blueprint.width + rows * inputs)) if together else 1
    networks: list[TrainedNetwork] = []
    for first in range(0, len(samples), room):
        networks += _fit(samples[first : first + room], blueprint, plan)
        if networks[-1].history.stopped == "interrupted":
            break
    return networks


def fit_network(sample: TrainingSample, blueprint: Blueprint, plan: TrainingPlan) -> TrainedNetwork:
    """Train one network."""
    return _fit([sample], blueprint, plan)[0]


def _fit(
    samples: Sequence[TrainingSample], blueprint: Blueprint, plan: TrainingPlan
) -> list[TrainedNetwork]:
    inputs, outputs = samples[0].train.Z.shape[1], samples[0].train.M.shape[1]
    if blueprint.architecture is not None:
        weights = [
            draw_weights(
                blueprint.architecture, inputs, outputs, torch.Generator().manual_seed(s.seed)
            )
            for s in samples
        ]
        stack: Program = Perceptrons(blueprint.architecture, weights, plan.device)
        return _networks(samples, blueprint, train(stack, samples, plan))
    # Modules may draw from torch's own generator, when they are made and in layers such as
    # dropout. It is restored afterwards, and used by one training at a time.
    with _GENERATOR, torch.random.fork_rng(devices=[]):
        torch.manual_seed(samples[0].seed)
        module = make_module(blueprint.module, inputs, outputs).float()
        stack = OneModule(module, outputs, plan.device)
        _probe(stack, inputs, plan.device)
        with _failures_named("a module that can be trained"):
            trained = train(stack, samples, plan)
        return _networks(samples, Blueprint(None, module), trained)


def _networks(
    samples: Sequence[TrainingSample], blueprint: Blueprint, trained: list[TrainingResult]
) -> list[TrainedNetwork]:
    return [
        TrainedNetwork(sample.inputs, sample.outputs, one.states, one.history, blueprint)
        for sample, one in zip(samples, trained, strict=True)
    ]


def make_module(module: Any, inputs: int, outputs: int) -> Any:
    """Return a copy of a module, or the module that a function of inputs and outputs makes."""
    if isinstance(module, torch.nn.Module):
        return deepcopy(module)
    if isinstance(module, Callable):  # type: ignore[arg-type]
        made = module(inputs, outputs)
        if isinstance(made, torch.nn.Module):
            # A copy, as the function may return the same module every time.
            return deepcopy(made)
    raise OptionError(
        "module to be a torch module, or a function of the numbers of inputs and outputs that "
        "makes one",
        repr(module),
        "Pass, for example, lambda inputs, outputs: torch.nn.Linear(inputs, outputs).",
    )


def _probe(stack: OneModule, inputs: int, device: str) -> None:
    """Try the module on two rows, so that errors are raised before training."""
    stack.set_training(False)
    with _failures_named(f"a module that takes rows of {inputs} numbers"), torch.no_grad():
        stack(torch.zeros(1, 2, inputs, dtype=torch.float32, device=device))
    if not stack.parameters():
        raise TrainingError(
            "a module with weights to train", "one without", "Add a layer, or unfreeze one."
        )


@contextmanager
def _failures_named(expected: str) -> Iterator[None]:
    """Turn any error of a user's module into a typed one."""
    try:
        yield
    except DebiNetError:
        raise
    except Exception as error:
        raise TrainingError(
            expected,
            f"one that fails with {type(error).__name__}: {error}",
            "Pass a function of the numbers of inputs and outputs that makes the module.",
        ) from error


def forward(stack: Program, encoded: Any, device: str) -> FloatArray:
    """Return the outputs (r, m) of a stack of one network for encoded rows (r, inputs)."""
    stack.set_training(False)
    step = max(1, VALUES // 10_000)
    with torch.no_grad():
        parts = [
            stack(torch.from_numpy(encoded[None, start : start + step]).to(device))[0]
            for start in range(0, len(encoded), step)
        ]
    return np.asarray(torch.cat(parts).cpu().double().numpy())
