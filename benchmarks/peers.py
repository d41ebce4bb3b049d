"""Errors, intervals and seconds of this package and its peers on the same data, as Markdown tables.

    OMP_NUM_THREADS=1 python benchmarks/peers.py --out results

Needs the `bench` extra; hdmpy, a port of R's hdm, is run if it is installed (`pip install hdmpy`).
Replications are the outer loop, so that other work of the machine affects all estimators of a
design alike; seconds are processor time, one thread. A fit that fails is counted with its reason,
never left out silently.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
import pandas as pd
from peer_estimators import ESTIMATORS, Problem

import debinet as dn

TWENTY = (1.0, -0.5, 0.25, 0.0) * 5


def doubleml_plr(seed: int) -> Problem:
    """Draw from DoubleML's own generator, which uses numpy's global state."""
    from doubleml.plm.datasets import make_plr_CCDDHNR2018

    np.random.seed(seed)  # noqa: NPY002 - no other way
    Z, y, d = make_plr_CCDDHNR2018(n_obs=500, dim_x=20, alpha=0.5, return_type="array")
    X = pd.DataFrame(Z, columns=[f"z{j + 1}" for j in range(20)])
    X.insert(0, "d1", d)
    return Problem(X, pd.Series(y, name="y"), pd.Series([0.5], index=["d1"]))


def library(make: Callable[..., dn.datasets.Simulated], **options: object) -> Callable:
    return lambda seed: Problem(*make(random_state=seed, **options))


def sparse(correlation: float) -> Callable[[int], Problem]:
    """Return n = 250, p = 400, five coefficients of 1; estimated are those and five that are 0."""

    def draw(seed: int) -> Problem:
        rng = np.random.default_rng(seed)
        n, p = 250, 400
        lags = np.abs(np.subtract.outer(np.arange(p), np.arange(p)))
        X = rng.normal(size=(n, p)) @ np.linalg.cholesky(correlation**lags).T
        active = np.arange(10) % 2 == 0
        y = X[:, :10] @ active + rng.normal(size=n)
        names = [f"x{j}" for j in range(p)]
        truth = pd.Series(active.astype(float), index=names[:10])
        return Problem(pd.DataFrame(X, columns=names), pd.Series(y, name="y"), truth)

    return draw


def clustered(seed: int) -> Problem:
    """Return 40 clusters of 15 rows; cluster effects in D and y, independent of each other."""
    X, y, truth = dn.datasets.make_ccddhnr2018(600, random_state=seed)
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(40), 15)
    in_D, in_y = rng.normal(size=(2, 40))
    shifted = X["d1"] + in_D[groups]
    y = y + truth["d1"] * (shifted - X["d1"]) + in_y[groups]
    return Problem(X.assign(d1=shifted), y, truth, groups)


@dataclass(frozen=True)
class Design:
    """What to run.

    Attributes
    ----------
    draw : callable
        From a seed to a `Problem`.
    replications : int
        At most.
    estimators : tuple of str
        Keys of `ESTIMATORS`.
    """

    draw: Callable[[int], Problem]
    replications: int
    estimators: tuple[str, ...]


# Half a minute and more per fit, or several seconds in a design of many runs.
AT_MOST = {"EconML DebiasedLasso": 3, "EconML LinearDML, default": 20}
FEW = ("debinet, default", "DoubleML, forest", "DoubleML, LassoCV", "EconML LinearDML, default")
SPARSE = (
    *("debinet, DebiasedLasso", "debinet, default", "hdmpy rlassoEffects"),
    *("hidimstat DesparsifiedLasso, scaled penalties", "hidimstat DesparsifiedLasso, default"),
)
DESIGNS = {
    "a. DoubleML's make_plr_CCDDHNR2018, n = 500": Design(
        doubleml_plr, 20, (*FEW, "DoubleML, LightGBM")
    ),
    "b1. make_oblique, n = 500": Design(
        library(dn.datasets.make_oblique, n=500), 20, (*FEW, "DoubleML, LightGBM")
    ),
    "b2. make_smooth_nonlinear, n = 500, two treatments": Design(
        library(dn.datasets.make_smooth_nonlinear, n=500), 20, FEW
    ),
    "c1. sparse, n = 250, p = 400, independent columns": Design(sparse(0.0), 20, SPARSE),
    "c2. sparse, n = 250, p = 400, correlation 0.8": Design(
        sparse(0.8), 20, (*SPARSE, "EconML DebiasedLasso")
    ),
    "d. 20 treatments, make_sparse_linear, n = 500": Design(
        library(dn.datasets.make_sparse_linear, n=500, effects=TWENTY),
        10,
        (
            *("debinet, default", "debinet, LassoCV of 20 penalties"),
            *("DoubleML, LassoCV of 20 penalties", "EconML LinearDML, default"),
        ),
    ),
    "e. 40 clusters of 15 rows": Design(
        clustered,
        50,
        (
            *("debinet, default", "debinet, default, clusters ignored"),
            *("DoubleML, LassoCV", "DoubleML, LassoCV, clusters ignored"),
            *("EconML LinearDML, default",),
        ),
    ),
}


@dataclass
class Runs:
    """Results of one estimator on one design, one entry per replication, and its failures."""

    squared: list[float]
    covered: list[float]
    length: list[float]
    seconds: list[float]
    failures: list[str]


def replicate(problem: Problem, name: str, seed: int, runs: Runs) -> None:
    start = process_time()
    try:
        coef, lower, upper = ESTIMATORS[name](problem, seed)
        if not np.isfinite([coef, lower, upper]).all():
            raise ValueError("not finite")  # noqa: TRY301 - a failure like the others
    except Exception as error:
        runs.failures.append(f"{type(error).__name__}: {str(error)[:120]}")
        return
    runs.seconds.append(process_time() - start)
    true = problem.truth.to_numpy()
    runs.squared.append(float(((coef - true) ** 2).mean()))
    runs.covered.append(float(((lower <= true) & (true <= upper)).mean()))
    runs.length.append(float((upper - lower).mean()))


def row(name: str, runs: Runs) -> str:
    squared, covered = np.array(runs.squared), np.array(runs.covered)
    if squared.size <= 1:
        return f"| {name} | {squared.size} | {len(runs.failures)} | | | | |"
    rmse = np.sqrt(squared.mean())
    # the delta method: sd(mean of squares) / (2 rmse); coefficients of a replication are one unit
    noise = squared.std(ddof=1) / np.sqrt(squared.size) / (2 * rmse)
    spread = covered.std(ddof=1) / np.sqrt(covered.size)
    return (
        f"| {name} | {squared.size} | {len(runs.failures)} | {rmse:.4f} ({noise:.4f}) "
        f"| {covered.mean():.3f} ({spread:.3f}) | {np.mean(runs.length):.3f} "
        f"| {median(runs.seconds):.2f} |"
    )


def run_design(design: Design, most: int) -> dict[str, Runs]:
    names = [name for name in design.estimators if "hdmpy" not in name or find_spec("hdmpy")]
    found = {name: Runs([], [], [], [], []) for name in names}
    first = design.draw(10_000)
    for name in names:  # imports and compilation are not part of a fit
        if name not in AT_MOST:
            replicate(first, name, 0, Runs([], [], [], [], []))
    for seed in range(min(design.replications, most)):
        problem = design.draw(seed)
        for name in names:
            if seed < AT_MOST.get(name, most):
                replicate(problem, name, seed, found[name])
    return found


def table(found: dict[str, Runs]) -> str:
    lines = [
        "| estimator | runs | failed | root mean squared error | coverage | length | seconds |",
        "|---|--:|--:|--:|--:|--:|--:|",
        *(row(name, runs) for name, runs in found.items()),
    ]
    reasons = {f"{name}: {why}" for name, runs in found.items() for why in runs.failures}
    return "\n".join([*lines, "", *sorted(reasons)]).rstrip() + "\n"


def versions() -> str:
    found = []
    for package in ("DoubleML", "econml", "hidimstat", "hdmpy", "lightgbm", "scikit-learn"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} not installed")
    return ", ".join(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=50, help="at most")
    parser.add_argument("--only", default="", help="only designs with these letters, as in abc")
    parser.add_argument("--out", type=Path, default=Path("results"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")  # of the other packages: convergence, deprecations
    pages, stored = [versions() + "\n"], {}
    for name, design in DESIGNS.items():
        if not options.only or name[0] in options.only:
            start = perf_counter()
            found = run_design(design, options.replications)
            pages.append(f"### {name}\n\n{table(found)}")
            stored[name] = {estimator: vars(runs) for estimator, runs in found.items()}
            print(f"{pages[-1]}\n({perf_counter() - start:.0f} s)\n", flush=True)
            (options.out / "peers.md").write_text("\n".join(pages))
            (options.out / "peers.json").write_text(json.dumps(stored))
    print(pages[0])


if __name__ == "__main__":
    main()
