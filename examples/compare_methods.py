"""Intervals of five methods for the features that the Lasso selects, as in the paper's Figure 3.

Run `python examples/compare_methods.py --out results`. n = 1000, p = 500, the first k = 100
coefficients are 1, the others 0; the Lasso has penalty 1, as in the lower left panel.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib as mpl
import pandas as pd

import debinet as dn


def results(n: int = 1000, p: int = 500, k: int = 100) -> tuple[dict[str, object], pd.Series]:
    X, y, truth = dn.datasets.make_table2(n, p, k, random_state=0)
    selector = dn.Lasso(1.0, standardize=False)

    def after(learner: object, share: float | None = None) -> dn.DebiNet:
        return dn.DebiNet(selector, learner, selection_share=share, random_state=0).fit(X, y)

    same_rows = after("wide")
    chosen = list(same_rows.result_.names)
    return {
        "DebiNet\n(40 % select)": after("wide", 0.4).result_,
        "DebiNet\n(same rows)": same_rows.result_,
        "OLS post-Lasso": after("mean").result_,
        "NW post-Lasso": after(dn.NadarayaWatson()).result_,
        "debiased Lasso": dn.DebiasedLasso(random_state=0).fit(X, y).result_.to_frame().loc[chosen],
    }, truth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results"))
    folder = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    mpl.use("Agg")
    figure = dn.plot_intervals(*results())
    figure.savefig(folder / "intervals.png", dpi=80)


if __name__ == "__main__":
    main()
