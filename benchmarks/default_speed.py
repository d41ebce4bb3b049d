"""The default against DoubleML with LightGBM: times in one run, by rows and treatments.

    python benchmarks/default_speed.py --repeats 3
    python benchmarks/default_speed.py --growth --repeats 3  # the default, from n to 1.5 n rows

Needs the `bench` extra. Every repeat draws new data and times both one after the other, so that the
load of the machine affects both. DoubleML learns the outcome and one treatment at a time.
"""

from __future__ import annotations

import argparse
import json
import warnings
from time import perf_counter, process_time

import numpy as np

import debinet as dn

ROWS = (500, 2000, 5000, 20_000, 100_000)
TREATMENTS = (1, 10)
CONTROLS = 20


def draw(n: int, q: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return y, D and Z; three of the controls act, by a sine, an absolute value and a product."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, CONTROLS))
    shape = np.sin(Z[:, [0]]) + Z[:, [1]] * Z[:, [2]] / 2
    D = shape + rng.normal(size=(n, q))
    return D.sum(axis=1) + shape[:, 0] + np.abs(Z[:, 1]) + rng.normal(size=n), D, Z


def fit_doubleml(y: np.ndarray, D: np.ndarray, Z: np.ndarray) -> None:
    import doubleml
    from lightgbm import LGBMRegressor

    data = doubleml.DoubleMLData.from_arrays(Z, y, D)
    learner = LGBMRegressor(verbose=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        doubleml.DoubleMLPLR(data, learner, learner, n_folds=5).fit()


def fit_ours(y: np.ndarray, D: np.ndarray, Z: np.ndarray) -> None:
    dn.PartiallyLinear(list(range(D.shape[1])), random_state=0).fit(np.hstack([D, Z]), y)


def main(repeats: int, rows: list[int]) -> None:
    fit_ours(*draw(200, 1, 0))  # imports are not timed
    fit_doubleml(*draw(200, 1, 0))
    for q in TREATMENTS:
        for n in rows:
            times = []
            for seed in range(repeats):
                data = draw(n, q, seed)
                start = perf_counter()
                fit_ours(*data)
                middle = perf_counter()
                fit_doubleml(*data)
                times.append((middle - start, perf_counter() - middle))
            ours, theirs = np.median(times, axis=0)
            ratios = [a / b for a, b in times]
            found = {
                "rows": n,
                "treatments": q,
                "debinet": round(ours, 3),
                "DoubleML, LightGBM": round(theirs, 3),
                "ratio": [round(r, 2) for r in (np.median(ratios), min(ratios), max(ratios))],
            }
            print(json.dumps(found), flush=True)


def growth(repeats: int, largest: int = 60_000) -> None:
    """Print processor times by rows, and how much each is above that of two thirds of the rows."""
    n, before = 500, None
    while n <= largest:
        times = []
        for seed in range(repeats):
            data = draw(n, 1, seed)
            start = process_time()
            fit_ours(*data)
            times.append(process_time() - start)
        least = min(times)
        ratio = None if before is None else round(least / before, 2)
        print(json.dumps({"rows": n, "debinet": round(least, 3), "ratio": ratio}), flush=True)
        n, before = round(1.5 * n), least


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, nargs="+", default=list(ROWS))
    parser.add_argument("--growth", action="store_true")
    arguments = parser.parse_args()
    if arguments.growth:
        growth(arguments.repeats)
    else:
        main(arguments.repeats, arguments.rows)
