"""Sensitivity against PySensemakr on least squares and DoubleML on the same residuals.

The files were written by `benchmarks/sensemakr_reference.py` and `doubleml_sensitivity.py`.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import RidgeCV

import debinet as dn

HERE = Path(__file__).parent
SENSEMAKR = json.loads((HERE / "sensemakr.json").read_text())
DOUBLEML = json.loads((HERE / "doubleml_sensitivity.json").read_text())
ROWS = json.loads((HERE / "doubleml_plr.json").read_text())
# DoubleML uses the normal distribution, the t distribution with that many degrees of freedom.
NORMAL = 1e12


def require_same(result, expected, strengths, treatment):
    found = result.sensitivity().to_frame().loc[treatment]
    np.testing.assert_allclose(found["coef"], expected["estimate"], rtol=1e-6)
    np.testing.assert_allclose(found["rv"], expected["rv"], rtol=1e-6)
    np.testing.assert_allclose(found["xrv"], expected["xrv"], rtol=1e-6)
    for (cf_y, cf_d), adjusted in zip(strengths, expected["bounds"], strict=True):
        found = result.sensitivity(cf_y, cf_d).to_frame().loc[treatment, ["lower", "upper"]]
        # theirs are that nearer to and that farther from zero
        order = [0, 1] if expected["estimate"] > 0 else [1, 0]
        np.testing.assert_allclose(found, np.array(adjusted)[order], rtol=1e-6)


def require_same_benchmarks(model, X, y, expected, groups, treatment):
    found = model.benchmark(groups, X, y, rule="partial-r2")
    result = model.result_
    for one in expected["benchmarks"]:
        times = found.times(one["k_y"], one["k_d"])
        frame = result.sensitivity(benchmarks=times).benchmark_frame()
        label = times.labels[list(groups).index(one["label"])]
        row = frame.loc[(label, treatment)]
        np.testing.assert_allclose(row["cf_d"], one["cf_d"], rtol=1e-6)
        np.testing.assert_allclose(row["cf_y"], one["cf_y"], rtol=1e-6)
        side = "lower" if expected["estimate"] > 0 else "upper"
        np.testing.assert_allclose(row[side], one["adjusted"], rtol=1e-6)


@pytest.mark.parametrize("method", ["auto", "robinson"])
@pytest.mark.parametrize("treatment", ["d1", "d2"])
def test_linear_controls_in_sample_equal_sensemakr(treatment, method):
    data = pd.DataFrame(SENSEMAKR["data"])
    X, y = data.drop(columns="y"), data["y"]
    model = dn.PartiallyLinear(["d1", "d2"], "linear", crossfit=None, method=method).fit(X, y)
    expected = SENSEMAKR["linear"][treatment]
    require_same(model.result_, expected, SENSEMAKR["strengths"], treatment)
    require_same_benchmarks(model, X, y, expected, SENSEMAKR["groups"], treatment)


def test_the_darfur_survey_equals_sensemakr(data_folder):
    table = pd.read_csv(data_folder / "darfur" / "darfur.csv")
    controls = ["age", "farmer_dar", "herder_dar", "pastvoted", "hhsize_darfur", "female"]
    X, y = table[["directlyharmed", *controls, "village"]], table["peacefactor"]
    model = dn.PartiallyLinear(["directlyharmed"], "linear", crossfit=None).fit(X, y)
    expected = SENSEMAKR["darfur"]
    assert round(expected["rv"], 3) == 0.139  # as published
    require_same(model.result_, expected, SENSEMAKR["strengths"], "directlyharmed")
    groups = {"female": ["female"]}
    require_same_benchmarks(model, X, y, expected, groups, "directlyharmed")


def doubleml_fit(method, folds):
    d, Z, y = (np.array(ROWS[name]) for name in ("d", "Z", "y"))
    X = pd.DataFrame(np.column_stack([d, Z]), columns=["d", *(f"X{k + 1}" for k in range(6))])
    rows = np.arange(y.size)
    pairs = [(np.setdiff1d(rows, test), np.array(test)) for test in folds]
    learner = RidgeCV(alphas=(0.1, 1.0, 10.0))
    return dn.PartiallyLinear(["d"], learner, crossfit=pairs, method=method).fit(X, y), X, y


def as_doubleml(sensitivity):
    """Return it with DoubleML's sign of the covariance between the estimate and its bias.

    DoubleML 0.11.4 divides the score by its negative derivative, so that its intervals belong to a
    score of the opposite sign. `tests/unit/test_sensitivity.py` has the derivatives of the bounds
    by brute force, which have the sign that is used here.
    """
    bias = sensitivity.bias
    return replace(sensitivity, bias=replace(bias, covariance=-bias.covariance))


@pytest.mark.parametrize(
    ("stored", "method"), [("dml2", "dml2"), ("iv-type", "iv-type"), ("repeated", "dml2")]
)
def test_bounds_and_their_errors_equal_doublemls(stored, method):
    repeated = [test for block in ROWS["repeated_test_folds"] for test in block]
    folds = repeated if stored == "repeated" else ROWS["test_folds"]
    model, _, _ = doubleml_fit(method, folds)
    result, expected = replace(model.result_, df=NORMAL), DOUBLEML[stored]
    assert result.vcov_type == "HC0"
    for scenario, bounds in zip(DOUBLEML["scenarios"], expected["scenarios"], strict=True):
        found = as_doubleml(result.sensitivity(**scenario))
        frame = found.to_frame().iloc[0]
        np.testing.assert_allclose(frame[["lower", "upper"]], bounds["theta"], rtol=1e-8)
        # with repetitions, it takes medians of ends of intervals, not of variances
        if stored != "repeated":
            strength = np.full((1, 1), found.scenario.strength)
            errors = [found.bias.errors(strength, side)[0, 0] for side in (-1.0, 1.0)]
            np.testing.assert_allclose(errors, bounds["se"], rtol=1e-8)
            np.testing.assert_allclose(frame[["lower_ci", "upper_ci"]], bounds["ci"], rtol=1e-8)
    frame = as_doubleml(result.sensitivity(null=DOUBLEML["null"])).to_frame().iloc[0]
    np.testing.assert_allclose(frame["rv"], expected["rv"], rtol=1e-8)
    if stored != "repeated":
        np.testing.assert_allclose(frame["rv_ci"], expected["rv_ci"], rtol=1e-8)


def test_gains_equal_doublemls():
    model, X, y = doubleml_fit("dml2", ROWS["test_folds"])
    frame = model.benchmark(DOUBLEML["dropped"], X, y).to_frame().droplevel("term")
    for label, expected in DOUBLEML["gains"].items():
        row = frame.loc[label]
        found = [row["cf_y"], row["cf_d"], row["rho"], row["without"] - row["coef"]]
        names = ("cf_y", "cf_d", "rho", "delta_theta")
        assert expected["cf_y"] > 0
        assert expected["cf_d"] > 0
        np.testing.assert_allclose(found, [expected[name] for name in names], rtol=1e-7)
