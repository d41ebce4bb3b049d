"""The figure of docs/networks.md: coefficients while a network trains.

Run `python examples/training_figures.py --out docs/images`; it takes about a minute.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl

import debinet as dn
from debinet.report.curves import plot_coefficient_path

mpl.use("Agg")


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
    draw_coefficients(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    main(parser.parse_args().out)
