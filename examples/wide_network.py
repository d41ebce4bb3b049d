"""The figure of docs/wide-network.md: the kernel, fits at several stopping times, the criterion.

Run `python examples/wide_network.py --out docs/images`; it takes a few seconds.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes

import debinet as dn
from debinet.theory import limiting_kernel

mpl.use("Agg")

# Distinct for colour-blind readers (Okabe and Ito).
BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"
NOISE = 0.4


def draw_kernel(ax: Axes, width: int = 10_000) -> None:
    """Draw both parts of the kernel of unit rows by their angle, and a network of finite width."""
    rng = np.random.default_rng(0)
    angles = np.linspace(0, np.pi, 181)
    rows = np.column_stack([np.cos(angles), np.sin(angles)])
    first = limiting_kernel(rows, train="first")[0]
    both = limiting_kernel(rows, train="all")[0]
    some = rows[::15]
    inner = some @ rng.normal(size=(2, width))
    values, on = np.maximum(inner, 0), inner > 0
    finite_first = (some @ some[0]) * (on @ on[0].astype(float)) / width
    finite_both = finite_first + values @ values[0] / width
    for limit, finite, colour, stroke, label in (
        (both, finite_both, BLUE, "-", "both layers"),
        (first, finite_first, ORANGE, (0, (6, 1.5)), "first layer"),
    ):
        ax.plot(np.degrees(angles), limit, color=colour, linestyle=stroke, linewidth=2, label=label)
        ax.plot(np.degrees(angles[::15]), finite, "o", color=colour, markersize=4, mfc="white")
    ax.plot([], [], "o", color="0.3", markersize=4, mfc="white", label=f"{width:,} units")
    ax.axhline(0.0, color="0.7", linewidth=0.8, zorder=0)
    ax.set(xlabel="angle between two rows, degrees", ylabel="kernel", xticks=[0, 45, 90, 135, 180])
    ax.set_title("(a) The kernel")
    ax.legend(frameon=False, fontsize="small")


def sample() -> tuple[np.ndarray, np.ndarray]:
    """Return rows (80, 1) and two outputs (80, 2), a smooth and a rough one."""
    rng = np.random.default_rng(1)
    Z = np.sort(rng.uniform(-2, 2, size=(80, 1)), axis=0)
    return Z, true_means(Z) + rng.normal(scale=NOISE, size=(80, 2))


def true_means(Z: np.ndarray) -> np.ndarray:
    return np.column_stack([np.sin(1.5 * Z[:, 0]), np.sin(4 * Z[:, 0])])


def stopped(Z: np.ndarray, m: np.ndarray, new: np.ndarray, penalty: float) -> np.ndarray:
    """Return predictions for new rows at a given penalty, the intercept not penalized."""
    n = len(Z)
    both = (np.vstack([Z, new]) - Z.mean(axis=0)) / Z.std(axis=0)
    K = limiting_kernel(np.column_stack([both, np.ones(len(both))]), train="all")
    one = np.ones((n, 1))
    system = np.block([[K[:n, :n] + penalty * np.eye(n), one], [one.T, np.zeros((1, 1))]])
    solved = np.linalg.solve(system, np.append(m, 0.0))
    return K[n:, :n] @ solved[:n] + solved[n]


def draw_fits(ax: Axes, net: dn.WideNet, Z: np.ndarray, M: np.ndarray) -> None:
    """Draw the rough output stopped too early, as chosen, and too late."""
    new = np.linspace(-2, 2, 400)[:, None]
    chosen = float(net.penalty_[1])
    assert np.allclose(stopped(Z, M[:, 1], new, chosen), net.predict(new)[:, 1], atol=1e-6)
    ax.plot(Z[:, 0], M[:, 1], "o", color="0.55", markersize=3.5, label="data")
    ax.plot(new[:, 0], true_means(new)[:, 1], color="black", linewidth=1.2, ls=":", label="truth")
    for penalty, colour, stroke, label in (
        (20 * chosen, ORANGE, (0, (6, 1.5)), "time / 20"),
        (chosen / 1e5, GREEN, (0, (2, 1)), "time x 100,000"),
        (chosen, BLUE, "-", "as chosen"),
    ):
        fit = stopped(Z, M[:, 1], new, penalty)
        width = 2.2 if penalty == chosen else 1.4
        ax.plot(new[:, 0], fit, color=colour, linestyle=stroke, linewidth=width, label=label)
    ax.set(xlabel="z", ylabel="rough output", ylim=(-2.2, 3.7))
    ax.set_title("(b) When to stop")
    ax.legend(frameon=False, fontsize="small", ncols=2, loc="upper center", columnspacing=1.2)


def draw_criterion(ax: Axes, net: dn.WideNet) -> None:
    """Draw the negative restricted likelihood along the path of both outputs."""
    path = net.stopping_path()
    for j, (name, colour, stroke) in enumerate(
        (("smooth output", GREEN, (0, (6, 1.5))), ("rough output", BLUE, "-"))
    ):
        inside = np.isfinite(path.penalty[:, j])
        time = 1 / path.penalty[inside, j]
        excess = path.criterion[inside, j] - path.criterion[:, j].min()
        excess[excess > 80] = np.nan  # room for the legend
        best, dof = 1 / net.penalty_[j], net.dof_[j]
        label = f"{name}, {dof:.0f} dof"
        ax.plot(time, excess, color=colour, linestyle=stroke, linewidth=2, label=label)
        ax.plot([best, best], [0, 80], color=colour, linewidth=1, linestyle=(0, (1, 1.5)))
        ax.plot(best, 0, "o", color=colour, markersize=7, clip_on=False, zorder=5)
    ax.set(xscale="log", xlim=(1e-3, 1e5), ylim=(0, 98))
    ax.set(xlabel="stopping time", ylabel="REML criterion, less its least")
    ax.set_title("(c) Each output has its own time")
    ax.legend(frameon=False, fontsize="small", loc="upper center")


def main(folder: Path) -> None:
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    Z, M = sample()
    net = dn.WideNet(skip=0.0).fit(Z, M)
    for name, penalty, dof in zip(("smooth", "rough"), net.penalty_, net.dof_, strict=True):
        print(f"{name} output: stopping time {1 / penalty:.3g}, {dof:.1f} degrees of freedom")
    figure, axes = plt.subplots(1, 3, figsize=(10.8, 3.9), layout="constrained")
    draw_kernel(axes[0])
    draw_fits(axes[1], net, Z, M)
    draw_criterion(axes[2], net)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(folder / "wide-network.png", dpi=110)
    print(folder / "wide-network.png")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    main(parser.parse_args().out)
