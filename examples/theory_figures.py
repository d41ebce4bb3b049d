"""The figures of docs/theory.md: Theorem 1 on the paper's Table 1, and a case where it fails.

Run `python examples/theory_figures.py --out docs/images`; it takes about a minute and a half.
"""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

import debinet as dn
from debinet.report.curves import loss_plot
from debinet.theory import (
    Convergence,
    check_convergence,
    convergence_rate,
    draw_network,
    normalize_rows,
)
from debinet.theory.limit import closest_pair
from debinet.theory.trajectory import descend

mpl.use("Agg")


def table1() -> tuple[np.ndarray, pd.DataFrame]:
    X, y, _ = dn.datasets.make_table1(n=100, random_state=0)
    M = pd.DataFrame({"y": y, "d1": X["d1"]})
    return normalize_rows(X.filter(like="z")), (M - M.mean()) / M.std(ddof=0)


def near_rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return normalize_rows(rng.normal(size=(10, 4))), rng.normal(size=(10, 2))


def total_error(run: Convergence) -> pd.Series:
    return pd.Series(run.errors.sum(axis=1), index=pd.Index(run.times, name="time"))


def activations(Z: np.ndarray, M: pd.DataFrame) -> Axes:
    runs = {
        label: check_convergence(Z, M, activation=name, step=0.05, time=40.0, snapshots=1)
        for name, label in {"relu": "ReLU", "leaky_relu": "leaky ReLU", "tanh": "tanh"}.items()
    }
    for label, run in runs.items():
        print(f"{label}: lambda_0 {run.rate.lambda_0:.4f}, holds {run.holds.tolist()}")
    return loss_plot(
        pd.DataFrame({name: total_error(run) for name, run in runs.items()}),
        label="squared error, both outputs",
    )


def widths(Z: np.ndarray, M: np.ndarray) -> Axes:
    step = 0.2 / convergence_rate(Z).lambda_max
    runs = {m: check_convergence(Z, M, width=m, step=step) for m in (2_000, 20_000, 200_000)}
    for m, run in runs.items():
        least = run.trace["least_eigenvalue"].min() / run.rate.lambda_0
        print(f"width {m:,}: holds {run.holds.tolist()}, least eigenvalue {least:.2f} lambda_0")
    # in shares of the start, so that one bound is that of all widths
    shares = {f"width {m:,}": total_error(run) / run.errors[0].sum() for m, run in runs.items()}
    frame = pd.DataFrame(shares)
    bound = pd.Series(run.rate.bound(run.times), index=frame.index, name="bound")
    return loss_plot(frame, bound, label="squared error, share of the start")


def separating_neurons(Z: np.ndarray, M: np.ndarray, width: int = 20_000) -> None:
    """Print the share of neurons that are on for one of the two nearest rows and off for the other.

    It is what tells the two rows apart, and training for time 90 makes it smaller.
    """
    one, other = closest_pair(Z)[0]
    step = 0.2 / convergence_rate(Z).lambda_max
    states = descend(draw_network(4, 2, width), Z, M, step, "first")
    for k, (network, _) in enumerate(islice(states, int(90 / step) + 1)):
        if k in {0, int(90 / step)}:
            on = Z[[one, other]] @ network.W >= 0
            share = (on[0] != on[1]).mean()
            print(f"time {k * step:.0f}: {share:.3f} of neurons separate rows {one} and {other}")


def save(ax: Axes, path: Path) -> None:
    ax.figure.savefig(path, dpi=110)
    print(path)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    Z, M = table1()
    run = check_convergence(Z, M)
    print(run.summary())
    print(run.trace.round(4).to_string())
    for kind in ("loss", "kernel", "movement"):
        save(run.plot(kind), folder / f"theory-{kind}.png")
    save(activations(Z, M), folder / "theory-activations.png")
    save(widths(*near_rows()), folder / "theory-width.png")
    separating_neurons(*near_rows())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    main(parser.parse_args().out)
