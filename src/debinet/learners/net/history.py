"""The losses of a training."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from debinet.protocols import FloatArray, IntArray


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
