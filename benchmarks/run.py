"""Speed, as ratios measured in one run: several repeats, medians, results as JSON and Markdown.

    python benchmarks/run.py --out results

Needs the `bench` extra for the rows that compare with DoubleML.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import sklearn
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

import debinet as dn

REPEATS = 5


def seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def import_cost() -> dict[str, float]:
    def run(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    run("import debinet")()
    bare = median(seconds(run("pass")) for _ in range(REPEATS))
    ours = median(seconds(run("import debinet")) for _ in range(REPEATS))
    use = median(seconds(run("import debinet; debinet.PartiallyLinear")) for _ in range(REPEATS))
    return {"import_seconds": ours - bare, "first_use_seconds": use - bare}


def many_treatments(q: int = 20, measured: int = 2) -> dict[str, float]:
    """One joint fit for q treatments against one DoubleML fit per treatment."""
    import doubleml

    rng = np.random.default_rng(0)
    n, p = 1000, 20
    Z = rng.normal(size=(n, p))
    D = np.sin(Z[:, :1]) + rng.normal(size=(n, q))
    y = D.sum(axis=1) + Z[:, 1] ** 2 + rng.normal(size=n)
    X = np.hstack([D, Z])
    folds = list(KFold(5, shuffle=True, random_state=0).split(X))
    found = {}
    for name, learner in {
        "forest": RandomForestRegressor(50, random_state=0),
        "linear": LinearRegression(),
    }.items():

        def ours(learner=learner):
            model = dn.PartiallyLinear(range(q), learner, crossfit=folds, score="dml2")
            return model.fit(X, y)

        def theirs(learner=learner):
            for j in range(measured):
                data = doubleml.DoubleMLData.from_arrays(np.delete(X, j, axis=1), y, D[:, j])
                model = doubleml.DoubleMLPLR(
                    data, clone(learner), clone(learner), draw_sample_splitting=False
                )
                model.set_sample_splitting([folds])
                model.fit()

        pairs = [(seconds(ours), seconds(theirs) * q / measured) for _ in range(REPEATS)]
        found[f"{name}_ours_seconds"] = median(pair[0] for pair in pairs)
        found[f"{name}_doubleml_seconds"] = median(pair[1] for pair in pairs)
        found[f"{name}_ratio"] = median(pair[1] / pair[0] for pair in pairs)
    return found


def main(folder: Path) -> None:
    results = {
        "machine": {
            "python": platform.python_version(),
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "import": import_cost(),
        "twenty treatments, n = 1000, 20 controls, 5 folds": many_treatments(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bench.json").write_text(json.dumps(results, indent=2))
    lines = ["| what | figure | value |", "|---|---|--:|"]
    lines += [
        f"| {what} | {figure} | {value if isinstance(value, str) else f'{value:.3g}'} |"
        for what, figures in results.items()
        for figure, value in figures.items()
    ]
    (folder / "bench.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results"))
    main(parser.parse_args().out)
