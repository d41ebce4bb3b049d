"""Income and net financial assets (the paper's section 7): estimates over random subsamples.

Run `DEBINET_DATA=folder python examples/study_401k.py --runs 10 --out results`.

Rows DML Lasso, DML DT and DML RF of the paper's Table 3, and the library's default learner. The
paper does not say how large its subsamples were; here they have 2,500 rows.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LassoCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

import debinet as dn

FORMULA = "net_tfa ~ inc | age + fsize + educ + db + marr + twoearn + e401 + pira + hown"
METHODS = {
    "DML Lasso": (make_pipeline(StandardScaler(), LassoCV(alphas=30)), "dml1"),
    "DML DT": (DecisionTreeRegressor(max_depth=2), "dml1"),
    "DML RF": (RandomForestRegressor(n_estimators=100), "dml1"),
    "default": ("wide", "structured"),
}
PAPER = {"DML Lasso": 0.887, "DML DT": 0.805, "DML RF": 0.809}


def study(frame: pd.DataFrame, runs: int, size: int) -> pd.DataFrame:
    rows = []
    for run in range(runs):
        part = frame.sample(size, random_state=run)
        for name, (learner, score) in METHODS.items():
            result = dn.plm(FORMULA, part, learner, score=score, random_state=run).result_
            rows.append({"method": name, "coef": result.coef["inc"], "se": result.se["inc"]})
        print(f"\rsubsample {run + 1} of {runs}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    grouped = pd.DataFrame(rows).groupby("method", sort=False)
    return pd.DataFrame(
        {
            "mean": grouped["coef"].mean(),
            "median": grouped["coef"].median(),
            "sd over subsamples": grouped["coef"].std(),
            "mean se": grouped["se"].mean(),
            "paper's mean": pd.Series(PAPER).reindex(METHODS).to_numpy(dtype=np.float64),
        }
    ).round(3)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--size", type=int, default=2500)
    parser.add_argument("--out", type=Path, default=Path("results"))
    options = parser.parse_args()
    folder = os.environ.get("DEBINET_DATA")
    source = Path(folder or ".") / "401k" / "sipp1991.csv"
    if not source.is_file():
        print(f"{source} is not there: set DEBINET_DATA to the data folder.", file=sys.stderr)
        return 2
    table = study(pd.read_csv(source).astype(float), options.runs, options.size)
    print(table.to_string())
    options.out.mkdir(parents=True, exist_ok=True)
    table.to_csv(options.out / "study_401k.csv")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
