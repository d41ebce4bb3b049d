"""Speed of the desparsified Lasso, as ratios measured in one run.

    python benchmarks/debiased_lasso.py                    # numbers
    python benchmarks/debiased_lasso.py --reference PATH   # values of hidimstat for tests/reference

Needs EconML and hidimstat (the `bench` extra) for all but the first numbers. Compilation is
excluded by a first fit on small data and reported separately.
"""

from __future__ import annotations

import argparse
import json
import tracemalloc
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from sklearn.base import clone

from debinet.models.debiased_lasso import DebiasedLasso

REPEATS = 3


def seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def sparse_design(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, X[:, :5].sum(axis=1) + rng.normal(size=n)


def fit_default(X: np.ndarray, y: np.ndarray) -> object:
    return DebiasedLasso(random_state=0).fit(X, y).result_.confint()


def compilation() -> dict[str, float]:
    """Time the first fit of this process: the import of numba, and compiling unless cached."""
    X, y = sparse_design(40, 60)

    def work() -> object:
        return DebiasedLasso().fit(X, y).bootstrap(20)

    first = seconds(work)
    return {"first_fit_seconds": first, "second_fit_seconds": seconds(work)}


def over_gram(n: int = 1000, p: int = 3000) -> dict[str, float]:
    """Universal penalties, all intervals included, over the cost of `X'X`."""
    compilation()
    X, y = sparse_design(n, p)
    settings = {
        "universal": DebiasedLasso("universal", "universal", projection="exact"),
        "default": DebiasedLasso(random_state=0),
    }
    found: dict[str, list[float]] = {name: [] for name in [*settings, "gram", "joint"]}
    ratios: dict[str, list[float]] = {name: [] for name in settings}
    for _ in range(REPEATS):
        found["gram"].append(seconds(lambda: X.T @ X))
        for name, model in settings.items():
            took = seconds(lambda model=model: model.fit(X, y).result_.confint())
            found[name].append(took)
            ratios[name].append(took / found["gram"][-1])
        result = settings["universal"].result_
        found["joint"].append(seconds(lambda result=result: result.confint(joint=True)))
    # A fitted model keeps its covariance until the next one is complete: take a new one.
    fresh = clone(settings["universal"])
    tracemalloc.start()
    fresh.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        **{f"{name}_seconds": median(values) for name, values in found.items()},
        **{f"{name}_over_gram": median(values) for name, values in ratios.items()},
        "peak_memory_in_p_squared_doubles": peak / (8 * p * p),
        "data_in_p_squared_doubles": n / p,
    }


def over_hidimstat(n: int = 1000, p: int = 500) -> dict[str, float]:
    """Compare at the nodewise penalty that hidimstat chooses; the median of columns is used."""
    compilation()
    import hidimstat

    X, y = sparse_design(n, p)
    S = (X - X.mean(axis=0)) / X.std(axis=0)
    gram = np.abs(S.T @ S / n)
    np.fill_diagonal(gram, 0)
    # hidimstat takes 0.01 of the penalty at which nothing is left; the median is used for all.
    comparable = 0.01 * float(np.median(gram.max(axis=0)))
    found: dict[str, list[float]] = {"ours": [], "ours_default": [], "hidimstat": []}
    for _ in range(REPEATS):
        exact = DebiasedLasso("cv", comparable, projection="exact")
        found["ours"].append(seconds(lambda model=exact: model.fit(X, y).result_.confint(0.95)))
        found["ours_default"].append(seconds(lambda: fit_default(X, y)))
        theirs = hidimstat.DesparsifiedLasso(preconfigure_model_x_path=None, n_jobs=2)
        found["hidimstat"].append(seconds(lambda model=theirs: model.fit(X, y).importance()))
    result = {f"{name}_seconds": median(values) for name, values in found.items()}
    result["ratio"] = result["hidimstat_seconds"] / result["ours_seconds"]
    result["default_ratio"] = result["hidimstat_seconds"] / result["ours_default_seconds"]
    return result


def over_econml(n: int = 1000, p: int = 500) -> dict[str, float]:
    """Compare defaults with EconML's, one fit: EconML takes minutes."""
    compilation()
    from econml.sklearn_extensions.linear_model import DebiasedLasso as Theirs

    X, y = sparse_design(n, p)
    ours = median(seconds(lambda: fit_default(X, y)) for _ in range(3))
    theirs = seconds(lambda: Theirs().fit(X, y).coef__interval())
    return {"ours_seconds": ours, "econml_seconds": theirs, "ratio": theirs / ours}


def write_reference(path: Path) -> None:
    """Write what hidimstat finds at fixed penalties, on columns of unit variance."""
    from hidimstat import DesparsifiedLasso
    from sklearn.linear_model import Lasso, LassoCV

    rng = np.random.default_rng(0)
    n, p = 50, 30
    X = rng.normal(size=(n, p)).round(3)
    X[:, 1:] += (0.5 * X[:, :-1]).round(3)
    y = (X[:, 0] - X[:, 1] + rng.normal(size=n)).round(3)
    S = (X - X.mean(axis=0)) / X.std(axis=0)
    tight = {"tol": 1e-12, "max_iter": 1_000_000, "fit_intercept": False}
    model = DesparsifiedLasso(
        # Two penalties so close that it does not matter which is chosen: in effect a Lasso.
        estimator=LassoCV(alphas=[0.1, 0.1 + 1e-13], **tight),
        model_x=Lasso(alpha=0.2, **tight),
        preconfigure_model_x_path=False,
    )
    model.fit(S, y)
    model.importance()
    width = model.confidence_bound_max_ - model.confidence_bound_min_
    stored = {
        "hidimstat": version("hidimstat"),
        "penalty": 0.1,
        "nodewise": 0.2,
        "X": X.tolist(),
        "y": y.tolist(),
        "coef": model.importances_.tolist(),
        "sigma": float(model.sigma_hat_),
        "width": width.tolist(),
    }
    path.write_text(json.dumps(stored))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reference", type=Path)
    path = parser.parse_args().reference
    if path is not None:
        write_reference(path)
    else:
        print(json.dumps({"compilation": compilation(), "over Gram": over_gram()}, indent=2))
        print(json.dumps({"over hidimstat": over_hidimstat()}, indent=2))
        print(json.dumps({"over EconML": over_econml()}, indent=2))
