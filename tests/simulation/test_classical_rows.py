"""The classical rows of the paper's Table 1: kernels and double machine learning, ten runs each.

Bounds, from the paper: three times its estimation error, 1.3 times its train and test MSE,
or better. Ten runs give the estimation error to a factor of about two.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LassoCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.tree import DecisionTreeRegressor

import debinet as dn

RUNS, ROWS = 10, 10_000
TREE = DecisionTreeRegressor(max_depth=2)
# Learner, options of PartiallyLinear, and the paper's estimation error, train and test MSE.
TABLE_1 = {
    "PLM-NW": (
        dn.NadarayaWatson(),
        {"crossfit": None, "method": "three-step"},
        (0.11e-5, 16.33, 16.08),
    ),
    "DML Lasso": (LassoCV(), {"crossfit": 5, "method": "dml1"}, (0.60e-5, 15.79, 15.79)),
    "DML DT": (TREE, {"crossfit": 5, "method": "dml1"}, (65.1e-5, 336.0, 342.68)),
    "DML RF": (
        RandomForestRegressor(100),
        {"crossfit": 5, "method": "dml1"},
        (0.58e-5, 44.0, 44.87),
    ),
}
# Not in the paper; with the share of intervals that docs/classical.md says they cover, at most or
# at least. Ten runs: a coverage of 0.95 falls below 0.7 once in 1000 choices of seeds.
OTHERS = {
    "DML DT, a tree for each column": (
        MultiOutputRegressor(TREE),
        {"crossfit": 5, "method": "dml1"},
        (0.0, 0.5),
    ),
    "DML boosting": (
        HistGradientBoostingRegressor(),
        {"crossfit": 5, "method": "dml1"},
        (0.0, 0.5),
    ),
    "splines": (dn.SplineSmoother(), {}, (0.7, 1.0)),
}


def run(learner, options, seed):
    data = dn.datasets.make_table1(ROWS, random_state=seed)
    new = dn.datasets.make_table1(ROWS, random_state=1000 + seed)
    model = dn.PartiallyLinear(["d1"], learner, random_state=seed, **options)
    model.fit(data.X, data.y)
    lower, upper = model.result_.confint().iloc[0]
    return {
        "error": (model.coef_[0] - 1) ** 2,
        "train": np.mean((model.predict(data.X) - data.y) ** 2),
        "test": np.mean((model.predict(new.X) - new.y) ** 2),
        "covers": lower <= 1 <= upper,
    }


def runs(name, learner, options):
    found = pd.DataFrame([run(learner, options, seed) for seed in range(RUNS)])
    means = found.mean()
    print(f"\n{name}, {RUNS} runs\n{means.map('{:.3g}'.format).to_string()}")
    return means


@pytest.mark.sim
@pytest.mark.parametrize("name", TABLE_1)
def test_rows_of_table_1(name):
    learner, options, (error, train, test) = TABLE_1[name]
    found = runs(name, learner, options)
    assert found["error"] <= 3 * error
    assert found["train"] <= 1.3 * train
    assert found["test"] <= 1.3 * test


@pytest.mark.sim
@pytest.mark.parametrize("name", OTHERS)
def test_other_rows(name):
    learner, options, (least, most) = OTHERS[name]
    found = runs(name, learner, options)
    assert least <= found["covers"] <= most
