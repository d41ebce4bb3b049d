"""Effects that vary: against statsmodels and patsy, brute force, and what must collapse."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from patsy import dmatrix
from scipy import stats
from sklearn.linear_model import LinearRegression

import debinet as dn
from debinet.exceptions import (
    CollinearError,
    CovarianceError,
    EmptyInputError,
    InputError,
    LengthError,
    OptionError,
    TooFewRowsError,
    UnknownColumnError,
)
from debinet.inference.natural_spline import natural_spline
from debinet.inference.varying import estimate_effects

HOW = {
    "groups": ({"by": "old"}, lambda X: pd.get_dummies(X["old"]).to_numpy(float)),
    "texts": ({"by": "place"}, lambda X: pd.get_dummies(X["place"]).to_numpy(float)),
    "cells": (
        {"by": ["old", "place"]},
        lambda X: pd.get_dummies(X["old"].astype(str) + X["place"]).to_numpy(float),
    ),
    "bins": ({"by": "age", "bins": [40]}, lambda X: np.c_[X["age"] < 40, X["age"] >= 40] * 1.0),
    "line": (
        {"by": "age", "df": 1},
        lambda X: natural_spline(X["age"].to_numpy(), np.quantile(X["age"], [0.01, 0.99])),
    ),
}


def data(n=240, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "d1": rng.normal(size=n),
            "age": rng.uniform(20, 60, size=n),
            "old": rng.integers(2, size=n),
            "place": rng.choice(["north", "south", "west"], size=n),
            "d2": rng.normal(size=n),
        }
    )
    X["d1"] += X["age"] / 20
    y = X["d1"] * (1 + X["old"]) + 0.5 * X["d2"] + X["age"] / 10 + rng.normal(size=n)
    return X, y.rename("wage")


def fit(treatments="d1", learner=None, n=240, **options):
    fitting = {name: options.pop(name) for name in ("groups", "sample_weight") if name in options}
    X, y = data(n)
    model = dn.PartiallyLinear(treatments, learner or LinearRegression(), random_state=0, **options)
    return X, model.fit(X, y, **fitting)


@pytest.mark.parametrize("treatments", ["d1", ["d1", "d2"]], ids=["one", "two"])
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("kind", ["iid", "HC0", "HC1", "HC2", "HC3"])
def test_effects_are_statsmodels_regression_of_residuals_on_products(how, treatments, kind):
    X, model = fit(treatments)
    options, basis = HOW[how]
    effects = model.effects(**options).with_vcov(kind)
    regression = model.result_.regressions[0]
    H = basis(X)
    products = np.hstack([column[:, None] * H for column in regression.R_D.T])
    peer = sm.OLS(regression.R_y, products).fit(cov_type="nonrobust" if kind == "iid" else kind)
    np.testing.assert_allclose(effects.result.coef, peer.params, rtol=1e-9)
    np.testing.assert_allclose(effects.result.vcov, peer.cov_params(), rtol=1e-8, atol=1e-12)


def test_clusters_and_weights_are_those_of_statsmodels():
    rng = np.random.default_rng(1)
    groups, w = rng.integers(30, size=240), rng.uniform(0.5, 2.0, size=240)
    _, model = fit(groups=groups, sample_weight=w)
    effects = model.effects("old")
    regression = model.result_.regressions[0]
    H = pd.get_dummies(data()[0]["old"]).to_numpy(float)
    peer = sm.WLS(regression.R_y, H * regression.R_D, weights=w).fit(
        cov_type="cluster", cov_kwds={"groups": groups}
    )
    assert effects.result.vcov_type == "cluster"
    np.testing.assert_allclose(effects.result.coef, peer.params, rtol=1e-9)
    np.testing.assert_allclose(effects.result.se, peer.bse, rtol=1e-9)


def test_the_test_that_effects_are_the_same_and_differences_are_statsmodels():
    X, model = fit(["d1", "d2"])
    effects = model.effects("place")
    regression = model.result_.regressions[0]
    H = pd.get_dummies(X["place"]).to_numpy(float)
    products = np.hstack([column[:, None] * H for column in regression.R_D.T])
    # With residuals of the hypothesis a robust Wald test is the robust score test: Wooldridge's
    # regression of ones on what is left of the products, times the residuals.
    null = sm.OLS(regression.R_y, regression.R_D).fit()
    left = sm.OLS(products[:, [0, 1, 3, 4]], regression.R_D).fit().resid
    score = 240 - sm.OLS(np.ones(240), left * null.resid[:, None]).fit().ssr
    found = effects.with_vcov("HC0").heterogeneity_test()
    assert found.df_num == 4
    np.testing.assert_allclose(found.statistic * 4, score, rtol=1e-8)
    np.testing.assert_allclose(found.pvalue, stats.f.sf(score / 4, 4, 234), rtol=1e-8)
    peer = sm.OLS(regression.R_y, products).fit(cov_type="HC3", use_t=True)
    pair = peer.t_test([1, 0, -1, 0, 0, 0])
    row = effects.contrasts("place=west").iloc[0]
    assert row.name == "place=north - place=west"
    np.testing.assert_allclose(
        row[["coef", "se", "pvalue"]].astype(float),
        [pair.effect[0], pair.sd[0, 0], pair.pvalue],
        rtol=1e-8,
    )
    assert len(effects.contrasts()) == 2 * 3


@pytest.mark.parametrize("k", [2, 3, 5])
def test_natural_splines_span_those_of_patsy_and_have_values_at_the_knots(k):
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=200)
    knots = np.sort(rng.uniform(-0.8, 0.8, size=k))
    found = natural_spline(x, knots)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(natural_spline(knots, knots), np.eye(k), atol=1e-12)
    if k > 2:
        low, *inner, high = knots
        inside = x[(x > low) & (x < high)]
        formula = "cr(x, knots=inner, lower_bound=low, upper_bound=high) - 1"
        peer = np.asarray(dmatrix(formula, {"x": inside, "inner": inner, "low": low, "high": high}))
        residual = sm.OLS(natural_spline(inside, knots), peer).fit().resid
        np.testing.assert_allclose(residual, 0.0, atol=1e-9)
    step = 1e-3  # straight beyond the knots: second differences vanish, the first are continuous
    for outer, sign in ((knots[0], -1), (knots[-1], 1)):
        line = natural_spline(outer + sign * np.array([0.0, 1.0, 2.0]), knots)
        np.testing.assert_allclose(np.diff(line, n=2, axis=0), 0.0, atol=1e-12)
        around = natural_spline(outer + step * np.array([-1.0, 0.0, 1.0]), knots)
        np.testing.assert_allclose(np.diff(around, n=2, axis=0), 0.0, atol=1e-4)


@pytest.mark.parametrize(
    ("learner", "method"),
    [
        ("wide", "joint"),
        ("wide", "gls"),
        ("wide", "structured"),
        (LinearRegression(), "robinson"),
        (LinearRegression(), "three-step"),
        (LinearRegression(), "dml1"),
        (LinearRegression(), "dml2"),
        (LinearRegression(), "iv-type"),
        ("lasso", "auto"),
        ("forest", "auto"),
    ],
)
def test_every_method_finds_effects_that_differ_and_that_average_to_the_coefficient(
    learner, method
):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(400, 2))
    D = Z + rng.normal(size=(400, 2))
    y = D[:, 0] * np.where(Z[:, 0] > 0, 2.0, 1.0) + Z[:, 1] + rng.normal(size=400)
    X = pd.DataFrame(np.hstack([D, Z]), columns=["d", "e", "a", "b"])
    model = dn.PartiallyLinear(["d", "e"], learner, method=method, random_state=0).fit(X, y)
    effects = model.effects("a", bins=[0.0])
    interval = effects.to_frame(0.999)
    truth = np.array([1.0, 2.0, 0.0, 0.0])
    assert ((interval["lower"] < truth) & (truth < interval["upper"])).all()
    assert effects.heterogeneity_test().pvalue < 1e-4
    if method in {"joint", "gls", "structured", "robinson"}:
        # The regression of the fitted effects on R_D is the coefficient: nothing else was fitted.
        regression = model.result_.regressions[0]
        fitted = effects.result.regressions[0]
        values = fitted.R_D @ (fitted.coef - model.result_.estimate.repeat(2))
        difference = np.linalg.lstsq(regression.R_D, values, rcond=None)[0]
        np.testing.assert_allclose(difference, 0.0, atol=1e-10)


def test_one_group_has_the_effect_and_the_covariance_of_the_model():
    """A column that has one value in all rows that count."""
    _, model = fit(learner="wide")
    one = estimate_effects(model.result_, {"all": np.ones(240)})
    np.testing.assert_allclose(one.result.estimate, model.result_.estimate, rtol=1e-12)
    np.testing.assert_allclose(one.result.covariance, model.result_.covariance, rtol=1e-9)
    with pytest.raises(OptionError, match="nothing to compare"):
        one.heterogeneity_test()


def test_repetitions_have_their_median():
    _, model = fit(crossfit=(3, 3))
    effects = model.effects("old")
    H = pd.get_dummies(data()[0]["old"]).to_numpy(float)
    coefs = [sm.OLS(r.R_y, H * r.R_D).fit().params for r in model.result_.regressions]
    np.testing.assert_allclose(effects.result.coef, np.median(coefs, axis=0), rtol=1e-9)


def test_a_curve_at_values_is_the_frame_and_joint_bands_are_wider():
    _, model = fit()
    effects = model.effects("age")
    frame, joint = effects.to_frame(), effects.to_frame(joint=True)
    found = effects.at(pd.DataFrame({"age": frame.index}))
    np.testing.assert_allclose(found.to_numpy(), frame.to_numpy(), rtol=1e-10)
    wider = (joint["upper"] - joint["lower"]) / (frame["upper"] - frame["lower"])
    np.testing.assert_allclose(wider, wider.iloc[0])
    # Between one comparison and Scheffe's bound for all combinations of four coefficients.
    scheffe = np.sqrt(4 * stats.f.ppf(0.95, 4, 236)) / stats.t.ppf(0.975, 236)
    assert 1.1 < wider.iloc[0] < scheffe
    assert frame.index.name == "age"


def test_several_columns_add_up_and_are_shown_at_the_means_of_others():
    X, model = fit()
    effects = model.effects(["age", "place"], df=1)
    at = effects.at(X)["coef"]
    average = effects.result.coef["average"]
    np.testing.assert_allclose(at.mean(), average, rtol=1e-10)
    places = effects.to_frame().loc[[f"place={p}" for p in ("north", "south", "west")], "coef"]
    shares = X["place"].value_counts(normalize=True)[["north", "south", "west"]]
    np.testing.assert_allclose(places.to_numpy() @ shares.to_numpy(), average, rtol=1e-10)
    # The effect in a row: that of its place, plus how far its age moves it from the average.
    line = natural_spline(X["age"].to_numpy(), effects.basis.columns[0].knots)[:, 1]
    own = effects.result.coef.iloc[1] * (line - line.mean())
    expected = places[("place=" + X["place"]).to_numpy()].to_numpy() + own
    np.testing.assert_allclose(at, expected, rtol=1e-9)
    assert effects.heterogeneity_test("place").df_num == 2
    assert "not by place" in effects.summary()


def test_columns_passed_as_data_are_the_same_as_names():
    X, model = fit()
    expected = model.effects("place").to_frame()
    for by in (X["place"], X[["place"]], X["place"].astype("category")):
        pd.testing.assert_frame_equal(model.effects(by).to_frame(), expected)
    bins = model.effects("age", bins=[40]).result.coef.to_numpy()
    cut = model.effects(pd.cut(X["age"], [0, 39.999999, 100])).result.coef.to_numpy()
    np.testing.assert_array_equal(cut, bins)
    np.testing.assert_array_equal(model.effects(X["age"].to_numpy() >= 40).result.coef, bins)


def test_quantile_bins_have_about_as_many_rows_each():
    _, model = fit()
    assert model.effects("age", bins=4).to_frame()["rows"].tolist() == [60] * 4


def test_rows_of_weight_zero_do_not_count():
    X, y = data()
    w = (np.arange(240) < 200).astype(float)
    model = dn.PartiallyLinear("d1", LinearRegression(), crossfit=None, method="robinson")
    whole = model.fit(X, y, sample_weight=w).effects("place")
    part = model.fit(X[:200], y[:200]).effects("place")
    pd.testing.assert_frame_equal(whole.to_frame(), part.to_frame())


def test_effects_of_a_model_from_a_file_need_the_rows_of_fit(tmp_path):
    X, model = fit()
    model.save(tmp_path / "model.npz")
    loaded = dn.load(tmp_path / "model.npz")
    expected = model.effects("place").to_frame()
    pd.testing.assert_frame_equal(loaded.effects("place", X=X).to_frame(), expected)
    pd.testing.assert_frame_equal(model.effects("place", X=X).to_frame(), expected)
    with pytest.raises(InputError, match="files of models do not contain"):
        loaded.effects("place")
    with pytest.raises(InputError, match="another order"):
        loaded.effects("place", X=X[::-1])
    with pytest.raises(LengthError, match="240 rows of fit"):
        loaded.effects("place", X=X[:100])
    again = tmp_path / "again.npz"
    loaded.save(again)
    pd.testing.assert_frame_equal(dn.load(again).effects("place", X=X).to_frame(), expected)


@pytest.mark.parametrize("how", ["texts", "bins", "line"])
def test_effects_are_saved_and_loaded(how, tmp_path):
    _, model = fit(["d1", "d2"])
    effects = model.effects(**HOW[how][0])
    effects.save(tmp_path / "effects.npz")
    loaded = dn.load(tmp_path / "effects.npz")
    pd.testing.assert_frame_equal(loaded.to_frame(joint=True), effects.to_frame(joint=True))
    assert loaded.summary() == effects.summary()


def test_formulas_vary_by_their_variables_not_by_coded_columns(tmp_path):
    X, y = data()
    model = dn.plm(
        "wage ~ d1 | bs(age, df=4) + C(place) + old", X.assign(wage=y), LinearRegression()
    )
    assert list(model.effects("place").result.names) == ["place=north", "place=south", "place=west"]
    curve = model.effects("age").to_frame()
    model.save(tmp_path / "fit.npz")
    pd.testing.assert_frame_equal(dn.load(tmp_path / "fit.npz").effects("age").to_frame(), curve)
    with pytest.raises(UnknownColumnError, match="variables of the formula's controls"):
        model.effects("d1")


def test_debinet_takes_the_rows_of_estimation():
    found = dn.datasets.make_table2(n=300, p=12, k=2, random_state=0)
    model = dn.DebiNet(dn.Lasso(penalty=0.5), "linear", random_state=0).fit(found.X, found.y)
    effects = model.effects("x5", bins=2)
    pd.testing.assert_frame_equal(
        model.effects("x5", bins=2, X=found.X).to_frame(), effects.to_frame()
    )
    assert effects.result.n == len(model.estimation_rows_)
    nothing = dn.DebiNet(dn.Lasso(penalty=1e6), "linear", random_state=0).fit(found.X, found.y)
    with pytest.raises(EmptyInputError, match="nothing was selected"):
        nothing.effects("x5")


def wrong_rows(model, X):
    return model.effects(X["place"][:50])


REFUSED = [
    (lambda m, X: m.effects("d1"), OptionError, "the treatment 'd1'"),
    (lambda m, X: m.effects("agee"), UnknownColumnError, "Did you mean 'age'"),
    (lambda m, X: m.effects(3), InputError, "the name of a control"),
    (lambda m, X: m.effects(["age", "age"]), OptionError, "once"),
    (lambda m, X: m.effects("age", bins=[1.0]), OptionError, "inside the range"),
    (lambda m, X: m.effects("age", bins=[40, 30]), OptionError, "increasing cuts"),
    (lambda m, X: m.effects("age", bins="many"), OptionError, "increasing cuts"),
    (lambda m, X: m.effects("age", bins=1), OptionError, "at least 2"),
    (lambda m, X: m.effects("age", df=0), OptionError, "at least 1"),
    (lambda m, X: m.effects("age", bins=60), TooFewRowsError, "in every group"),
    (lambda m, X: m.effects((X["age"] // 10).rename("tens"), df=9), OptionError, "at most"),
    (wrong_rows, LengthError, "240"),
    (lambda m, X: m.effects(X["age"] * 0 + 1, df=2), InputError, "varies"),
    (lambda m, X: m.effects(X[["age"]].assign(b=X["age"] * 2), df=1), CollinearError, "its own"),
    (lambda m, X: m.effects("age").contrasts(), OptionError, "groups, for contrasts"),
    (lambda m, X: m.effects("old").contrasts("old=7"), OptionError, "reference among"),
    (lambda m, X: m.effects("old").at({"old": [7]}), InputError, "values of 'old'"),
    (lambda m, X: m.effects("old").at({"young": [7]}), InputError, "with the columns old"),
    (lambda m, X: m.effects("age").at({"age": [np.nan]}), InputError, "finite"),
    (lambda m, X: m.effects("age").heterogeneity_test("age"), OptionError, "add up"),
    (lambda m, X: m.effects("old").to_frame(95), OptionError, "level"),
]


@pytest.mark.parametrize(("call", "error", "text"), REFUSED)
def test_what_is_refused(call, error, text):
    X, model = fit()
    with pytest.raises(error, match=text):
        call(model, X)


@pytest.mark.parametrize("change", ["huber", "correct_measurement_error"])
def test_other_last_stages_are_refused(change):
    _, model = fit(method="robinson")
    other = getattr(model.result_, change)(*([0.01] if "error" in change else []))
    with pytest.raises(OptionError, match="own result_"):
        estimate_effects(other, {"half": np.arange(240.0) % 2})


def test_streamed_fits_have_no_rows():
    X, y = data(300)
    frame = X.drop(columns="place").assign(y=y)
    model = dn.PartiallyLinear("d1", random_state=0).fit_stream(frame, "y")
    with pytest.raises(CovarianceError, match="effects that vary"):
        model.effects("old")


def test_tables_escape_names_and_plots_have_a_panel_for_each_treatment_and_column():
    X, y = data()
    X = X.rename(columns={"place": "<b>_$"})
    model = dn.PartiallyLinear(["d1", "d2"], LinearRegression(), random_state=0).fit(X, y)
    effects = model.effects(["<b>_$", "age"])
    assert "<b>" not in effects.to_html() + effects.to_markdown()
    assert r"\_\$" in effects.to_latex("caption" and 0.9)
    figure = effects.plot()
    shown = [ax for ax in figure.axes if ax.axison]
    assert len(shown) == 4
    figure.canvas.draw()
    assert "F(5, 2" in effects.summary() or "the same for all" in effects.summary()
    assert "Effect of d1, d2 on wage" in repr(effects)


def test_a_fit_is_not_changed_by_its_effects():
    _, model = fit(learner="wide")
    before = model.result_.summary()
    model.effects("age")
    assert model.result_.summary() == before
