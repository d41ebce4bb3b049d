"""Coefficients, covariances and tests against statsmodels.

Tolerances of 1e-10 are relative: both sides solve the same small least squares problem, so only
rounding may differ.
"""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

import debinet as dn

EXACT = {"rtol": 1e-10, "atol": 1e-12}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(7)
    n = 150
    Z = rng.normal(size=(n, 5))
    D = np.column_stack([Z[:, 0] + rng.normal(size=n), 1e3 * (Z[:, 1] + rng.normal(size=n))])
    y = D @ [0.8, 2e-3] + Z @ [1, -1, 0.5, 0, 0] + np.abs(Z[:, 0]) * rng.normal(size=n)
    X = pd.DataFrame(np.hstack([D, Z]), columns=["d1", "d2", *[f"z{j}" for j in range(5)]])
    groups = pd.DataFrame({"firm": rng.integers(0, 15, n), "year": rng.integers(0, 8, n)})
    return X, y, groups, rng.uniform(0.2, 3.0, n)


@pytest.mark.parametrize("method", ["structured", "robinson"])
def test_frisch_waugh_with_a_linear_in_sample_learner(data, method):
    X, y, _, _ = data
    model = dn.PartiallyLinear(["d1", "d2"], LinearRegression(), crossfit=None, method=method)
    result = model.fit(X, y).result_
    ols = sm.OLS(y, sm.add_constant(X)).fit()
    np.testing.assert_allclose(result.coef, ols.params[["d1", "d2"]], **EXACT)
    np.testing.assert_allclose(model.predict(X), ols.fittedvalues, rtol=1e-9, atol=1e-9)


def test_frisch_waugh_with_weights(data):
    X, y, _, weights = data
    model = dn.PartiallyLinear(["d1", "d2"], LinearRegression(), crossfit=None)
    result = model.fit(X, y, sample_weight=weights).result_
    wls = sm.WLS(y, sm.add_constant(X), weights=weights).fit()
    np.testing.assert_allclose(result.coef, wls.params[["d1", "d2"]], **EXACT)


def test_the_mean_as_learner_is_ordinary_least_squares(data):
    X, y, _, _ = data
    model = dn.PartiallyLinear(list(X.columns), "mean", crossfit=None).fit(X, y)
    ols = sm.OLS(y, sm.add_constant(X)).fit()
    np.testing.assert_allclose(model.result_.coef, ols.params.iloc[1:], **EXACT)


def residual_regression(result, weights=None):
    solved = result.regressions[0]
    return sm.WLS(solved.R_y, solved.R_D, weights=1.0 if weights is None else weights)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("crossfit", [None, 5])
@pytest.mark.parametrize("kind", ["iid", "HC0", "HC1", "HC2", "HC3"])
def test_covariances_of_independent_rows(data, weighted, crossfit, kind):
    X, y, _, weights = data
    weights = weights if weighted else None
    model = dn.PartiallyLinear(["d1", "d2"], LinearRegression(), crossfit=crossfit, random_state=0)
    result = model.fit(X, y, sample_weight=weights).result_.with_vcov(kind)
    reference = residual_regression(result, weights).fit(
        cov_type="nonrobust" if kind == "iid" else kind, use_t=True
    )
    np.testing.assert_allclose(result.coef, reference.params, **EXACT)
    np.testing.assert_allclose(result.vcov, reference.cov_params(), **EXACT)
    np.testing.assert_allclose(result.statistic, reference.tvalues, **EXACT)
    np.testing.assert_allclose(result.pvalue, reference.pvalues, rtol=1e-8, atol=1e-300)
    np.testing.assert_allclose(result.confint(0.9), reference.conf_int(0.1), **EXACT)


@pytest.mark.parametrize("weighted", [False, True])
def test_one_way_clusters(data, weighted):
    X, y, groups, weights = data
    weights = weights if weighted else None
    model = dn.PartiallyLinear(["d1", "d2"], LinearRegression(), random_state=0)
    result = model.fit(X, y, groups=groups["firm"], sample_weight=weights).result_
    assert result.vcov_type == "cluster"
    reference = residual_regression(result, weights).fit(
        cov_type="cluster", cov_kwds={"groups": groups["firm"]}, use_t=True
    )
    np.testing.assert_allclose(result.vcov, reference.cov_params(), **EXACT)
    assert result.df == groups["firm"].nunique() - 1
    np.testing.assert_allclose(result.confint(), reference.conf_int(), **EXACT)


def test_two_way_clusters(data):
    X, y, groups, _ = data
    model = dn.PartiallyLinear(["d1", "d2"], LinearRegression(), random_state=0).fit(X, y)
    result = model.result_.with_vcov("cluster", groups=groups)
    reference = residual_regression(result).fit()
    expected, *_ = cov_cluster_2groups(
        reference, groups["firm"].to_numpy(), groups["year"].to_numpy()
    )
    np.testing.assert_allclose(result.vcov, expected, **EXACT)


def test_wald_tests(data):
    X, y, _, _ = data
    model = dn.PartiallyLinear(["d1", "d2"], LinearRegression(), random_state=0)
    result = model.fit(X, y).result_
    reference = residual_regression(result).fit(cov_type="HC3", use_t=True)
    for R, r in [(np.eye(2), np.zeros(2)), (np.array([[1.0, 2.0]]), np.array([0.3]))]:
        ours, theirs = result.wald_test(R, r), reference.f_test((R, r))
        np.testing.assert_allclose(ours.statistic, theirs.fvalue, rtol=1e-9)
        np.testing.assert_allclose(ours.pvalue, theirs.pvalue, rtol=1e-7)
    single = result.wald_test("d1")
    np.testing.assert_allclose(single.statistic, result.statistic["d1"] ** 2, rtol=1e-9)
    np.testing.assert_allclose(single.pvalue, result.pvalue["d1"], rtol=1e-7)


@pytest.mark.parametrize(("method", "theirs"), [("holm", "holm"), ("bh", "fdr_bh")])
def test_adjusted_pvalues(method, theirs):
    from debinet.inference.simultaneous import benjamini_hochberg, holm

    ours = {"holm": holm, "bh": benjamini_hochberg}[method]
    rng = np.random.default_rng(0)
    for pvalues in (rng.uniform(size=20) ** 3, np.array([0.04, 0.04, 1.0]), np.array([0.2])):
        expected = multipletests(pvalues, method=theirs)[1]
        np.testing.assert_allclose(ours(pvalues), expected, **EXACT)


def test_effect_of_eligibility_on_assets_equals_the_published_least_squares(data_folder):
    """OLS of net_tfa on e401 and nine controls gives 5896.198 (data README)."""
    frame = pd.read_parquet(data_folder / "401k" / "sipp1991.parquet").astype(float)
    controls = ["age", "inc", "fsize", "educ", "db", "marr", "twoearn", "pira", "hown"]
    formula = "net_tfa ~ e401 | " + " + ".join(controls)
    fit = dn.plm(formula, frame, LinearRegression(), crossfit=None)
    assert fit.result_.coef["e401"] == pytest.approx(5896.198, abs=5e-4)


def test_growth_regression_equals_the_published_least_squares(data_folder):
    """OLS of Outcome on all gives gdpsh465 = -0.0093780 (data README)."""
    frame = pd.read_csv(data_folder / "growth" / "GrowthData.csv").drop(columns="intercept")
    frame = frame.drop(columns=[c for c in frame if c.startswith("Unnamed")])
    y, X = frame["Outcome"], frame.drop(columns="Outcome")
    # Scaled, as LinearRegression treats columns of tiny scale (1e-6 of the largest) as collinear.
    learner = make_pipeline(StandardScaler(), LinearRegression())
    model = dn.PartiallyLinear("gdpsh465", learner, crossfit=None).fit(X, y)
    assert model.result_.coef["gdpsh465"] == pytest.approx(-0.0093780, abs=5e-8)
