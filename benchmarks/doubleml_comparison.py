"""The default learner against DoubleML with four learners: error and coverage on the same data.

    OMP_NUM_THREADS=1 python benchmarks/doubleml_comparison.py --replications 100 --out results

Needs the `bench` extra. Every design and learner is written to `comparison.json` when it is done,
so an interrupted run is resumed where it stopped; `comparison.md` is the table of docs/coverage.md.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LassoCV
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import debinet as dn

DESIGNS = {
    "ccddhnr2018, n = 500": (dn.datasets.make_ccddhnr2018, 500),
    "waves, n = 1000": (dn.datasets.make_waves, 1000),
    "oblique, n = 1000": (dn.datasets.make_oblique, 1000),
    "ccddhnr2018, n = 2000": (dn.datasets.make_ccddhnr2018, 2000),
}
# Forests and boosting take a quarter of a minute per data set of 2000 rows and 20 controls.
AT_MOST = {"ccddhnr2018, n = 2000": 30}
OURS = "debinet, default"
LEARNERS = (OURS, "DoubleML, forest", "DoubleML, LightGBM", "DoubleML, LassoCV", "DoubleML, MLP")


def make_learner(name: str, seed: int) -> Any:
    """Return what DoubleML's documentation uses, or the learner's own defaults."""
    if name == "DoubleML, forest":
        return RandomForestRegressor(n_estimators=100, min_samples_leaf=3, random_state=seed)
    if name == "DoubleML, LightGBM":
        from lightgbm import LGBMRegressor

        return LGBMRegressor(
            n_estimators=500, learning_rate=0.01, verbose=-1, n_jobs=1, random_state=seed
        )
    if name == "DoubleML, LassoCV":
        return make_pipeline(StandardScaler(), LassoCV())
    network = MLPRegressor(
        hidden_layer_sizes=(100,), early_stopping=True, max_iter=1000, random_state=seed
    )
    return make_pipeline(StandardScaler(), network)


def fit_ours(X: Any, y: Any, seed: int) -> tuple[float, float, float, float]:
    frame = dn.PartiallyLinear(["d1"], random_state=seed).fit(X, y).result_.to_frame()
    coef, se, lower, upper = frame.loc["d1", ["coef", "se", "lower", "upper"]]
    return coef, se, lower, upper


def fit_doubleml(X: Any, y: Any, learner: Any, seed: int) -> tuple[float, float, float, float]:
    import doubleml
    from sklearn.base import clone

    Z = X.drop(columns="d1")
    data = doubleml.DoubleMLData.from_arrays(Z.to_numpy(), y.to_numpy(), X["d1"].to_numpy())
    np.random.seed(seed)  # noqa: NPY002 - DoubleML draws its folds from the global state
    model = doubleml.DoubleMLPLR(data, clone(learner), clone(learner), n_folds=5).fit()
    lower, upper = model.confint().iloc[0]
    return float(model.coef[0]), float(model.se[0]), float(lower), float(upper)


def replicate(design: str, name: str, seed: int) -> list[float]:
    """Return the error, the standard error and whether the interval covers."""
    make, n = DESIGNS[design]
    X, y, truth = make(n=n, random_state=seed)
    if name == OURS:
        coef, se, lower, upper = fit_ours(X, y, seed)
    else:
        coef, se, lower, upper = fit_doubleml(X, y, make_learner(name, seed), seed)
    true = truth["d1"]
    return [coef - true, se, float(lower <= true <= upper)]


def table(cells: dict[str, dict[str, list[list[float]]]]) -> str:
    lines = [
        "| design | estimator | runs | bias | root mean squared error | mean se | coverage |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for design, by_learner in cells.items():
        for name, runs in by_learner.items():
            error, se, covers = np.array(runs).T
            mse = (error**2).mean()
            # the delta method: sd(mean of squares) / (2 rmse)
            spread = (error**2).std(ddof=1) / np.sqrt(error.size) / (2 * np.sqrt(mse))
            noise = np.sqrt(covers.mean() * (1 - covers.mean()) / error.size)
            lines.append(
                f"| {design} | {name} | {error.size} | {error.mean():.4f} "
                f"| {np.sqrt(mse):.4f} ({spread:.4f}) "
                f"| {se.mean():.4f} | {covers.mean():.3f} ({noise:.3f}) |"
            )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--out", type=Path, default=Path("results"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    stored = options.out / "comparison.json"
    cells = json.loads(stored.read_text()) if stored.exists() else {}
    for design in DESIGNS:
        for name in LEARNERS:
            done = cells.setdefault(design, {}).setdefault(name, [])
            wanted = min(options.replications, AT_MOST.get(design, options.replications))
            seeds = range(len(done), wanted)
            done += Parallel(n_jobs=-1)(delayed(replicate)(design, name, seed) for seed in seeds)
            partial = stored.with_suffix(".part")
            partial.write_text(json.dumps(cells))
            os.replace(partial, stored)
            print(f"{design}: {name} done", flush=True)
    (options.out / "comparison.md").write_text(table(cells))
    print(table(cells))


if __name__ == "__main__":
    main()
