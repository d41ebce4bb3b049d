"""Effects that vary against DoubleML and EconML on the same rows, folds and learners.

`effects_peers.json` was written by `benchmarks/effects_reference.py`, which names the versions.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor

import debinet as dn

STORED = json.loads((Path(__file__).parent / "effects_peers.json").read_text())
LEARNERS = {
    "LinearRegression": LinearRegression(),
    "Ridge": Ridge(3.0),
    "neighbours": KNeighborsRegressor(20),
}
METHODS = {"partialling out": "dml2", "IV-type": "iv-type"}


def fit(name, method):
    d, Z, y = (np.array(STORED[part]) for part in ("d", "Z", "y"))
    rows = np.arange(len(y))
    folds = [(np.setdiff1d(rows, test), np.array(test)) for test in STORED["test_folds"]]
    X = pd.DataFrame(np.column_stack([d, Z]), columns=["d", "a", "b", "c", "e"])
    model = dn.PartiallyLinear("d", LEARNERS[name], crossfit=folds, method=method)
    return X, model.fit(X, y)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("score", METHODS)
def test_groups_and_lines_equal_doublemls(name, score):
    _, model = fit(name, METHODS[score])
    expected = STORED["doubleml"][name][score]
    groups = model.effects("a", bins=[0.0])
    np.testing.assert_allclose(groups.result.coef, expected["gate"]["coef"], rtol=1e-8)
    np.testing.assert_allclose(groups.result.se, expected["gate"]["se"], rtol=1e-8)
    ends = model.effects("a", df=1).at({"a": [0.0, 1.0]})
    level, slope = expected["cate"]["coef"]
    np.testing.assert_allclose(ends["coef"], [level, level + slope], rtol=1e-8)
    np.testing.assert_allclose(ends["se"][0], expected["cate"]["se"][0], rtol=1e-8)


@pytest.mark.parametrize("name", LEARNERS)
def test_effects_in_all_rows_equal_econmls(name):
    X, model = fit(name, "dml2")
    found = model.effects(["a", "b"], df=1).at(X)["coef"]
    np.testing.assert_allclose(found, STORED["econml"][name], rtol=1e-6)


def test_average_effects_equal_doublemls():
    X, model = fit("LinearRegression", "dml2")
    a = (X["d"] > 0).astype(float)
    X = X.assign(d=a)
    rows = np.arange(len(X))
    folds = [(np.setdiff1d(rows, test), np.array(test)) for test in STORED["test_folds"]]
    model = dn.PartiallyLinear("d", LinearRegression(), crossfit=folds).fit(X, STORED["y"])
    found = model.average_effects(propensity=LogisticRegression(), crossfit=folds).to_frame()
    for own, theirs in (("ATE", "ATE"), ("ATT", "ATTE")):
        expected = STORED["averages"][theirs]
        np.testing.assert_allclose(found.loc[own, "coef"], expected["coef"], rtol=1e-8)
        np.testing.assert_allclose(found.loc[own, "se"], expected["se"], rtol=1e-8)
