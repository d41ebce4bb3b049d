"""Figures of docs/networks.md: losses while networks train, and coefficients while they do.

    python examples/training_figures.py --out docs/images

The losses are the paper's Figures 2, 5, 6 and 7: 100 rows of Table 1's design, both layers trained,
one choice of the baseline (ReLU, gradient descent, squared error) changed at a time. Takes about
two minutes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd

import debinet as dn
from debinet.report.curves import loss_plot, plot_coefficient_path

mpl.use("Agg")

WIDTH, EPOCHS = 10_000, 300
CURVES = {
    "optimizers": {
        "gradient descent": {},
        "Nesterov": {"optimizer": "nesterov", "learning_rate": 0.3},
        "Adam": {"optimizer": "adam", "learning_rate": 1e-3},
        "SGD, batches of 8": {"optimizer": "sgd", "learning_rate": 0.3, "batch_size": 8},
    },
    "losses": {"squared error": {}, "Huber": {"loss": "huber"}},
    "activations": {
        "ReLU": {},
        "leaky ReLU": {"activation": "leaky_relu"},
        "tanh": {"activation": "tanh"},
    },
}
BASELINE = {
    "optimizer": "gd",
    "learning_rate": 1.0,
    "batch_size": None,
    "epochs": EPOCHS,
    "validation_share": None,
    "random_state": 0,
}


def losses(Z: np.ndarray, M: np.ndarray, options: dict[str, object]) -> pd.Series:
    net = dn.Net(WIDTH, **{**BASELINE, **options}).fit(Z, M)
    total = net.history_.train_loss.sum(axis=1)
    return pd.Series(total, index=pd.RangeIndex(1, len(total) + 1, name="epoch"))


def draw_losses(folder: Path) -> None:
    data = dn.datasets.make_table1(100, random_state=0)
    Z, M = data.X.filter(like="z").to_numpy(), np.column_stack([data.y, data.X["d1"]])
    for name, curves in CURVES.items():
        frame = pd.DataFrame({label: losses(Z, M, options) for label, options in curves.items()})
        print(f"{name}: losses after {EPOCHS} epochs\n{frame.iloc[-1].to_string()}")
        ax = loss_plot(frame, label="training loss, both outputs")
        ax.figure.savefig(folder / f"training-{name}.png", dpi=110)


def draw_coefficients(folder: Path) -> None:
    import matplotlib.pyplot as plt

    data = dn.datasets.make_waves(500, random_state=0)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
    net = dn.Net(1000, epochs=100, validation_share=None, random_state=0)
    for ax, crossfit, title in zip(
        axes, (None, 5), ("the same rows (the paper's)", "five folds"), strict=True
    ):
        model = dn.PartiallyLinear(list(data.truth.index), net, crossfit=crossfit, random_state=0)
        path = dn.coefficient_path(model, data.X, data.y)
        last = path.groupby("term").tail(1).round(3)
        print(f"{title}, after the last epoch:\n{last.to_string(index=False)}")
        plot_coefficient_path(path, data.truth, ax=ax)
        ax.set_title(title)
    figure.savefig(folder / "training-coefficients.png", dpi=110)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    draw_losses(folder)
    draw_coefficients(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    main(parser.parse_args().out)
