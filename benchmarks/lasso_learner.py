"""The learner "lasso" against DoubleML with LassoCV: times in one run, on the same folds.

    OMP_NUM_THREADS=1 python benchmarks/lasso_learner.py --repeats 5

Needs the `bench` extra. Every repeat draws new data and times DoubleML, `method="dml2"` (the same
estimate) and the default method one after the other, so that the load of the machine affects all
of them; what is printed are the median times and the median, least and largest ratio.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import debinet as dn

# rows, controls, treatments
SIZES = [(1000, 300, 1), (1000, 300, 5)]


def draw(n: int, p: int, q: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return y, D and Z, correlated columns of which ten matter."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, p))
    for j in range(1, p):
        Z[:, j] = 0.5 * Z[:, j - 1] + np.sqrt(0.75) * Z[:, j]
    weights = np.zeros((p, q + 1))
    weights[:10] = 1 / np.arange(1, 11)[:, None]
    D = Z @ weights[:, 1:] + rng.normal(size=(n, q))
    y = D @ np.full(q, 0.5) + Z @ weights[:, 0] + rng.normal(size=n)
    return y, D, Z


def fit_doubleml(y: Any, D: Any, Z: Any, folds: list[Any]) -> np.ndarray:
    """Return the coefficients of all treatments, each with the others among its controls."""
    import doubleml

    learner = make_pipeline(StandardScaler(), LassoCV())
    data = doubleml.DoubleMLData.from_arrays(Z, y, D)
    model = doubleml.DoubleMLPLR(
        data, learner, learner, n_folds=len(folds), draw_sample_splitting=False
    )
    return np.asarray(model.set_sample_splitting([folds]).fit().coef)


def fit_ours(y: Any, D: Any, Z: Any, folds: list[Any], method: str) -> np.ndarray:
    treatments = list(range(D.shape[1]))
    model = dn.PartiallyLinear(treatments, "lasso", crossfit=folds, method=method)
    return model.fit(np.hstack([D, Z]), y).result_.estimate


def timed(work: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
    start = perf_counter()
    found = work()
    return perf_counter() - start, found


def compare(n: int, p: int, q: int, repeats: int) -> dict[str, Any]:
    """Return seconds, ratios and the largest difference between the two estimates."""
    seconds: dict[str, list[float]] = {"DoubleML": [], "dml2": [], "structured": []}
    gaps = []
    for seed in range(-1, repeats):  # the first is not counted: it loads the compiled code
        y, D, Z = draw(n, p, q, seed + 1)
        folds = list(KFold(5, shuffle=True, random_state=seed + 1).split(Z))
        took, theirs = timed(lambda: fit_doubleml(y, D, Z, folds))  # noqa: B023 - called at once
        row = {"DoubleML": took}
        for method in ("dml2", "structured"):
            row[method], ours = timed(lambda: fit_ours(y, D, Z, folds, method))  # noqa: B023
            if method == "dml2":
                gaps.append(float(np.abs(ours - theirs).max()))
        if seed >= 0:
            for name, value in row.items():
                seconds[name].append(value)
    theirs = np.array(seconds["DoubleML"])
    report: dict[str, Any] = {name: float(np.median(times)) for name, times in seconds.items()}
    for method in ("dml2", "structured"):
        ratio = theirs / np.array(seconds[method])
        report[f"DoubleML / {method}"] = [float(f(ratio)) for f in (np.median, np.min, np.max)]
    report["largest difference of dml2"] = max(gaps)
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    found = {
        f"n = {n}, {p} controls, {q} treatment(s)": compare(n, p, q, options.repeats)
        for n, p, q in SIZES
    }
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
