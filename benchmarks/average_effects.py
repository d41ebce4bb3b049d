"""Average effects of a 0/1 treatment beside DoubleML's IRM: error and coverage.

    python benchmarks/average_effects.py simulated 100      # non-linear propensity, n = 1000
    DEBINET_DATA=... python benchmarks/average_effects.py realcause

Both methods see the same data. IRM has 5 folds, forests of 200 trees with at least 5 rows per leaf,
LightGBM with 100 trees of learning rate 0.05, and probabilities clipped at 0.01, its default.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from functools import cache
from pathlib import Path

import doubleml
import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from scipy.special import expit
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import debinet as dn

BOOSTING = {
    "n_estimators": 100,
    "learning_rate": 0.05,
    "verbose": -1,
    "random_state": 0,
    "n_jobs": 1,
}
FOREST = {"n_estimators": 200, "min_samples_leaf": 5, "random_state": 0}
PEERS = {
    "IRM, LightGBM": (LGBMRegressor(**BOOSTING), LGBMClassifier(**BOOSTING)),
    "IRM, forest": (RandomForestRegressor(**FOREST), RandomForestClassifier(**FOREST)),
}
SCORES = {"ATE": "ATE", "ATT": "ATTE"}


def draw(seed: int, n: int = 1000) -> tuple[pd.DataFrame, np.ndarray, dict[str, float]]:
    """Draw rows whose propensity, outcomes and effects are non-linear in the same controls.

    ATE and ATT are those of the population, by a large sample.
    """
    Z, p, tau, f = _population(np.random.default_rng([seed, 5]), n)
    rng = np.random.default_rng([seed, 6])
    a = (rng.uniform(size=n) < p).astype(float)
    y = f + a * tau + rng.normal(size=n)
    columns = [f"z{j}" for j in range(Z.shape[1])]
    return pd.DataFrame(np.column_stack([a, Z]), columns=["a", *columns]), y, _truth()


@cache
def _truth() -> dict[str, float]:
    _, p, tau, _ = _population(np.random.default_rng(0), 2_000_000)
    return {"ATE": float(tau.mean()), "ATT": float((p * tau).mean() / p.mean())}


def _population(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    Z = rng.normal(size=(n, 5))
    p = expit(1.2 * np.sin(1.5 * Z[:, 0]) + 0.5 * Z[:, 1] * Z[:, 2] + 0.3 * Z[:, 3])
    tau = 1.0 + np.sin(1.5 * Z[:, 0]) + 0.5 * Z[:, 3]
    f = np.sin(1.5 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + np.abs(Z[:, 3])
    return Z, p, tau, f


def ours(X: pd.DataFrame, y: np.ndarray, treatment: str) -> pd.DataFrame:
    model = dn.PartiallyLinear(treatment, random_state=0).fit(X, y)
    return model.average_effects().to_frame()


def peers(X: pd.DataFrame, y: np.ndarray, treatment: str, name: str) -> pd.DataFrame:
    outcome, chance = PEERS[name]
    controls = X.drop(columns=treatment).to_numpy()
    data = doubleml.DoubleMLData.from_arrays(controls, y, X[treatment].to_numpy())
    rows = {}
    for label, score in SCORES.items():
        np.random.seed(0)  # noqa: NPY002 - the folds of DoubleML
        model = doubleml.DoubleMLIRM(data, outcome, chance, score=score).fit()
        low, high = model.confint().to_numpy()[0]
        rows[label] = {"coef": model.coef[0], "se": model.se[0], "lower": low, "upper": high}
    return pd.DataFrame(rows).T


def simulated(count: int, first: int = 0) -> pd.DataFrame:
    rows = []
    for seed in range(first, first + count):
        X, y, truth = draw(seed)
        rows += _rows(X, y, truth, treatment="a", seed=seed)
    return pd.DataFrame(rows)


def realcause() -> pd.DataFrame:
    rows = []
    folder = Path(os.environ["DEBINET_DATA"]) / "realcause"
    for seed, path in enumerate(sorted(folder.glob("lalonde_psid_sample*.csv"))):
        table = pd.read_csv(path)
        X, y = table.drop(columns=["y", "y0", "y1", "ite"]), table["y"].to_numpy()
        effect = table["ite"]
        truth = {"ATE": effect.mean(), "ATT": effect[table["t"] == 1].mean()}
        rows += _rows(X, y, truth, treatment="t", seed=seed)
    return pd.DataFrame(rows)


def _rows(X, y, truth, *, treatment, seed) -> list[dict[str, object]]:
    found = []
    for name in ["debinet", *PEERS]:
        start = time.perf_counter()
        frame = ours(X, y, treatment) if name == "debinet" else peers(X, y, treatment, name)
        seconds = time.perf_counter() - start
        for kind, value in truth.items():
            row = frame.loc[kind]
            found.append(
                {
                    "method": name,
                    "average": kind,
                    "seed": seed,
                    "truth": value,
                    "error": row["coef"] - value,
                    "se": row["se"],
                    "covers": row["lower"] <= value <= row["upper"],
                    "seconds": seconds,
                }
            )
    return found


def main(what: str, count: int = 100, first: int = 0) -> None:
    warnings.simplefilter("ignore")
    frame = realcause() if what == "realcause" else simulated(count, first)
    if what == "realcause":
        print(frame.round(3).to_string())
    grouped = frame.groupby(["average", "method"], sort=False)
    summary = grouped.agg(
        bias=("error", "mean"),
        rmse=("error", lambda e: np.sqrt(np.mean(e**2))),
        se=("se", "mean"),
        covers=("covers", "mean"),
        seconds=("seconds", "mean"),
    )
    print(summary.round(3).to_string())


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
