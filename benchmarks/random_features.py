"""Exact wide network against random features of it: error, coverage, prediction and seconds.

Run `python benchmarks/random_features.py --seeds 4 --n 2500`: the numbers of decision 9.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import numpy as np

import debinet as dn

DESIGNS = ("table1", "sparse_linear", "smooth_nonlinear", "ccddhnr2018")
LEARNERS = {
    "exact": dn.WideNet(relevance="equal"),
    "width 1000": dn.TangentNet(width=1000, features="units"),
    "width 2000": dn.TangentNet(width=2000, features="units"),
}


def measure(design: str, learner: object, n: int, seed: int) -> tuple[float, float, float, float]:
    X, y, truth = getattr(dn.datasets, f"make_{design}")(n=n + 1000, random_state=seed)
    start = perf_counter()
    model = dn.PartiallyLinear(list(truth.index), learner, random_state=seed).fit(X[:n], y[:n])
    seconds = perf_counter() - start
    bounds = model.result_.confint()
    inside = (bounds["lower"] <= truth) & (truth <= bounds["upper"])
    test = ((model.predict(X[n:]) - y[n:]) ** 2).mean()
    return ((model.coef_ - truth) ** 2).mean(), inside.mean(), test, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--n", type=int, default=2500)
    options = parser.parse_args()
    print("| design | learner | root mean squared error | coverage | test MSE | seconds |")
    print("|---|---|--:|--:|--:|--:|")
    for design in DESIGNS:
        for name, learner in LEARNERS.items():
            runs = [measure(design, learner, options.n, seed) for seed in range(options.seeds)]
            error, cover, test, seconds = np.mean(runs, axis=0)
            print(
                f"| {design} | {name} | {np.sqrt(error):.4f} | {cover:.2f} | {test:.3f} "
                f"| {seconds:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
