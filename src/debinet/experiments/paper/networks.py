"""The paper's trained networks, as far as it says how they were trained."""

from __future__ import annotations

from debinet.learners.net.net import Net

# What the paper prints: Adam with this learning rate, early stopping.
_RATE = 2e-4


def early_stopped(width: int) -> Net:
    """Return a network as in common software, stopped by a tenth of the rows.

    Weights start at random, outputs keep their scales: the paper's limitation "does not perform
    well when y and D have different scales" is of such networks.
    """
    return Net(
        width,
        parametrization="standard",
        start="random",
        standardize="inputs",
        learning_rate=_RATE,
        patience=3,
    )


def five_epochs(width: int) -> Net:
    """Return a network with standardized outputs that starts at zero, after five epochs."""
    return Net(width, learning_rate=_RATE, epochs=5, validation_share=None)
