"""The paper's two-layer network as one would write it in PyTorch, to be timed against.

The settings are those of the paper's appendix: Adam, learning rate 0.0002, and the width, batch
size and epochs that the caller gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

import debinet as dn


@dataclass(frozen=True)
class Training:
    """How the network is trained."""

    width: int
    epochs: int
    batch: int = 100
    rate: float = 2e-4


def train(Z: np.ndarray, M: np.ndarray, training: Training) -> None:
    """Train one network for all columns of M, outputs standardized."""
    import torch
    from torch import nn

    inputs = torch.tensor((Z - Z.mean(axis=0)) / Z.std(axis=0), dtype=torch.float32)
    targets = torch.tensor((M - M.mean(axis=0)) / M.std(axis=0), dtype=torch.float32)
    network = nn.Sequential(
        nn.Linear(Z.shape[1], training.width),
        nn.ReLU(),
        nn.Linear(training.width, M.shape[1]),
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=training.rate)
    loss = nn.MSELoss()
    for _ in range(training.epochs):
        for rows in torch.randperm(len(inputs)).split(training.batch):
            optimizer.zero_grad()
            loss(network(inputs[rows]), targets[rows]).backward()
            optimizer.step()


def _seconds(work, clock) -> float:
    start = clock()
    work()
    return clock() - start


def _versus(
    X, y, selected, training: Training, repeats: int, *, clock=perf_counter
) -> dict[str, float]:
    """Time the whole fit of ours, and only the training of the network."""
    Z, D = np.delete(X, selected, axis=1), X[:, selected]
    M = np.column_stack([y, D])

    def ours() -> object:
        return dn.PartiallyLinear(list(selected)).fit(X, y)

    def theirs() -> None:
        train(Z, M, training)

    ours(), theirs()
    pairs = [(_seconds(ours, clock), _seconds(theirs, clock)) for _ in range(repeats)]
    return {
        "ours_seconds": float(np.median([a for a, _ in pairs])),
        "network_seconds": float(np.median([b for _, b in pairs])),
        "ratio": float(np.median([b / a for a, b in pairs])),
    }


def setting_a(repeats: int = 5, clock=perf_counter) -> dict[str, float]:
    """Table 2 A: one network of width 1000 for 10 epochs, on all rows and on the 60 % kept.

    With one thread for both, `clock=time.process_time` does not count other programs.
    """
    from sklearn.linear_model import Lasso

    data = dn.datasets.make_table2(random_state=0)
    X, y = data.X.to_numpy(), data.y.to_numpy()
    training = Training(width=1000, epochs=10)
    found = {}
    for name, chosen, kept, penalty in (
        ("all rows", slice(None), slice(None), 1.8),
        ("60 % of the rows", slice(400), slice(400, None), 1.3 * 1.8),
    ):
        selected = np.flatnonzero(Lasso(penalty).fit(X[chosen], y[chosen]).coef_)
        figures = _versus(X[kept], y[kept], selected, training, repeats, clock=clock)
        found.update({f"{name}: {key}": value for key, value in figures.items()})
    return found


def table_1(repeats: int = 3) -> dict[str, float]:
    """Table 1: one network of width 10,000 for 5 epochs, n = 10,000."""
    data = dn.datasets.make_table1(random_state=0)
    return _versus(
        data.X.to_numpy(), data.y.to_numpy(), [0], Training(width=10_000, epochs=5), repeats
    )
