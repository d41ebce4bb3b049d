"""Average effects of 0/1 treatments: against statsmodels, brute force, and what must collapse."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.special import expit
from sklearn.linear_model import LinearRegression, LogisticRegression

import debinet as dn
from debinet.exceptions import (
    EmptyInputError,
    InputError,
    LearnerError,
    OptionError,
    TooFewRowsError,
    UnknownColumnError,
)
from debinet.inference.arms import ArmRows, averages
from debinet.inference.trimming import crump_rows


def data(n=300, seed=0, effect=1.0, arms=1):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3))
    code = (rng.uniform(size=n) < expit(Z[:, 0])) * rng.integers(1, arms + 1, size=n)
    D = (code[:, None] == np.arange(1, arms + 1)).astype(float)
    y = D @ (effect + np.arange(arms)) + Z[:, 0] + Z[:, 1] + rng.normal(size=n)
    names = ["a", "b", "c"][:arms]
    return pd.DataFrame(np.hstack([D, Z]), columns=[*names, "x", "z", "u"]), y


def fit(treatments="a", n=300, seed=0, effect=1.0, arms=1, **fitting):
    X, y = data(n, seed, effect, arms)
    model = dn.PartiallyLinear(treatments, LinearRegression(), random_state=0)
    return X, y, model.fit(X, y, **fitting)


def quick(model, **options):
    return model.average_effects(propensity=LogisticRegression(), **options)


@pytest.mark.parametrize("clustered", [False, True])
def test_the_average_is_the_regression_of_scores_on_a_constant(clustered):
    groups = np.random.default_rng(3).integers(40, size=300)
    X, y, model = fit(**({"groups": groups} if clustered else {}))
    effects = quick(model)
    rows, a = effects.rows, X["a"].to_numpy()
    g0, g1 = rows.outcomes.T
    p = rows.probabilities[:, 1]
    scores = g1 - g0 + a * (y - g1) / p - (1 - a) * (y - g0) / (1 - p)
    how = {"cov_type": "cluster", "cov_kwds": {"groups": groups}} if clustered else {}
    peer = sm.OLS(scores, np.ones(300)).fit(**(how or {"cov_type": "HC0"}))
    found = effects.to_frame().loc["ATE"]
    np.testing.assert_allclose(found["coef"], peer.params[0], rtol=1e-10)
    np.testing.assert_allclose(found["se"], peer.bse[0], rtol=1e-10)


def test_att_and_atc_average_to_ate_in_shares_of_the_arms_if_nuisances_are_the_truth():
    """By brute force, where every row has both outcomes and outcome models are exact."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0.2, 0.8, size=500)
    code = (rng.uniform(size=500) < p).astype(np.int64)
    both = rng.normal(size=(500, 2))
    y = both[np.arange(500), code]
    rows = ArmRows(code, y, both, np.column_stack([1 - p, p]), np.ones(500))
    estimate, terms = averages(rows, 1)
    tau = both[:, 1] - both[:, 0]
    # The untreated outcome of the treated is their model's, and the other way round.
    expected = [tau.mean(), tau[code == 1].mean(), tau[code == 0].mean()]
    np.testing.assert_allclose(estimate, expected, rtol=1e-12)
    np.testing.assert_allclose(terms.sum(axis=0), 0.0, atol=1e-12)


def test_the_coefficient_stands_beside_the_averages_with_its_own_error():
    _, _, model = fit()
    frame = quick(model).to_frame()
    own = model.result_.to_frame().loc["a"]
    np.testing.assert_allclose(frame.loc["overlap-weighted", "coef"], own["coef"], rtol=1e-12)
    np.testing.assert_allclose(frame.loc["overlap-weighted", "se"], own["se"], rtol=1e-9)


def test_differences_are_found_where_effects_vary_with_the_probability_only():
    X, y, model = fit(n=2000)
    assert quick(model).differences()["pvalue"].min() > 0.01
    vary = y + X["a"] * 3 * X["x"] ** 2
    changed = dn.PartiallyLinear("a", LinearRegression(), random_state=0).fit(X, vary)
    effects = quick(changed)
    frame = effects.differences()
    np.testing.assert_allclose(
        frame["coef"],
        effects.to_frame()["coef"].iloc[:3] - changed.result_.coef.iloc[0],
        rtol=1e-9,
    )
    assert frame["pvalue"].min() < 0.01
    assert "say which average is meant" in effects.summary()


def test_a_note_at_fit_says_when_the_average_differs_from_the_coefficient():
    X, y = data(n=2000)
    model = dn.PartiallyLinear("a", "spline", random_state=0).fit(X, y)
    assert not any("averaged over all rows" in note for note in model.result_.notes)
    vary = y + X["a"] * 3 * X["x"] ** 2
    changed = dn.PartiallyLinear("a", "spline", random_state=0).fit(X, vary)
    (note,) = [note for note in changed.result_.notes if "averaged over all rows" in note]
    about = float(note.split("is about ")[1].split(",")[0])
    averaged = quick(changed).to_frame().loc["ATE"]
    assert abs(about - averaged["coef"]) < 2 * averaged["se"]


@pytest.mark.parametrize("seed", range(3))
def test_crumps_rows_have_the_least_variance_of_all_thresholds(seed):
    p = np.random.default_rng(seed).beta(0.5, 0.5, size=200).clip(0.001, 0.999)
    kept = crump_rows(np.column_stack([p, 1 - p]), np.ones(200))
    v = 1 / p + 1 / (1 - p)
    variance = {t: v[v <= t].sum() / (v <= t).sum() ** 2 for t in v}
    np.testing.assert_allclose(v[kept].sum() / kept.sum() ** 2, min(variance.values()))
    # The published rule: the largest v that is kept is at most twice their mean.
    assert v[kept].max() <= 2 * v[kept].mean() < v[~kept].min() * (1 + 1e-9) + v[kept].max()
    assert crump_rows(np.full((50, 2), 0.5), np.ones(50)).all()


def test_trimming_says_how_many_rows_it_dropped():
    _, _, model = fit()
    effects = quick(model)
    trimmed = effects.trimmed(0.2)
    kept = (effects.rows.probabilities >= 0.2).all(axis=1)
    assert trimmed.dropped == 300 - kept.sum() > 0
    assert f"{trimmed.dropped} of 300 rows dropped" in trimmed.summary()
    expected, _ = averages(effects.rows.of(np.flatnonzero(kept)), 1)
    np.testing.assert_allclose(trimmed.to_frame()["coef"], expected)
    assert list(trimmed.to_frame().index) == ["ATE", "ATT", "ATC"]
    assert trimmed.n == effects.n - trimmed.dropped
    assert effects.trimmed(1e-6).dropped == 0


def test_policies_are_worth_what_their_scores_average_to():
    _, _, model = fit()
    effects = quick(model)
    frame = effects.policy_value(cost=0.5)
    g = effects.rows.outcomes
    scores = effects.rows.scores
    gains = g[:, 1] - g[:, 0] > 0.5
    expected = np.where(gains, scores[:, 1] - 0.5, scores[:, 0])
    row = frame.loc["treat if effect > cost"]
    np.testing.assert_allclose(row["value"], expected.mean())
    np.testing.assert_allclose(row["se"], sm.OLS(expected, np.ones(300)).fit(cov_type="HC0").bse[0])
    np.testing.assert_allclose(row["treated"], gains.mean())
    np.testing.assert_allclose(frame["gain"], frame["value"] - frame["value"].iloc[0])
    ate = effects.to_frame().loc["ATE", "coef"]
    np.testing.assert_allclose(frame.loc["treat all", "gain"], ate - 0.5)


def test_several_arms_are_each_compared_with_none():
    _, _, model = fit(["a", "b"], n=900, arms=2)
    effects = quick(model)
    frame = effects.to_frame(0.999)
    for name, truth in (("a", 1.0), ("b", 2.0)):
        part = frame.loc[[f"{name}: {kind}" for kind in ("ATE", "ATT", "overlap-weighted")]]
        assert ((part["lower"] < truth) & (truth < part["upper"])).all()
    assert list(effects.policy_value().index) == [
        "treat none",
        "a for all",
        "b for all",
        "best arm",
    ]
    assert effects.policy_value([0.0, 100.0]).loc["b for all", "gain"] < -90
    assert len(effects.differences()) == 6


def test_treatments_that_are_not_named_are_controls():
    X, y = data()
    X["dose"] = np.random.default_rng(5).normal(size=300) + X["a"]
    y = y + 3 * X["dose"]
    model = dn.PartiallyLinear(["a", "dose"], LinearRegression(), random_state=0).fit(X, y)
    found = quick(model, treatment="a").to_frame(0.999).loc["ATE"]
    assert found["lower"] < 1.0 < found["upper"]
    assert found["se"] < 0.4  # of the outcome, dose alone has a standard deviation of 3
    with pytest.raises(OptionError, match="other values in 'dose'"):
        quick(model)


def test_whole_weights_are_repeated_rows():
    X, y = data(120)
    times = np.random.default_rng(0).integers(1, 4, size=120)
    options = {"crossfit": None, "method": "robinson"}
    once = dn.PartiallyLinear("a", LinearRegression(), **options).fit(X, y, sample_weight=times)
    repeated = dn.PartiallyLinear("a", LinearRegression(), **options).fit(
        X.loc[X.index.repeat(times)], y.repeat(times)
    )
    found, expected = (quick(model, crossfit=None) for model in (once, repeated))
    # The solver of scikit-learn's logistic regression stops at about 1e-4.
    np.testing.assert_allclose(found.to_frame()["coef"], expected.to_frame()["coef"], rtol=1e-3)


def test_leave_one_out_needs_one_fit_per_arm_and_is_left_out():
    """The wide network predicts each row as a network fitted to the other rows of the arm."""
    X, y = data(90)
    net = dn.WideNet(skip=1.0, relevance="equal")
    model = dn.PartiallyLinear("a", net, random_state=0).fit(X, y)
    effects = quick(model)
    Z, a = X[["x", "z", "u"]].to_numpy(), X["a"].to_numpy()
    for arm in (0, 1):
        rows = np.flatnonzero(a == arm)
        whole = dn.WideNet(skip=1.0, relevance="equal").fit(Z[rows], y[rows])
        others = np.flatnonzero(a != arm)
        np.testing.assert_allclose(
            effects.rows.outcomes[others, arm], whole.predict(Z[others]), rtol=1e-8
        )
        # A row's own prediction must not depend on its outcome, up to the choice of the penalty.
        moved = y.copy()
        moved[rows[0]] += 1e-4
        again = quick(dn.PartiallyLinear("a", net, random_state=0).fit(X, moved))
        change = (again.rows.outcomes - effects.rows.outcomes)[rows, arm] / 1e-4
        assert abs(change[0]) < 0.1 * np.abs(change[1:]).max()


@pytest.mark.parametrize("learner", ["wide", "lasso", "forest"])
def test_every_learner_finds_the_effect(learner):
    X, y = data(300)
    model = dn.PartiallyLinear("a", LinearRegression(), random_state=0).fit(X, y)
    effects = model.average_effects(learner=learner)
    frame = effects.to_frame(0.999).loc[["ATE", "ATT", "ATC"]]
    assert ((frame["lower"] < 1.0) & (frame["upper"] > 1.0)).all()
    assert "LogisticNet" in effects.summary()


def test_results_repeat_and_clusters_are_not_split():
    groups = np.arange(300) // 10
    _, _, model = fit(groups=groups)
    first, second = model.average_effects(), model.average_effects()
    pd.testing.assert_frame_equal(first.to_frame(), second.to_frame())
    assert first.estimates.df == 29


def test_models_from_files_need_the_rows_of_fit(tmp_path):
    X, y, model = fit()
    effects = quick(model)
    model.save(tmp_path / "model.npz")
    loaded = dn.load(tmp_path / "model.npz")
    with pytest.raises(InputError, match="files of models do not contain"):
        quick(loaded)
    pd.testing.assert_frame_equal(quick(loaded, X=X, y=y).to_frame(), effects.to_frame())
    with pytest.raises(InputError, match="y with other values"):
        quick(loaded, X=X, y=y + 1)
    effects.save(tmp_path / "effects.npz")
    again = dn.load(tmp_path / "effects.npz")
    assert again.summary() == effects.summary()


def test_formulas_have_average_effects(tmp_path):
    X, y = data()
    model = dn.plm("y ~ a | x + z + u", X.assign(y=y), LinearRegression(), random_state=0)
    expected = quick(model).to_frame()
    model.save(tmp_path / "fit.npz")
    pd.testing.assert_frame_equal(quick(dn.load(tmp_path / "fit.npz")).to_frame(), expected)


def test_low_probabilities_are_raised_and_counted():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400) * 4
    a = (rng.uniform(size=400) < expit(3 * x)).astype(float)
    X = pd.DataFrame({"a": a, "x": x, "z": rng.normal(size=400)})
    model = dn.PartiallyLinear("a", LinearRegression(), random_state=0).fit(X, x + a)
    effects = quick(model)
    assert effects.rows.probabilities.min() == 0.01
    assert "was raised to 0.01" in effects.summary()
    assert effects.trimmed().rows.probabilities.min() > 0.01


def test_tables_and_plots_show_every_average():
    _, _, model = fit()
    effects = quick(model)
    for text in (effects.to_markdown(), effects.to_latex(), effects.to_html(), str(effects)):
        assert "ATT" in text
    assert len(effects.plot().get_yticks()) == 4
    effects.plot_overlap()
    assert "Average effects of a on y" in repr(effects)


REFUSED = [
    (lambda m: quick(m, treatment="x"), UnknownColumnError, "names of treatments"),
    (lambda m: quick(m, treatment=3), OptionError, "name of a treatment"),
    (lambda m: m.average_effects(propensity=LinearRegression()), LearnerError, "predict_proba"),
    (lambda m: quick(m).trimmed(0.9), OptionError, "at most 0.5"),
    (lambda m: quick(m).trimmed("trim"), OptionError, "crump"),
    (lambda m: quick(m).trimmed(0.499), TooFewRowsError, "after trimming"),
    (lambda m: quick(m).policy_value([1, 2]), InputError, "cost"),
    (lambda m: quick(m).trimmed(0.2).differences(), OptionError, "all rows"),
]


@pytest.mark.parametrize(("call", "error", "text"), REFUSED)
def test_what_is_refused(call, error, text):
    _, _, model = fit()
    with pytest.raises(error, match=text):
        call(model)


def test_treatments_that_are_no_arms_are_refused():
    X, y = data()
    X["b"] = 1.0 - X["a"] * (X["x"] > 0)
    model = dn.PartiallyLinear(["a", "b"], LinearRegression(), random_state=0).fit(X, y)
    with pytest.raises(OptionError, match="at most one treatment"):
        quick(model)
    X["b"] = (np.arange(300) < 5).astype(float)
    model = dn.PartiallyLinear(["b"], LinearRegression(), random_state=0).fit(X, y)
    with pytest.raises(TooFewRowsError, match="5 with 'b'"):
        quick(model)
    alone = dn.PartiallyLinear(["a"], "mean").fit(X[["a"]], y)
    with pytest.raises(EmptyInputError, match="controls"):
        quick(alone)
