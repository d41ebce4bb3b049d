"""Speed, as ratios measured in one run: several repeats, medians, results as JSON and Markdown.

    python benchmarks/run.py --out results

Needs the `bench` extra for the rows that compare with other packages.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import debiased_lasso
import file_to_report
import kernel_regression
import net_folds
import numpy as np
import paper_network
import relevance
import selector_times
import sklearn
import streaming
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression, RidgeCV
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
            model = dn.PartiallyLinear(range(q), learner, crossfit=folds, method="dml2")
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


def wide_and_ridge(q: int = 149, measured: int = 3) -> dict[str, float]:
    """Time the default learner for 149 treatments, and DoubleML with RidgeCV one at a time."""
    import doubleml

    rng = np.random.default_rng(0)
    n, p = 1000, 500
    X = rng.normal(size=(n, p))
    y = X[:, :200].sum(axis=1) + rng.normal(size=n)

    def ours() -> object:
        return dn.PartiallyLinear(range(q)).fit(X, y)

    def theirs() -> None:
        for j in range(measured):
            data = doubleml.DoubleMLData.from_arrays(np.delete(X, j, axis=1), y, X[:, j])
            doubleml.DoubleMLPLR(data, RidgeCV(), RidgeCV()).fit()

    pairs = [(seconds(ours), seconds(theirs) * q / measured) for _ in range(3)]
    return {
        "ours_seconds": median(pair[0] for pair in pairs),
        "doubleml_seconds": median(pair[1] for pair in pairs),
        "ratio": median(pair[1] / pair[0] for pair in pairs),
    }


def wide_and_eigh(n: int = 4000, p: int = 50, outputs: int = 20) -> dict[str, float]:
    """Tuning and leave-one-out of 20 outputs against the one eigendecomposition they need."""
    from scipy.linalg import eigh

    from debinet.data.folds import leave_one_out

    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, p))
    M = np.sin(Z[:, :outputs]) + rng.normal(size=(n, outputs))
    kernel = Z @ Z.T / p + np.eye(n)
    folds = leave_one_out(n)
    found: dict[str, list[float]] = {"fixed": [], "auto": []}
    for _ in range(3):
        one = seconds(lambda: eigh(kernel.copy(), driver="evd", check_finite=False))
        for name, skip in (("fixed", 10.0), ("auto", "auto")):
            work = dn.WideNet(skip=skip, relevance="equal")
            found[name].append(seconds(lambda net=work: net.prepare(Z, M).hold_out(M, folds)) / one)
    few, net = leave_one_out(2000), dn.WideNet(skip=10.0, relevance="equal")
    peak = _peak_doubles(lambda: net.prepare(Z[:2000], M[:2000]).hold_out(M[:2000], few))
    return {
        "skip_fixed_ratio": median(found["fixed"]),
        "skip_auto_ratio": median(found["auto"]),
        "peak_memory_in_n_squared_doubles": peak / (2000**2 * 8),
    }


def _peak_doubles(work: Callable[[], object]) -> float:
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return float(peak)


BENCHES: dict[str, Callable[[], dict[str, float]]] = {
    "import": import_cost,
    "20 treatments, n = 1000, 20 controls, 5 folds, against DoubleML": many_treatments,
    "149 treatments, n = 1000, p = 500, against DoubleML with RidgeCV": wide_and_ridge,
    "WideNet, n = 4000, 20 outputs, over one eigh": wide_and_eigh,
    "Setting A against the paper's network in torch": paper_network.setting_a,
    "Table 1, n = 10,000, against the paper's network in torch": paper_network.table_1,
    "DebiasedLasso, n = 1000, p = 3000, over X'X": debiased_lasso.over_gram,
    "DebiasedLasso, n = 1000, p = 500, against hidimstat": debiased_lasso.over_hidimstat,
    "DebiasedLasso, n = 1000, p = 500, against EconML": debiased_lasso.over_econml,
    "Kernels, 21 outputs, n = 2000, against statsmodels": kernel_regression.over_statsmodels,
    "401(k), from file to report, against DoubleML": file_to_report.file_to_report,
    "Net, five folds as one program, times faster": net_folds.folds_together,
    "Streaming, 1,000,000 rows": streaming.streaming,
    "Learned relevance, n = 1000, p = 20, over eigh": relevance.learning,
    "Selectors, n = 1000, p = 3000": selector_times.selector_times,
}


def machine() -> dict[str, str]:
    return {
        "python": platform.python_version(),
        "processor": platform.machine(),
        "cores": str(os.cpu_count()),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }


def write(results: dict[str, dict[str, float | str]], folder: Path) -> str:
    (folder / "bench.json").write_text(json.dumps(results, indent=2))
    lines = ["| what | measure | value |", "|---|---|--:|"]
    lines += [
        f"| {what} | {figure.replace('_', ' ')} "
        f"| {value if isinstance(value, str) else f'{value:.3g}'} |"
        for what, figures in results.items()
        for figure, value in figures.items()
    ]
    table = "\n".join(lines) + "\n"
    (folder / "bench.md").write_text(table)
    return table


def main(folder: Path, only: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    stored = folder / "bench.json"
    results = json.loads(stored.read_text()) if only and stored.exists() else {}
    results["machine"] = machine()
    for name, bench in BENCHES.items():
        if only in name:
            results[name] = bench()
            table = write(results, folder)
            print(f"{name}: done", flush=True)
    print(table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--only", default="", help="only the rows whose name contains this text")
    options = parser.parse_args()
    main(options.out, options.only)
