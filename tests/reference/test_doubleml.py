"""Double machine learning against DoubleML on the same rows, folds and learners.

`doubleml_plr.json` was written by `benchmarks/doubleml_reference.py`, which names the version.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LassoCV, LinearRegression, RidgeCV
from sklearn.multioutput import MultiOutputRegressor

import debinet as dn

STORED = json.loads((Path(__file__).parent / "doubleml_plr.json").read_text())
LEARNERS = {
    "LinearRegression": LinearRegression(),
    "RidgeCV": RidgeCV(alphas=(0.1, 1.0, 10.0)),
    "LassoCV": LassoCV(alphas=20),
    "GradientBoosting": GradientBoostingRegressor(n_estimators=20, max_depth=2, random_state=1),
    # A forest would be grown for y and d together; wrapped, it is grown for each, as there.
    "RandomForest": MultiOutputRegressor(
        RandomForestRegressor(n_estimators=20, min_samples_leaf=5, random_state=1)
    ),
}


def data():
    d, Z, y = (np.array(STORED[name]) for name in ("d", "Z", "y"))
    return np.column_stack([d, Z]), y


def pairs(test_folds):
    rows = np.arange(len(STORED["y"]))
    return [(np.setdiff1d(rows, test), np.array(test)) for test in test_folds]


# Targets of IV-type's g that differ by rounding have boosted trees that differ by 1e-4.
SMOOTH = [name for name in LEARNERS if name != "GradientBoosting"]


@pytest.mark.parametrize(
    ("method", "stored", "name"),
    [
        *(("dml2", "results", name) for name in LEARNERS),
        *(("iv-type", "iv_type", name) for name in SMOOTH),
    ],
)
def test_coefficient_and_standard_error_equal_doublemls(method, stored, name):
    model = dn.PartiallyLinear(
        [0], LEARNERS[name], crossfit=pairs(STORED["test_folds"]), method=method
    ).fit(*data())
    expected = STORED[stored][name]
    np.testing.assert_allclose(model.result_.coef.iloc[0], expected["coef"], rtol=1e-8)
    np.testing.assert_allclose(model.result_.se.iloc[0], expected["se"], rtol=1e-8)


def test_repetitions_equal_doublemls_and_their_median_is_reported():
    crossfit = [pair for block in STORED["repeated_test_folds"] for pair in pairs(block)]
    model = dn.PartiallyLinear([0], LEARNERS["RidgeCV"], crossfit=crossfit, method="dml2")
    result = model.fit(*data()).result_
    expected = STORED["repeated"]
    coefs = np.array([regression.coef[0] for regression in result.regressions])
    np.testing.assert_allclose(coefs, expected["all_coef"], rtol=1e-8)
    np.testing.assert_allclose(result.coef.iloc[0], expected["coef"], rtol=1e-8)
    variances = np.array(expected["all_se"]) ** 2 + (coefs - np.median(coefs)) ** 2
    np.testing.assert_allclose(result.se.iloc[0], np.sqrt(np.median(variances)), rtol=1e-8)
