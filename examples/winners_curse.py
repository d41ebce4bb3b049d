"""The figure and the table of docs/winners-curse.md: selecting and estimating on the same rows.

Run `python examples/winners_curse.py --out docs/images`; it takes about a minute. Each design is
three tenths of the paper's setting A or B of Table 2 in every dimension. On 40 % of the rows the
Lasso has 1.3 times the penalty, so that it selects about as many features.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

import debinet as dn

mpl.use("Agg")

N, P = 300, 900
SHARES = {"same rows": None, "other rows": 0.4}
# Distinct for colour-blind readers (Okabe and Ito).
COLOURS = {"same rows": "#e69f00", "other rows": "#0072b2"}
COVERS, MISSES = "0.62", "#d55e00"
DRAWN = 90  # intervals in a panel: more are too thin to be seen


def estimates(k: int, penalty: float, share: float | None, runs: int) -> pd.DataFrame:
    """Return a row per selected coefficient of every data set.

    Errors are in the direction of the selector's coefficient: positive if the estimate is too far
    on the side on which the feature was selected.
    """
    frames = []
    for seed in range(runs):
        X, y, truth = dn.datasets.make_table2(N, P, k, random_state=seed)
        lasso = dn.Lasso(penalty if share is None else 1.3 * penalty, standardize=False)
        model = dn.DebiNet(lasso, selection_share=share, random_state=seed).fit(X, y)
        frame = model.result_.to_frame()
        known = truth.reindex(frame.index)
        sign = np.sign(model.selector_.coef_[model.get_support()])
        frames.append(
            pd.DataFrame(
                {
                    "data set": seed,
                    "acts": known == 1,
                    "error": sign * (frame["coef"] - known),
                    "reach": (frame["upper"] - frame["lower"]) / 2,
                }
            )
        )
    return pd.concat(frames).assign(covers=lambda f: f["error"].abs() <= f["reach"])


def describe(frame: pd.DataFrame, runs: int) -> dict[str, str]:
    """Return summaries with Monte Carlo errors; data sets are independent, coefficients are not."""
    means = frame.groupby("data set")[["error", "covers"]].mean()
    errors = means.std() / np.sqrt(len(means))
    return {
        "selected": f"{len(frame) / runs:.2f}",
        "of them act": f"{frame['acts'].mean():.2f}",
        "mean error": f"{frame['error'].mean():.3f} ({errors['error']:.3f})",
        "root mean squared error": f"{np.sqrt((frame['error'] ** 2).mean()):.3f}",
        "width": f"{2 * frame['reach'].mean():.2f}",
        "coverage": f"{frame['covers'].mean():.3f} ({errors['covers']:.3f})",
    }


def draw_errors(ax: Axes, frames: dict[str, pd.DataFrame]) -> None:
    bins = np.linspace(-2.4, 2.4, 33)
    for name, hatch in zip(frames, ("", "////"), strict=True):
        error, colour = frames[name]["error"], COLOURS[name]
        ax.hist(error, bins, density=True, color=colour, alpha=0.30, hatch=hatch, edgecolor=colour)
        ax.hist(error, bins, density=True, histtype="step", color=colour, linewidth=1.8)
        ax.axvline(error.mean(), color=colour, linewidth=1.6, linestyle=(0, (4, 1.5)))
    ax.axvline(0.0, color="black", linewidth=1.0)
    top = ax.get_ylim()[1]
    ax.set_ylim(0, 1.12 * top)
    handles = [
        Line2D(
            [], [], color=COLOURS[name], linewidth=5, alpha=0.7, label=f"{name}: mean {mean:.2f}"
        )
        for name, mean in ((name, frame["error"].mean()) for name, frame in frames.items())
    ]
    ax.legend(handles=handles, frameon=False, fontsize="small", loc="upper left", handlelength=1)
    ax.set_yticks([])
    ax.set_title("Errors of all selected\ncoefficients", fontsize="medium")


def draw_intervals(ax: Axes, name: str, frame: pd.DataFrame) -> None:
    """Draw the intervals of the first data sets, sorted, those that miss the truth on top."""
    part = frame.iloc[:DRAWN].sort_values("error", kind="stable").reset_index(drop=True)
    for covers, colour, width in ((True, COVERS, 1.1), (False, MISSES, 1.8)):
        rows = part[part["covers"] == covers]
        ends = rows["error"] - rows["reach"], rows["error"] + rows["reach"]
        ax.hlines(rows.index, *ends, color=colour, linewidth=width)
        ax.plot(rows["error"], rows.index, ".", color=colour, markersize=3.5)
    ax.axvline(0.0, color="black", linewidth=1.0)
    ax.set_yticks([])
    label = "the same rows" if name == "same rows" else name
    ax.set_title(
        f"Selected on {label}\n{100 * frame['covers'].mean():.0f} % cover", fontsize="medium"
    )


def draw(frames: dict[str, pd.DataFrame], path: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, 3, figsize=(10, 4.4), width_ratios=(1.25, 1, 1), layout="constrained"
    )
    draw_errors(axes[0], frames)
    for ax, (name, frame) in zip(axes[1:], frames.items(), strict=True):
        draw_intervals(ax, name, frame)
        ax.set_xlim(-3.6, 3.6)
    for ax in axes:
        ax.spines[["top", "right", "left"]].set_visible(False)
    axes[1].legend(
        handles=[
            Line2D([], [], color=COVERS, linewidth=2, label="covers the truth"),
            Line2D([], [], color=MISSES, linewidth=2, label="misses it"),
        ],
        frameon=False,
        fontsize="small",
        loc="upper left",
        handlelength=1.2,
    )
    figure.supxlabel("estimate minus truth, in the direction of selection", fontsize="medium")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    table = {}
    for design, k, penalty, runs in (("many weak", 90, 1.8, 100), ("few strong", 3, 0.5, 50)):
        frames = {name: estimates(k, penalty, share, runs) for name, share in SHARES.items()}
        table |= {(design, name): describe(frame, runs) for name, frame in frames.items()}
        if design == "many weak":
            draw(frames, folder / "winners-curse.png")
    print(pd.DataFrame(table).T.to_string())
    print(folder / "winners-curse.png")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    main(parser.parse_args().out)
