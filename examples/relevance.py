"""Which controls matter: the figure of docs/relevance.md.

python examples/relevance.py --out docs/images
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt

import debinet as dn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("."))
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    data = dn.datasets.make_smooth_nonlinear(300, random_state=0)
    model = dn.PartiallyLinear(["d1", "d2"]).fit(data.X, data.y)
    model.plot_relevance().figure.savefig(folder / "relevance.png", dpi=120)
    plt.close("all")


if __name__ == "__main__":
    main()
