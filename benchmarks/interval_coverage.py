"""Error and coverage of 95 % intervals by design and learner, as a Markdown table.

Run `OMP_NUM_THREADS=1 python benchmarks/interval_coverage.py --replications 100`. The designs
include one that every learner here finds hard: coverage is not a property of a method alone but
depends on the data.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LassoCV

import debinet as dn

DESIGNS = {
    "ccddhnr2018": dn.datasets.make_ccddhnr2018,
    "survey": dn.datasets.make_survey,
    "sparse linear": dn.datasets.make_sparse_linear,
    "smooth nonlinear": dn.datasets.make_smooth_nonlinear,
}
LEARNERS = {
    "wide (default)": "wide",
    "LassoCV": LassoCV(alphas=20),
    "RandomForest": RandomForestRegressor(n_estimators=50, min_samples_leaf=3),
}


def replicate(design: str, learner: str, n: int, seed: int) -> dict[str, float]:
    X, y, truth = DESIGNS[design](n=n, random_state=seed)
    result = dn.PartiallyLinear(list(truth.index), LEARNERS[learner], random_state=seed).fit(X, y)
    frame = result.result_.to_frame()
    inside = (frame["lower"] <= truth) & (truth <= frame["upper"])
    error = frame["coef"] - truth
    return {
        "bias": error.mean(),
        "squared error": (error**2).mean(),
        "squared se": (frame["se"] ** 2).mean(),
        "coverage": inside.mean(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--n", type=int, default=500)
    options = parser.parse_args()
    print("| design | learner | bias | root mean squared error | mean se | coverage |")
    print("|---|---|--:|--:|--:|--:|")
    for design in DESIGNS:
        for learner in LEARNERS:
            runs = Parallel(n_jobs=-1)(
                delayed(replicate)(design, learner, options.n, seed)
                for seed in range(options.replications)
            )
            m = pd.DataFrame(runs).mean()
            error, se = np.sqrt(m["squared error"]), np.sqrt(m["squared se"])
            print(
                f"| {design} | {learner} | {m['bias']:.3f} | {error:.3f} | {se:.3f} "
                f"| {m['coverage']:.3f} |"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
