"""Instruments against linearmodels, ivmodels and DoubleML, and statsmodels at hand.

`instruments.json` was written by `benchmarks/instrument_reference.py`, which names the versions.
With linear controls and in-sample residuals, two-stage least squares on residuals is that on the
columns themselves (Frisch, Waugh and Lovell). Covariances differ by degrees of freedom only: ours
do not count the controls.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.linear_model import LinearRegression, RidgeCV
from statsmodels.sandbox.regression.gmm import IV2SLS

import debinet as dn
from debinet.inference.first_stage import critical_effective_F
from debinet.inference.tf_interval import tf_critical_value

STORED = json.loads((Path(__file__).parent / "instruments.json").read_text())
DATA = pd.DataFrame(STORED["data"])
CONTROLS = ["z1", "z2", "z3"]
CASES = STORED["cases"]
N = len(DATA)
RTOL = 1e-8


def fit(case, *, learner=None, crossfit=None, **options):
    endogenous, exogenous, instruments = case
    own = {key: options.pop(key) for key in ("groups", "sample_weight") if key in options}
    model = dn.PartiallyLinear(
        [*endogenous, *exogenous],
        LinearRegression() if learner is None else learner,
        crossfit=crossfit,
        instruments=instruments,
        endogenous=endogenous,
        **options,
    )
    columns = [*endogenous, *exogenous, *instruments, *CONTROLS]
    return model.fit(DATA[columns], DATA.y, **own).result_


@pytest.mark.parametrize("method", ["2sls", "liml", "fuller"])
@pytest.mark.parametrize("name", CASES)
def test_coefficients_and_covariances_equal_linearmodels(name, method):
    expected = STORED["linear"][name][method]
    result = fit(CASES[name], method=method)
    q, groups = len(result.names), DATA[["firm", "year"]]
    np.testing.assert_allclose(result.estimate, expected["coef"], rtol=RTOL)
    cov = {kind: np.array(values) for kind, values in expected["cov"].items()}
    for kind, factor in (("iid", N / (N - q)), ("HC0", 1.0)):
        np.testing.assert_allclose(result.with_vcov(kind).covariance, factor * cov[kind], rtol=RTOL)
    one = result.with_vcov("cluster", groups["firm"]).covariance
    G = groups["firm"].nunique()
    # linearmodels' clusters have G / (G - 1) (n - 1) / n of their own.
    factor = G / (G - 1) * (N - 1) / (N - q)
    ratio = one / cov["cluster"]
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=RTOL)
    assert ratio[0, 0] in (pytest.approx(factor, rel=RTOL), pytest.approx(N / (N - q), rel=RTOL))


def test_weighted_coefficients_and_covariances_equal_linearmodels():
    expected = STORED["linear"]["over"]["weighted"]
    result = fit(CASES["over"], sample_weight=DATA["weight"])
    np.testing.assert_allclose(result.estimate, expected["coef"], rtol=RTOL)
    np.testing.assert_allclose(
        result.with_vcov("HC0").covariance, expected["cov"]["HC0"], rtol=RTOL
    )


@pytest.mark.parametrize("name", ["over", "several"])
def test_overidentification_equals_linearmodels(name):
    expected, result = STORED["linear"][name], fit(CASES[name])
    test = result.with_vcov("iid").iv.overidentification()
    assert (test.name, test.df) == ("Sargan", len(CASES[name][2]) - len(CASES[name][0]))
    np.testing.assert_allclose(test.statistic, expected["sargan"], rtol=RTOL)
    for kind, groups in (("HC0", None), ("cluster", DATA["firm"])):
        test = result.with_vcov(kind, groups).iv.overidentification()
        assert test.name == "Hansen J"
        np.testing.assert_allclose(test.statistic, expected["J"][kind], rtol=1e-6)


@pytest.mark.parametrize("kind", ["cases", "weak"])
def test_anderson_rubin_statistic_and_sets_equal_ivmodels(kind):
    """Of one treatment and of two, intervals, unbounded ones and the whole line."""
    kinds = set()
    for name, case in STORED[kind].items():
        expected = STORED["anderson_rubin" if kind == "cases" else "weak_sets"][name]
        iv = fit(case).with_vcov("iid").iv
        test = iv.anderson_rubin(expected["at"])
        np.testing.assert_allclose(test.statistic, expected["statistic"], rtol=1e-6)
        for treatment, sets in expected["sets"].items():
            for level, boundaries in sets.items():
                found = iv.confidence_set(float(level))[treatment]
                kinds.add(found.kind)
                np.testing.assert_allclose(
                    np.array(found.intervals), np.array(boundaries), rtol=1e-6
                )
    assert kinds >= ({"interval"} if kind == "cases" else {"unbounded", "everything"})


@pytest.mark.parametrize(
    ("name", "learner"),
    [
        ("LinearRegression", LinearRegression()),
        ("RidgeCV", RidgeCV(alphas=(0.1, 1.0, 10.0))),
    ],
)
def test_one_instrument_equals_doublemls_pliv(name, learner):
    rows = np.arange(N)
    folds = [(np.setdiff1d(rows, t), np.array(t)) for t in STORED["double_ml"]["test_folds"]]
    result = fit(CASES["just"], learner=learner, crossfit=folds).with_vcov("HC0")
    expected = STORED["double_ml"]["results"][name]
    np.testing.assert_allclose(result.coef.iloc[0], expected["coef"], rtol=RTOL)
    np.testing.assert_allclose(result.se.iloc[0], expected["se"], rtol=RTOL)


@pytest.mark.parametrize("kind", ["iid", "HC0", "HC1", "cluster"])
def test_anderson_rubin_is_the_wald_test_of_the_instruments_in_statsmodels(kind):
    result = fit(CASES["over"])
    groups = DATA["firm"] if kind == "cluster" else None
    iv, b = result.with_vcov(kind, groups).iv, 0.7
    rows = result.regressions[0]
    options = {"cov_type": {"iid": "nonrobust"}.get(kind, kind)}
    if kind == "cluster":
        options["cov_kwds"] = {"groups": DATA["firm"]}
    ols = sm.OLS(rows.R_y - rows.R_D[:, 0] * b, rows.R_W).fit(use_t=False, **options)
    wald = ols.wald_test(np.eye(3), scalar=True, use_f=False)
    np.testing.assert_allclose(iv.anderson_rubin(b).statistic, wald.statistic, rtol=RTOL)
    first = sm.OLS(rows.R_D[:, 0], rows.R_W).fit(use_t=False, **options)
    F = first.wald_test(np.eye(3), scalar=True, use_f=False).statistic / 3
    np.testing.assert_allclose(iv.first_stage().loc["d1", "F"], F, rtol=RTOL)
    # Effective F by its definition (Montiel Olea and Pflueger 2013), in the instruments' own units.
    gram = rows.R_W.T @ rows.R_W
    above = first.params @ gram @ first.params
    below = np.trace(np.asarray(first.cov_params()) @ gram)
    np.testing.assert_allclose(iv.first_stage().loc["d1", "effective F"], above / below, rtol=RTOL)


def test_sets_are_where_the_statistic_is_below_the_limit():
    """By brute force on a grid, robust and clustered, of strong and of weak instruments."""
    from scipy import stats

    for case in (CASES["over"], STORED["weak"]["over"]):
        for kind, groups in (("HC1", None), ("cluster", DATA["firm"])):
            iv = fit(case).with_vcov(kind, groups).iv
            limit = stats.chi2.ppf(0.3, len(case[2]))
            found = iv.confidence_set(0.3).iloc[0]
            for b in np.linspace(-20, 20, 401):
                assert (iv.anderson_rubin(b).statistic <= limit) == (b in found)


def test_projections_are_where_any_value_of_the_other_treatment_is_accepted():
    """Brute force: a grid of both coefficients, against the set of the first one."""
    from scipy import stats

    case = CASES["several"]
    iv = fit(case).with_vcov("HC1").iv
    found = iv.confidence_set(0.9)["d1"]
    ((low, high),) = found.intervals
    limit = stats.chi2.ppf(0.9, len(case[2]))
    others = np.linspace(0, 4, 400)
    for b, expected in (
        (low - 0.03, False),
        (low + 0.03, True),
        (high - 0.03, True),
        (high + 0.03, False),
    ):
        least = min(iv.anderson_rubin([b, other]).statistic for other in others)
        assert (least <= limit) == expected


@pytest.mark.parametrize("crossfit", ["auto", 5])
def test_without_controls_the_intercept_is_counted(crossfit):
    """Means of all rows: two-stage least squares with an intercept, by statsmodels."""
    X = DATA[["d1", "w1", "w2"]]
    model = dn.PartiallyLinear(
        "d1", "mean", instruments=["w1", "w2"], crossfit=crossfit, random_state=0
    )
    result = model.fit(X, DATA.y).result_.with_vcov("iid")
    W = sm.add_constant(X[["w1", "w2"]])
    peer = IV2SLS(DATA.y, sm.add_constant(X["d1"]), W).fit()
    np.testing.assert_allclose(result.estimate, peer.params["d1"], rtol=RTOL)
    np.testing.assert_allclose(result.se, peer.bse["d1"], rtol=RTOL)
    assert result.df == peer.df_resid
    F = result.iv.first_stage().loc["d1", "F"]
    np.testing.assert_allclose(F, sm.OLS(X["d1"], W).fit().fvalue, rtol=RTOL)
    liml, fuller = (
        model.set_params(method=method).fit(X, DATA.y).result_.regressions[0].kappa
        for method in ("liml", "fuller")
    )
    assert liml - fuller == pytest.approx(1 / (N - 3))


# By the root of F, from 2 in steps of 0.1, as the R package ivDiag has them.
IVDIAG = [
    18.66, 9.74, 7.37, 6.18, 5.43, 4.92, 4.54, 4.25, 4.01, 3.82, 3.65, 3.51, 3.39, 3.29, 3.19, 3.11,
    3.03, 2.97, 2.91, 2.85, 2.80, 2.75, 2.71, 2.67, 2.63, 2.60, 2.57, 2.54, 2.51, 2.48, 2.46, 2.43,
    2.41, 2.39, 2.37, 2.35, 2.33, 2.32, 2.30, 2.29, 2.27, 2.26, 2.24, 2.23, 2.22, 2.21, 2.20, 2.19,
    2.17, 2.16, 2.16, 2.15, 2.14, 2.13, 2.12, 2.11, 2.10, 2.10, 2.09, 2.08, 2.08, 2.07, 2.06, 2.06,
    2.05, 2.04, 2.04, 2.03, 2.03, 2.02, 2.02, 2.01, 2.01, 2.00, 2.00, 1.99, 1.99, 1.99, 1.98, 1.98,
    1.97, 1.97, 1.97, 1.96,
]  # fmt: skip


def test_tf_critical_values_agree_with_another_transcription():
    """To its two digits, and what interpolation adds."""
    found = [tf_critical_value((2 + 0.1 * j) ** 2) for j in range(len(IVDIAG))]
    np.testing.assert_allclose(found, IVDIAG, atol=0.02)
    assert tf_critical_value(3.9) == np.inf


def test_effective_f_has_its_published_critical_value_with_one_instrument():
    """23.1 at 10 % of the worst bias and 5 % (Montiel Olea and Pflueger 2013, Table 1)."""
    assert critical_effective_F(np.eye(1)) == pytest.approx(23.1, abs=0.05)
