"""Losses of every row and output, and their averages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch.nn.functional import binary_cross_entropy_with_logits, huber_loss

LOSSES = {
    "mse": lambda F, targets: 0.5 * (F - targets) ** 2,
    "huber": lambda F, targets: huber_loss(F, targets, reduction="none"),
}


@dataclass(frozen=True)
class Loss:
    """The loss of K networks.

    Attributes
    ----------
    name : str
        `"mse"`, half the squared error, or `"huber"`, its linear continuation beyond one unit.
    logistic : bool tensor of shape (K, 1, m)
        Outputs whose loss is the negative log likelihood of zeros and ones.
    offset : tensor of shape (K, 1, m)
        Log-odds that are added to them.
    """

    name: str
    logistic: Any
    offset: Any

    @cached_property
    def _any_logistic(self) -> bool:
        # Computed once: on a graphics card reading a value waits for all earlier work.
        return bool(self.logistic.any())

    def of_rows(self, F: Any, targets: Any) -> Any:
        """Return the loss (K, b, m) of every row and output."""
        squares = LOSSES[self.name](F, targets)
        if not self._any_logistic:
            return squares
        # Both are computed everywhere; other targets are not probabilities, but finite.
        odds = binary_cross_entropy_with_logits(F + self.offset, targets, reduction="none")
        return torch.where(self.logistic, odds, squares)


def mean_over_rows(losses: Any, weight: Any) -> Any:
    """Return averages (K, m) of losses (K, b, m); rows of weight 0 do not count."""
    rows = (weight > 0).sum(dim=1, keepdim=True).clamp(min=1)
    return (losses * weight[:, :, None]).sum(dim=1) / rows
