"""The trust report: for each check a result that must fail it and one that must not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor

import debinet as dn
from debinet.inference.trust import CHECKS, Trust
from debinet.inference.trust_evidence import DeferredEvidence

NAMES = (
    "residual shrinkage",
    "held-out R2",
    "variance of D left",
    "collinearity",
    "left-over dependence",
    "agreement",
    "spread over splits",
    "selection",
    "leverage",
    "coefficients per row",
)


def fit(X, y, treatments=("d1",), learner="wide", **options):
    return (
        dn.PartiallyLinear(list(treatments), learner, random_state=0, **options).fit(X, y).result_
    )


def verdicts(result):
    return result.trust().to_frame()["verdict"].to_dict()


@pytest.fixture(scope="module")
def good():
    X, y, _ = dn.datasets.make_ccddhnr2018(400, random_state=0)
    return fit(X, y)


def test_a_good_result_is_called_so(good):
    trust = good.trust()
    assert isinstance(trust, Trust)
    assert trust.verdict == "ok"
    assert tuple(trust.to_frame().index) == NAMES
    assert len(CHECKS) == len(NAMES)
    assert set(trust.to_frame()["verdict"]) == {"ok"}
    assert (trust.to_frame()["advice"] == "").all()
    assert str(trust).startswith("Verdict: ok")
    assert "<table" in trust._repr_html_()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("make", ["ccddhnr2018", "sparse_linear", "survey"])
def test_honest_designs_are_not_called_bad(make, seed):
    """Of 15, the left-over dependence has p < 0.01 by chance in one of seven choices of seeds."""
    X, y, truth = getattr(dn.datasets, f"make_{make}")(300, random_state=seed)
    assert fit(X, y, truth.index).trust().verdict == "ok"


# Residual shrinkage


def test_a_long_trained_network_in_sample_is_not_to_be_trusted():
    pytest.importorskip("torch")
    X, y, _ = dn.datasets.make_waves(300, random_state=0)
    net = dn.Net(300, epochs=300, validation_share=None)
    inside = fit(X, y, learner=net, crossfit=None, method="robinson").trust()
    assert inside.verdict == "do not trust"
    assert inside.to_frame().loc["residual shrinkage", "verdict"] == "do not trust"
    assert "crossfit='auto'" in inside.to_frame().loc["residual shrinkage", "advice"]
    outside = fit(X, y, learner=net, crossfit=2, method="robinson")
    assert verdicts(outside)["residual shrinkage"] == "ok"


def test_shrinkage_by_a_forest_and_none_by_a_line():
    X, y, _ = dn.datasets.make_ccddhnr2018(400, random_state=1)
    forest = RandomForestRegressor(30)
    assert (
        verdicts(fit(X, y, learner=forest, crossfit=None, method="robinson"))["residual shrinkage"]
        == "do not trust"
    )
    assert verdicts(fit(X, y, learner=forest, crossfit=2))["residual shrinkage"] == "ok"
    line = fit(X, y, learner=LinearRegression(), crossfit=None, method="robinson")
    assert verdicts(line)["residual shrinkage"] == "ok"


# Nuisance functions


def test_a_learner_worse_than_the_mean():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=["d1", "z1", "z2", "z3"])
    y = X["d1"] + rng.normal(size=300)
    assert verdicts(fit(X, y, learner=KNeighborsRegressor(2)))["held-out R2"] == "look"
    assert verdicts(fit(X, y))["held-out R2"] == "ok"


@pytest.mark.parametrize(("noise", "verdict"), [(0.02, "do not trust"), (0.15, "look"), (1, "ok")])
def test_treatments_that_are_nearly_functions_of_the_rest(noise, verdict):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(300, 3))
    d = Z @ [1.0, 1.0, 0.0] / np.sqrt(2) + noise * rng.normal(size=300)
    X = pd.DataFrame(np.column_stack([d, Z]), columns=["d1", "z1", "z2", "z3"])
    result = fit(X, d + rng.normal(size=300), learner=LinearRegression(), crossfit=5)
    assert verdicts(result)["variance of D left"] == verdict


def test_left_over_dependence():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 4)), columns=["d1", "z1", "z2", "z3"])
    for curve, verdict in ((0.0, "ok"), (0.17, "look"), (1.0, "do not trust")):
        y = X["d1"] + X["z1"] + curve * X["z2"] ** 2 + rng.normal(size=400)
        found = fit(X, y, learner=LinearRegression(), crossfit=5).trust().to_frame()
        assert found.loc["left-over dependence", "verdict"] == verdict
        if curve:
            assert "z2^2" in found.loc["left-over dependence", "finding"]
    product = X["d1"] + X["z1"] * X["z3"] + rng.normal(size=400)
    found = fit(X, product, learner=LinearRegression(), crossfit=5).trust().to_frame()
    assert "z1 * z3" in found.loc["left-over dependence", "finding"]
    assert verdicts(fit(X, product))["left-over dependence"] == "ok"


# Coefficients


@pytest.mark.parametrize(("noise", "verdict"), [(0.01, "do not trust"), (0.2, "look"), (2.0, "ok")])
def test_treatments_that_cannot_be_told_apart(noise, verdict):
    rng = np.random.default_rng(0)
    d = rng.normal(size=300)
    X = pd.DataFrame({"d1": d, "d2": d + noise * rng.normal(size=300), "z1": rng.normal(size=300)})
    found = fit(X, d + rng.normal(size=300), ("d1", "d2")).trust().to_frame()
    assert found.loc["collinearity", "verdict"] == verdict


def test_the_inflation_is_that_of_statsmodels(good):
    from statsmodels.stats.outliers_influence import variance_inflation_factor

    X, y, truth = dn.datasets.make_sparse_linear(200, random_state=0)
    result = fit(X, y, truth.index)
    R_D = result.regressions[0].R_D
    largest = max(variance_inflation_factor(R_D, j) for j in range(R_D.shape[1]))
    assert f"inflation {largest:.3g} " in result.trust().to_frame().loc["collinearity", "finding"]


def test_a_row_that_decides():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["d1", "z1", "z2"])
    y = X["d1"] + rng.normal(size=200)
    for outlier, verdict in ((0.0, "ok"), (10.0, "look"), (100.0, "do not trust")):
        X.loc[17, "d1"] = outlier
        found = fit(X, y, learner="mean").trust().to_frame()
        assert found.loc["leverage", "verdict"] == verdict
        assert outlier == 0.0 or "row 17" in found.loc["leverage", "advice"]


def test_more_coefficients_than_the_rows_can_bear():
    rng = np.random.default_rng(0)
    for q, verdict in ((5, "ok"), (30, "look"), (45, "do not trust")):
        X = pd.DataFrame(rng.normal(size=(100, q + 2))).rename(columns=str)
        y = X.sum(axis=1) + rng.normal(size=100)
        result = fit(X, y, X.columns[:q], LinearRegression(), crossfit=5)
        assert verdicts(result)["coefficients per row"] == verdict


# How it was done


@pytest.mark.parametrize(("share", "verdict"), [(None, "do not trust"), (0.4, "ok")])
def test_selection_on_the_same_rows(share, verdict):
    X, y, _ = dn.datasets.make_table2(200, 40, 3, random_state=0)
    result = dn.DebiNet(selection_share=share, random_state=0).fit(X, y).result_
    assert verdicts(result)["selection"] == verdict


def test_spread_over_repetitions(good):
    X, y, _ = dn.datasets.make_ccddhnr2018(300, random_state=0)
    repeated = fit(X, y, learner=LinearRegression(), crossfit=(5, 3))
    assert verdicts(repeated)["spread over splits"] == "ok"
    assert verdicts(good)["spread over splits"] == "ok"
    once = fit(X, y, learner=LinearRegression(), crossfit=5)
    assert verdicts(once)["spread over splits"] == "not known"
    se = float(repeated.se.iloc[0])
    for step, verdict in ((0.8 * se, "look"), (2 * se, "do not trust")):
        moved = tuple(
            replace(regression, coef=regression.coef + k * step)
            for k, regression in enumerate(repeated.regressions)
        )
        assert verdicts(replace(repeated, regressions=moved))["spread over splits"] == verdict


def test_agreement_of_the_two_kinds_of_residuals(good):
    evidence = good.evidence.get()
    for errors, verdict in ((1.0, "ok"), (3.0, "look"), (5.0, "do not trust")):
        other = good.estimate + errors * evidence.other_se
        moved = replace(evidence, in_sample=True, other_coef=other)
        assert verdicts(replace(good, evidence=DeferredEvidence(moved)))["agreement"] == verdict
    for errors, verdict in ((1.0, "ok"), (3.0, "look"), (50.0, "look")):
        other = good.estimate + errors * good.se.to_numpy()
        held = replace(evidence, in_sample=False, other_coef=other)
        assert verdicts(replace(good, evidence=DeferredEvidence(held)))["agreement"] == verdict


@pytest.mark.parametrize("make", ["smooth_nonlinear", "waves", "oblique"])
def test_designs_too_hard_for_their_rows_are_noticed(make):
    """Where a network of equal relevance is biased by two standard errors and more."""
    X, y, truth = getattr(dn.datasets, f"make_{make}")(500, random_state=0)
    model = dn.PartiallyLinear(list(truth.index), dn.WideNet(relevance="equal"))
    assert model.fit(X, y).result_.trust().verdict == "look"


# What is kept


def test_evidence_is_gathered_once_and_saved(good, tmp_path, monkeypatch):
    assert good.evidence.get() is good.with_vcov("HC1").evidence.get()
    good.save(tmp_path / "result.npz")
    loaded = dn.load(tmp_path / "result.npz")
    assert str(loaded.trust()) == str(good.trust())


def test_without_evidence_the_rest_is_still_checked(good):
    found = verdicts(replace(good, evidence=None))
    assert found["held-out R2"] == "not known"
    assert found["collinearity"] == "ok"
    assert replace(good, evidence=None).trust().verdict == "ok"


def test_nothing_selected():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    result = dn.DebiNet(dn.Lasso(100.0), random_state=0).fit(X, rng.normal(size=60)).result_
    assert "nothing was selected" in str(result.trust())


def test_weights_and_groups_and_many_outputs():
    X, y, truth = dn.datasets.make_sparse_linear(200, random_state=0)
    rng = np.random.default_rng(0)
    model = dn.PartiallyLinear(list(truth.index), random_state=0)
    model.fit(X, y, sample_weight=rng.uniform(0, 2, size=200), groups=np.repeat(range(40), 5))
    assert model.result_.trust().verdict in {"ok", "look"}


def test_the_desparsified_lasso_has_what_it_can_have():
    X, y, _ = dn.datasets.make_table2(60, 80, 3, random_state=0)
    found = verdicts(dn.DebiasedLasso(random_state=0).fit(X, y).result_)
    assert found["residual shrinkage"] == "not known"


def test_rows_of_weight_zero_do_not_count():
    data = dn.datasets.make_waves(150, random_state=0)
    weights = np.r_[np.ones(100), np.zeros(50)]
    firms = np.arange(150) // 2
    options = {"learner": LinearRegression(), "crossfit": None}
    model, few = (dn.PartiallyLinear(["d1"], random_state=0, **options) for _ in range(2))
    result = model.fit(data.X, data.y, sample_weight=weights, groups=firms).result_
    expected = few.fit(data.X[:100], data.y[:100], groups=firms[:100]).result_
    np.testing.assert_allclose(
        result.evidence.get().leftover, expected.evidence.get().leftover, atol=1e-12
    )
    assert result.provenance.clusters == expected.provenance.clusters
