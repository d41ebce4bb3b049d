"""Curves of doses against least squares of statsmodels on the same columns.

With linear controls that are not penalized and in-sample residuals, both are the same least
squares problem, so that only rounding may differ.
"""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

import debinet as dn

CLOSE = {"rtol": 1e-8, "atol": 1e-10}
TERMS = ["educ", "educ[2]", "educ[3]", "educ[4]"]
AT = np.array([7.0, 10.0, 12.5, 14.0, 17.0, 21.0])
REFERENCE = 12.0


@pytest.fixture(scope="module")
def both():
    """A fit of ours, and of statsmodels, whose columns are those of ours."""
    rng = np.random.default_rng(11)
    n = 300
    Z = pd.DataFrame(rng.normal(size=(n, 4)), columns=["z1", "z2", "z3", "z4"])
    educ = 12 + 1.5 * Z["z1"] + 2 * rng.normal(size=n)
    y = np.sqrt(educ.clip(lower=1)) + Z @ [1, -1, 0.5, 0] + np.abs(Z["z2"]) * rng.normal(size=n)
    model = dn.PartiallyLinear([dn.Dose("educ")], "linear", crossfit=None, random_state=0)
    ours = model.fit(Z.assign(educ=educ), y)
    basis = ours.result_.dose().observed.basis
    columns = pd.DataFrame(basis.columns(educ.to_numpy()), columns=TERMS)
    return ours, sm.OLS(y, sm.add_constant(columns.join(Z))).fit(), basis, Z.assign(educ=educ)


def contrasts(basis, names, at, reference):
    rows = np.zeros((len(at), len(names)))
    difference = basis.columns(at) - basis.columns(np.array([reference]))
    rows[:, [list(names).index(term) for term in TERMS]] = difference
    return rows


@pytest.mark.parametrize("kind", ["HC0", "HC1"])
def test_curve_derivative_and_tests(both, kind):
    ours, ols, basis, _ = both
    known = ols.get_robustcov_results(kind)
    names = ols.params.index
    # ours counts the q treatments, statsmodels the controls and the constant, too
    n, q, k = int(ols.nobs), len(TERMS), len(names)
    scale = (n - q) / (n - k) if kind == "HC1" else 1.0
    result = ours.result_.with_vcov(kind)
    np.testing.assert_allclose(result.coef, ols.params[TERMS], **CLOSE)
    frame = result.dose().curve(AT, REFERENCE)
    tested = known.t_test(contrasts(basis, names, AT, REFERENCE))
    np.testing.assert_allclose(frame["effect"], tested.effect, **CLOSE)
    np.testing.assert_allclose(np.sqrt(scale) * frame["se"], tested.sd, **CLOSE)
    half = frame["upper"] - frame["effect"]
    np.testing.assert_allclose(half, stats.t.ppf(0.975, n - q) * frame["se"], **CLOSE)
    slopes = np.zeros((len(AT), k))
    slopes[:, [list(names).index(term) for term in TERMS]] = basis.derivatives(AT)
    tested = known.t_test(slopes)
    frame = result.dose().derivative(AT)
    np.testing.assert_allclose(frame["derivative"], tested.effect, **CLOSE)
    np.testing.assert_allclose(np.sqrt(scale) * frame["se"], tested.sd, **CLOSE)
    linear = known.f_test(np.eye(k)[[list(names).index(term) for term in TERMS[1:]]])
    found = result.dose().linearity_test()
    np.testing.assert_allclose(found.statistic / scale, float(linear.fvalue), **CLOSE)


@pytest.mark.parametrize("kind", ["HC1", "HC2", "HC3"])
def test_errors_are_those_of_the_residual_regression(both, kind):
    ours, _, basis, _ = both
    result = ours.result_.with_vcov(kind)
    solved = result.regressions[0]
    known = sm.OLS(solved.R_y, solved.R_D).fit(cov_type=kind)
    rows = basis.columns(AT) - basis.columns(np.array([REFERENCE]))
    tested = known.t_test(rows)
    frame = result.dose().curve(AT, REFERENCE)
    np.testing.assert_allclose(frame["effect"], tested.effect, **CLOSE)
    np.testing.assert_allclose(frame["se"], tested.sd, **CLOSE)


def test_predictions(both):
    ours, ols, basis, X = both
    new = X.iloc[:20].assign(educ=np.linspace(3, 25, 20))  # beyond the data, too
    columns = pd.DataFrame(basis.columns(new["educ"].to_numpy()), columns=TERMS)
    known = ols.predict(sm.add_constant(columns.join(new.drop(columns="educ")), has_constant="add"))
    np.testing.assert_allclose(ours.predict(new), known, **CLOSE)


def test_joint_bands_cover_as_often_as_they_say(both):
    """The critical value against 40,000 draws of coefficients by numpy, whose error is 0.001."""
    ours, _, basis, _ = both
    result = ours.result_.with_vcov("HC1")
    frame = result.dose().curve()
    rows = basis.columns(frame.index.to_numpy()) - basis.columns(
        result.dose().observed.quantiles((0.5,))
    )
    rng = np.random.default_rng(0)
    # t distributed, as intervals are
    draws = rng.multivariate_normal(np.zeros(4), result.covariance, 40_000)
    draws /= np.sqrt(rng.chisquare(result.df, (40_000, 1)) / result.df)
    half = (frame["joint_upper"] - frame["effect"]).to_numpy()
    inside = (np.abs(draws @ rows.T) <= half + 1e-12).all(axis=1)
    assert inside.mean() == pytest.approx(0.95, abs=0.006)
