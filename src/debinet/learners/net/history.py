"""Losses of a training by epoch, and the weights at each output's best epoch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from debinet.learners.net.program import State
from debinet.protocols import FloatArray, IntArray

# A held-out loss must fall by more than this share to count as improved: otherwise rounding errors
# would keep training running forever.
_IMPROVES = 1e-4


@dataclass(frozen=True)
class History:
    """Losses of one network, epoch by epoch.

    Attributes
    ----------
    train_loss : FloatArray of shape (epochs, m)
        Of each output, averaged over the rows as they were visited, so mostly before the last step
        of the epoch; in the units of training.
    held_loss : FloatArray of shape (epochs, m) or None
        After each epoch, of the rows that were held out to stop.
    best_epoch : IntArray of shape (m,)
        The epoch that each output is predicted from; 0 is the network before training.
    stopped : str
        `"epochs"` (all were done), `"patience"` (no output improved any more) or `"interrupted"`.
    """

    train_loss: FloatArray
    held_loss: FloatArray | None
    best_epoch: IntArray
    stopped: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row per epoch and output: epoch, output, train_loss, held_loss."""
        epochs, m = self.train_loss.shape
        frame = pd.DataFrame(
            {
                "epoch": [e for e in range(1, epochs + 1) for _ in range(m)],
                "output": list(range(m)) * epochs,
                "train_loss": self.train_loss.ravel(),
            }
        )
        if self.held_loss is not None:
            frame["held_loss"] = self.held_loss.ravel()
        return frame


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
