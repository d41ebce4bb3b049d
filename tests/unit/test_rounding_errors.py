"""Treatments and outcomes of which arithmetic leaves nothing: said, not estimated."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.linear_model import LinearRegression

import debinet as dn
from debinet.exceptions import CollinearError

LEARNERS = {"wide": "wide", "mean": "mean", "linear": "linear", "sklearn": LinearRegression()}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    Z = pd.DataFrame(rng.normal(size=(150, 3)), columns=["a", "b", "c"])
    d = Z["a"] + rng.normal(size=150)
    return Z, d, d + np.sin(Z["b"]) + rng.normal(size=150), rng.normal(size=150)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("gap", [1e-9, 1e-8, 3e-7])
@pytest.mark.parametrize("weighted", [False, True])
def test_treatments_that_agree_to_seven_digits_are_refused(rows, learner, gap, weighted):
    Z, d, y, noise = rows
    X = Z.assign(d1=d, d2=1000 * d + 5 + 1000 * gap * noise)
    weight = np.linspace(0.5, 2, 150) if weighted else None
    model = dn.PartiallyLinear(["d1", "d2"], LEARNERS[learner], random_state=0)
    with pytest.raises(CollinearError, match=r"'d[12]' determined"):
        model.fit(X, y, sample_weight=weight)


def test_a_sum_of_treatments_is_refused(rows):
    Z, d, y, noise = rows
    X = Z.assign(d1=d, d2=noise, total=d + noise + 1e-8 * np.cos(noise * 50))
    with pytest.raises(CollinearError, match="rounding errors"):
        dn.PartiallyLinear(["d1", "d2", "total"], random_state=0).fit(X, y)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("correlation", [0.9, 0.999, 0.99999])
def test_correlated_treatments_are_estimated(rows, learner, correlation):
    Z, d, y, noise = rows
    gap = np.sqrt(1 / correlation**2 - 1) * d.std()
    X = Z.assign(d1=d, d2=d + gap * noise)
    result = dn.PartiallyLinear(["d1", "d2"], LEARNERS[learner], random_state=0).fit(X, y).result_
    assert np.isfinite(result.to_frame()).all(axis=None)
    inflation = result.trust().to_frame().loc["collinearity", "verdict"]
    if correlation > 0.9999:
        assert inflation == "do not trust"


def test_the_variance_inflation_is_that_of_statsmodels(rows):
    """Of treatments that agree to 5 digits, where a pseudo-inverse had found 0.25."""
    Z, d, y, noise = rows
    X = Z.assign(d1=d, d2=d + 1e-5 * noise)
    result = dn.PartiallyLinear(["d1", "d2"], "mean").fit(X, y).result_
    fit = sm.OLS(X["d1"], sm.add_constant(X[["d2"]])).fit()
    finding = result.trust().to_frame().loc["collinearity", "finding"]
    found = float(finding.removeprefix("largest variance inflation ").split()[0].replace(",", ""))
    assert found == pytest.approx(1 / (1 - fit.rsquared), rel=0.01)  # printed in three digits


@pytest.mark.parametrize("learner", ["mean", "linear", "sklearn"])
def test_a_perfect_fit_is_said(rows, learner):
    Z, d, _, _ = rows
    X = Z.assign(d=d)
    y = 1e6 + 2 * d + Z["a"] - Z["b"]
    treatments = ["d", "a", "b"] if learner == "mean" else ["d"]
    result = dn.PartiallyLinear(treatments, LEARNERS[learner], random_state=0).fit(X, y).result_
    assert "the fit is perfect" in result.summary()
    trust = result.trust()
    assert trust.verdict == "do not trust"
    assert trust.to_frame().loc["perfect fit", "verdict"] == "do not trust"


def test_a_good_fit_is_not_called_perfect(rows):
    Z, d, _, noise = rows
    X, y = Z.assign(d=d), 2 * d + Z["a"] + 1e-5 * noise
    result = dn.PartiallyLinear(["d"], "linear", random_state=0).fit(X, y).result_
    assert "perfect" not in result.summary()
    assert "perfect fit" not in result.trust().to_frame().index
