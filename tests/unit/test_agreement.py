"""The tests of agreement against formulas written out, simulated differences, and their limits."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression, RidgeCV

import debinet as dn
from debinet.inference.agreement import Placed, agreement, row_effects


def fitted(X, y, *learners, treatments=("d1",), **options):
    fit = options.pop("fit", {})
    each = [
        dn.PartiallyLinear(list(treatments), learner, random_state=0, **options).fit(X, y, **fit)
        for learner in learners
    ]
    return {f"m{k}": Placed(model.result_) for k, model in enumerate(each)}


@pytest.fixture(scope="module")
def data():
    X, y, _ = dn.datasets.make_sparse_linear(n=200, p=8, random_state=3)
    return X, y


def test_contributions_add_up_to_the_covariance_of_each_model(data):
    for learner, kind in ((LinearRegression(), "HC0"), ("spline", "full")):
        model = dn.PartiallyLinear(["d1", "d2"], learner, random_state=0).fit(*data)
        result = model.result_.with_vcov(kind)
        effects = row_effects(result)
        # "full" is scaled up for the noise that the two coefficients have fitted of 200 rows.
        np.testing.assert_allclose(effects.T @ effects, result.vcov, rtol=1e-10 if kind == "HC0"
                                   else 0.1, atol=1e-5)  # fmt: skip


def test_two_models_by_hand(data):
    models = fitted(*data, LinearRegression(), "lasso", treatments=("d1", "d2"))
    first, second = (placed.result for placed in models.values())
    gap = second.estimate - first.estimate
    effects = row_effects(second) - row_effects(first)
    covariance = 2 * effects.T @ effects
    found = agreement(models, 200, ["d1", "d2"])
    for j, name in enumerate(["d1", "d2"]):
        row = found.loc[name]
        statistic = gap[j] ** 2 / covariance[j, j]
        assert row["statistic"] == pytest.approx(statistic, rel=1e-9)
        assert row["pvalue"] == pytest.approx(stats.f.sf(statistic, 1, first.df), rel=1e-7)
        assert row["difference"] == pytest.approx(abs(gap[j]))
        assert row["in se"] == pytest.approx(abs(gap[j]) / max(first.se[name], second.se[name]))
        assert row["between"] == ("m1 - m0" if gap[j] > 0 else "m0 - m1")
        assert row["verdict"] == ("differ" if row["pvalue"] < 0.05 else "agree")
    joint = gap @ np.linalg.solve(covariance, gap) / 2
    assert found.loc["all", "statistic"] == pytest.approx(joint, rel=1e-9)
    assert found.loc["all", "df_num"] == 2


def test_the_order_of_the_models_changes_nothing(data):
    models = fitted(*data, LinearRegression(), "lasso", "spline", treatments=("d1", "d2"))
    other = dict(reversed(models.items()))
    pd.testing.assert_frame_equal(
        agreement(models, 200, ["d1", "d2"]), agreement(other, 200, ["d1", "d2"])
    )


def test_the_same_model_twice_agrees_with_itself(data):
    models = fitted(*data, "lasso", "lasso")
    row = agreement(models, 200, ["d1"]).loc["d1"]
    assert (row["difference"], row["pvalue"], row["verdict"]) == (0.0, 1.0, "agree")
    three = agreement({**models, **fitted(*data, "lasso", "spline")}, 200, ["d1"]).loc["d1"]
    assert three["df_num"] == 1


def test_rows_of_some_models_only_count_once(data):
    X, y = data
    half = np.arange(0, 200, 2)
    whole = fitted(X, y, LinearRegression())["m0"]
    part = Placed(fitted(X.iloc[half], y[half], LinearRegression())["m0"].result, half)
    row = agreement({"whole": whole, "part": part}, 200, ["d1"]).loc["d1"]
    own = np.zeros(200)
    own[half] = row_effects(part.result)[:, 0]
    terms = own - row_effects(whole.result)[:, 0]
    variance = (np.where(np.isin(np.arange(200), half), 2, 1) * terms**2).sum()
    gap = part.result.estimate[0] - whole.result.estimate[0]
    assert row["statistic"] == pytest.approx(gap**2 / variance, rel=1e-9)


@pytest.mark.parametrize("ways", [1, 2])
def test_clusters_are_summed(data, ways):
    X, y = data
    groups = np.column_stack([np.arange(200) // 5, np.arange(200) % 7])[:, :ways]
    models = fitted(X, y, LinearRegression(), "lasso", crossfit=3, fit={"groups": list(groups.T)})
    row = agreement(models, 200, ["d1"], groups).loc["d1"]
    first, second = (placed.result for placed in models.values())
    terms = np.sqrt(2) * (row_effects(second) - row_effects(first))[:, 0]
    sums = [pd.Series(terms).groupby(codes).sum() ** 2 for codes in groups.T]
    variance = sum(each.sum() for each in sums)
    if ways == 2:
        variance -= (pd.Series(terms).groupby(list(groups.T)).sum() ** 2).sum()
    gap = second.estimate[0] - first.estimate[0]
    assert row["statistic"] == pytest.approx(gap**2 / variance, rel=1e-9)
    assert row["df_denom"] == (39 if ways == 1 else 6)


def test_treatments_of_one_model_have_nothing_to_agree_with(data):
    models = fitted(*data, "lasso") | {"other": fitted(*data, "lasso", treatments=["d2"])["m0"]}
    assert agreement(models, 200, ["d1", "d2"]).empty


def test_more_differences_than_clusters_are_not_known(data):
    X, y = data
    groups = np.arange(200)[:, None] % 4
    models = fitted(X, y, LinearRegression(), RidgeCV(), "lasso", "spline", "mean",
                    crossfit=2, fit={"groups": groups[:, 0]})  # fmt: skip
    row = agreement(models, 200, ["d1"], groups).loc["d1"]
    assert row["verdict"] == "not known"
    assert np.isnan(row["pvalue"])


def test_learners_that_are_right_agree_and_those_that_are_wrong_do_not():
    """At most 5 % of tests of right learners reject: 6 or more of 60 have a chance below 0.08.

    The linear learners are wrong in the other design, by several standard errors.
    """
    rejected = 0
    for seed in range(60):
        X, y, _ = dn.datasets.make_sparse_linear(n=200, p=6, random_state=seed)
        models = fitted(X, y, LinearRegression(), "spline")
        rejected += agreement(models, 200, ["d1"]).loc["d1", "verdict"] == "differ"
    assert rejected <= 5
    found = []
    for seed in range(3):
        data = dn.datasets.make_smooth_nonlinear(400, random_state=seed)
        models = fitted(data.X, data.y, LinearRegression(), "wide")
        found.append(agreement(models, 400, ["d1"]).loc["d1", "verdict"])
    assert found == ["differ"] * 3
