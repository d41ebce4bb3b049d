"""The weights at each output's best epoch, during training."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from debinet.learners.net.program import State
from debinet.protocols import FloatArray, IntArray

# A held-out loss must fall by more than this share to count as improved: otherwise rounding errors
# would keep training going for ever.
_IMPROVES = 1e-4


class BestWeights:
    """Best epochs of the m outputs of one network, and the weights of these epochs only."""

    def __init__(self, m: int) -> None:
        self.best_loss: FloatArray = np.full(m, np.inf)
        self.best_epoch: IntArray = np.zeros(m, dtype=np.int64)
        self.states: dict[int, State] = {}

    def update(self, epoch: int, loss: FloatArray, state: Callable[[], State]) -> None:
        """Compare the held-out losses (m,) of an epoch with the best so far."""
        better = loss < self.best_loss * (1 - _IMPROVES)
        if not better.any():
            return
        self.best_loss = np.where(better, loss, self.best_loss)
        self.best_epoch = np.where(better, epoch, self.best_epoch)
        self.states[epoch] = state()
        wanted = set(self.best_epoch.tolist())
        self.states = {e: kept for e, kept in self.states.items() if e in wanted}

    def set_all(self, epoch: int, state: State) -> None:
        """Make this epoch the best of all outputs."""
        self.best_epoch = np.full_like(self.best_epoch, epoch)
        self.states = {epoch: state}

    def idle(self, epoch: int) -> int:
        """Return for how many epochs no output has improved."""
        return epoch - int(self.best_epoch.max())
