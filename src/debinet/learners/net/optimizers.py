"""Optimizers by name, with their default step and batch size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

# Nesterov's momentum, as most software has it.
_MOMENTUM = 0.9
# Learning rates, for the paper's parametrization and for standard ones. In the first, gradient
# descent on the mean loss is stable below 2 n / (greatest eigenvalue of the kernel), which is above
# 1 for standardized inputs.
_RATES = {"adam": (1e-2, 1e-3), "sgd": (0.5, 0.05), "gd": (1.0, 0.1), "nesterov": (0.5, 0.05)}
# Rows of a batch of the optimizers that take batches.
_BATCH = 100


@dataclass(frozen=True)
class Optimizer:
    """How weights are moved.

    Attributes
    ----------
    name : str
        `"adam"`, `"sgd"`, `"gd"` (all rows at once) or `"nesterov"` (all rows, with momentum).
    rate : float
        Learning rate.
    batch : int or None
        Number of rows of a step; None for all.
    """

    name: str
    rate: float
    batch: int | None

    def start(self, parameters: list[Any]) -> Any:
        """Return torch's optimizer of these parameters."""
        if self.name == "adam":
            return torch.optim.Adam(parameters, lr=self.rate)
        momentum = _MOMENTUM if self.name == "nesterov" else 0.0
        return torch.optim.SGD(parameters, lr=self.rate, momentum=momentum, nesterov=momentum > 0)


def default_batch(name: str) -> int | None:
    """Return the rows of a batch, None for all."""
    return None if name in {"gd", "nesterov"} else _BATCH


def default_rate(name: str, paper: bool) -> float:
    """Return the learning rate for the paper's parametrization or a standard one."""
    return _RATES[name][0 if paper else 1]
