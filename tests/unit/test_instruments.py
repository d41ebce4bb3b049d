"""Instruments: columns, formulas, files, summaries, trust, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from command_line import debinet
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression

import debinet as dn
from debinet.exceptions import (
    CollinearError,
    CovarianceError,
    DuplicateColumnError,
    FormulaError,
    InputError,
    NoInstrumentsError,
    OptionError,
    UnknownColumnError,
)
from debinet.inference.interval_union import IntervalUnion

CONTROLS = ["z1", "z2"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(7)
    n = 120
    Z, W, u = rng.normal(size=(n, 2)), rng.normal(size=(n, 3)), rng.normal(size=n)
    d = W @ [0.8, 0.6, 0.3] + np.sin(Z[:, 0]) + u + rng.normal(size=n)
    x = Z[:, 1] + rng.normal(size=n)
    y = d - x + np.abs(Z[:, 0]) + u
    columns = {
        "d": d,
        "x": x,
        "w1": W[:, 0],
        "w2": W[:, 1],
        "w3": W[:, 2],
        "z1": Z[:, 0],
        "z2": Z[:, 1],
        "y": y,
    }
    coast = np.where(W[:, 0] > 0, "east", np.where(W[:, 1] > 0, "south", "west"))
    return pd.DataFrame(columns).assign(coast=coast, firm=np.arange(n) // 6)


def fit(
    frame,
    treatments="d",
    instruments=("w1", "w2"),
    learner=None,
    crossfit=None,
    columns=None,
    **options,
):
    model = dn.PartiallyLinear(
        treatments,
        LinearRegression() if learner is None else learner,
        instruments=list(instruments) if isinstance(instruments, tuple) else instruments,
        crossfit=crossfit,
        random_state=0,
        **options,
    )
    names = columns or ([treatments] if isinstance(treatments, str) else list(treatments))
    columns = [*names, *([instruments] if isinstance(instruments, str) else instruments), *CONTROLS]
    present = [name for name in dict.fromkeys(columns) if name in frame]
    return model.fit(frame[present], frame["y"])


# doors


def test_the_default_learner_holds_everything_out_at_once(frame, tmp_path):
    model = fit(frame, learner="wide", crossfit="auto")
    result = model.result_
    assert "weak instruments" in str(model.trust())
    model.report(tmp_path / "page.html")
    assert list(model.relevance_.index) == CONTROLS
    assert result.provenance.method == "2sls"
    assert result.provenance.cross_fitting.kind == "leave-one-out"
    assert result.vcov_type == "HC1"
    low, high = result.confint().loc["d"]
    assert low < 1 < high


def test_any_learner_and_folds(frame):
    forest = RandomForestRegressor(n_estimators=10, random_state=0)
    result = fit(frame, learner=forest, crossfit=(3, 2)).result_
    assert len(result.regressions) == 2
    np.testing.assert_allclose(
        result.iv.anderson_rubin(0.7).statistic,
        np.median([fit_.iv.anderson_rubin(0.7).statistic for fit_ in split(result)]),
    )


def split(result):
    from dataclasses import replace

    return [replace(result, regressions=(one,)) for one in result.regressions]


def test_arrays_and_frames_give_the_same(frame):
    columns = ["d", "w1", "z1", "w2", "z2"]
    model = dn.PartiallyLinear(0, LinearRegression(), instruments=[1, 3], crossfit=None)
    X = frame[columns].to_numpy()
    model.fit(X, frame["y"].to_numpy())
    named = fit(frame)
    np.testing.assert_allclose(model.coef_, named.coef_)
    assert model.result_.provenance.instrumented.instruments == ("x1", "x3")
    assert model.result_.provenance.control_columns == ("x2", "x4")
    # Predictions do not need the instruments.
    np.testing.assert_allclose(model.predict(X), model.predict(X[:, [0, 2, 4]]))
    with pytest.raises(InputError, match="columns of fit"):
        model.predict(X[:, :2])
    rows = X.tolist()
    np.testing.assert_allclose(model.fit(rows, frame["y"].tolist()).predict(rows), model.predict(X))
    np.testing.assert_allclose(model.coef_, named.coef_)
    polars = pl.from_pandas(frame[["d", "w1", "w2", *CONTROLS]])
    other = dn.PartiallyLinear("d", LinearRegression(), instruments=["w1", "w2"], crossfit=None)
    np.testing.assert_allclose(other.fit(polars, frame["y"].to_numpy()).coef_, named.coef_)


def test_predictions_need_no_instruments(frame):
    model = fit(frame, ["d", "x"], endogenous="d")
    every = model.predict(frame[["d", "x", "w1", "w2", *CONTROLS]])
    np.testing.assert_allclose(model.predict(frame[["d", "x", *CONTROLS]]), every)
    np.testing.assert_allclose(model.predict(frame), every)
    assert list(model.feature_names_in_) == ["d", "x", *CONTROLS]


def test_integer_labels_of_frames_are_labels(frame):
    data = frame[["w1", "d", "w2", *CONTROLS]].set_axis([10, 11, 12, 13, 14], axis=1)
    model = dn.PartiallyLinear(11, LinearRegression(), instruments=[10, 12], crossfit=None)
    np.testing.assert_allclose(model.fit(data, frame["y"]).coef_, fit(frame).coef_)


def test_controls_groups_and_weights_by_name(frame):
    model = dn.PartiallyLinear("d", LinearRegression(), instruments=["w1", "w2"], crossfit=None)
    data = frame.drop(columns="y")
    result = model.fit(data, frame["y"], controls=CONTROLS, groups="firm").result_
    np.testing.assert_allclose(result.estimate, fit(frame).coef_)
    assert result.vcov_type == "cluster"
    assert result.df == 19
    with pytest.raises(OptionError, match="controls that are not instruments"):
        model.fit(data, frame["y"], controls=["w1", "z1"])


def test_a_category_is_a_set_of_instruments(frame):
    model = fit(frame, instruments="coast")
    assert model.result_.provenance.instrumented.instruments == ("coast[south]", "coast[west]")
    assert "the instrument 'coast' is categorical: compared with 'east'" in model.summary()
    other = fit(frame, instruments="coast", ref={"coast": "west"})
    assert other.result_.provenance.instrumented.instruments == ("coast[east]", "coast[south]")
    np.testing.assert_allclose(other.coef_, model.coef_)


def test_an_exogenous_treatment_is_its_own_instrument(frame):
    some = fit(frame, ["d", "x"], endogenous=["d"])
    rows = some.result_.regressions[0]
    np.testing.assert_allclose(rows.R_D[:, 1] @ rows.residuals, 0, atol=1e-10)
    np.testing.assert_allclose(rows.fitted[:, 1], rows.R_D[:, 1])
    assert some.result_.iv.endogenous == ("d",)
    assert list(some.result_.iv.confidence_set().index) == ["d", "x"]
    np.testing.assert_array_equal(some.result_.regressions[0].endogenous, [True, False])


REFUSED = {
    "a treatment": ({"instruments": ("d",)}, DuplicateColumnError, "as both"),
    "a missing column": ({"instruments": ("w9",)}, UnknownColumnError, "instruments"),
    "too few": (
        {"treatments": ["d", "x"], "instruments": ("w1",)},
        OptionError,
        "as many instruments",
    ),
    "a method without": ({"method": "joint"}, OptionError, "'2sls'"),
    "an unknown endogenous": ({"endogenous": "z1"}, UnknownColumnError, "endogenous"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, frame):
    options, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        fit(frame, **options)


def test_columns_of_the_same_name(frame):
    data = frame[["d", "w1", "z1", "z2"]].set_axis(["d", "w1", "z1", "z1"], axis=1)
    with pytest.raises(DuplicateColumnError, match="own name"):
        dn.PartiallyLinear("d", instruments="w1").fit(data, frame["y"])


def test_no_instruments(frame):
    X, y = frame[["d", *CONTROLS]], frame["y"]
    for options, text in (
        ({"method": "liml"}, "instruments for method='liml'"),
        ({"endogenous": "d"}, "instruments for endogenous treatments"),
        ({"instruments": []}, "at least one instrument"),
    ):
        with pytest.raises(OptionError, match=text):
            dn.PartiallyLinear("d", LinearRegression(), **options).fit(X, y)
    result = dn.PartiallyLinear("d", LinearRegression()).fit(X, y).result_
    with pytest.raises(NoInstrumentsError, match="with instruments"):
        result.iv.first_stage()
    with pytest.raises(OptionError, match="no instruments, for streamed data"):
        dn.PartiallyLinear("d", instruments=["w1"]).fit_stream(frame, "y")


def test_instruments_that_say_nothing(frame):
    data = frame.assign(w1=frame["z1"] + 2 * frame["z2"])
    with pytest.raises(CollinearError, match="instruments that vary given the controls"):
        fit(data, instruments=("w1",))
    data = frame.assign(v=2 * frame["w1"] + frame["w2"])
    with pytest.raises(CollinearError, match="instruments that are linearly independent"):
        fit(data, instruments=("w1", "w2", "v"))


def test_instruments_that_are_almost_sums_of_each_other(frame):
    data = frame.assign(v=frame["w1"] + frame["w2"] + 1e-7 * frame["w3"])
    with pytest.raises(CollinearError, match="instruments that differ by more than rounding"):
        fit(data, instruments=("w1", "w2", "v"))


def test_what_is_not_defined_with_instruments(frame):
    model = fit(frame, crossfit=5)
    result, X = model.result_, frame[["d", *CONTROLS]]
    for call in (
        lambda: model.predict(X, interval=0.9),
        lambda: model.benchmark(["z1"], X, frame["y"]),
        lambda: model.effects("z1"),
        lambda: model.individual_effects("d"),
        lambda: model.average_effects("d"),
        result.sensitivity,
        result.huber,
        result.correct_measurement_error,
        lambda: result.confint(honest=True),
    ):
        with pytest.raises(OptionError, match="without instruments"):
            call()
    for kind in ("full", "HC2"):
        with pytest.raises(OptionError, match="vcov"):
            result.with_vcov(kind)
    with pytest.raises(CovarianceError, match="groups"):
        result.with_vcov("cluster")


def test_doses_among_the_treatments(frame, tmp_path):
    exogenous = fit(frame, [dn.Dose("x", df=2), "d"], endogenous="d", columns=["x", "d"])
    assert exogenous.result_.names == ("x", "x[2]", "d")
    assert exogenous.result_.provenance.instrumented.endogenous == ("d",)
    assert "no effect" in exogenous.result_.dose("x").summary()
    formula = plm("y ~ dose(x, df=2) | z1 + z2 | d ~ w1 + w2", frame)
    np.testing.assert_allclose(formula.coef_, exogenous.coef_)
    curved = plm("y ~ x | z1 + z2 | dose(d, df=2) ~ w1 + w2 + I(w1**2)", frame)
    assert curved.result_.provenance.instrumented.endogenous == ("d", "d[2]")
    for model in (exogenous, formula, curved):
        model.save(tmp_path / "model.npz")
        loaded = dn.load(tmp_path / "model.npz")
        np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(OptionError, match="at least as many instruments"):
        plm("y ~ x | z1 + z2 | dose(d, df=4) ~ w1 + w2", frame)


# results


def test_everything_that_results_offer(frame, tmp_path):
    model = fit(frame, ["d", "x"], ("w1", "w2"), endogenous="d", method="liml")
    result = model.result_
    assert result.wald_test("d = 1, x = -1").df_num == 2
    assert (result.confint(joint=True)["lower"] < result.confint()["lower"]).all()
    np.testing.assert_allclose(result.resid, result.regressions[0].residuals)
    path = tmp_path / "model.npz"
    model.save(path)
    loaded = dn.load(path)
    assert loaded.summary() == model.summary()
    assert str(loaded.trust()) == str(model.trust())
    X = frame[["d", "x", *CONTROLS]]
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    model.report(tmp_path / "page.html")
    assert "weak instruments" in (tmp_path / "page.html").read_text()


def test_hc3_leaves_out_rows_given_the_first_stage(frame):
    """With one instrument this is the exact jackknife of the ratio of two sums."""
    result = fit(frame, instruments=("w1",)).result_
    rows = result.regressions[0]
    y, d, w = rows.R_y, rows.R_D[:, 0], rows.R_W[:, 0]
    without = np.array([np.delete(w * y, i).sum() / np.delete(w * d, i).sum() for i in range(120)])
    e = rows.residuals / (1 - rows.leverage)
    # b - b(i) = w_i e_i / (1 - h_i) / sum(w d)
    np.testing.assert_allclose(result.estimate - without, w * e / (w @ d))
    variance = ((w * e) ** 2).sum() / (w @ d) ** 2
    np.testing.assert_allclose(result.with_vcov("HC3").covariance, [[variance]])


def test_jackknife_instruments_leave_out_the_row(frame):
    fitted = fit(frame, method="jive").result_
    rows = fitted.regressions[0]
    d, W = rows.R_D[:, 0], rows.R_W
    others = []
    for i in range(len(d)):
        keep = np.arange(len(d)) != i
        others.append(W[i] @ np.linalg.lstsq(W[keep], d[keep], rcond=None)[0])
    np.testing.assert_allclose(rows.left_out[:, 0], others)
    np.testing.assert_allclose(fitted.estimate, others @ rows.R_y / (others @ d))
    # Tests are those of the instruments themselves.
    np.testing.assert_allclose(
        fitted.iv.anderson_rubin(0.5).statistic,
        fit(frame).result_.iv.anderson_rubin(0.5).statistic,
    )


def test_jackknife_ar_is_its_formula(frame):
    """Mikusheva and Sun's statistic by double sums."""
    result = fit(frame, instruments=("w1", "w2", "w3")).result_
    rows, b = result.regressions[0], 0.8
    e = rows.R_y - rows.R_D[:, 0] * b
    P = rows.R_W @ np.linalg.inv(rows.R_W.T @ rows.R_W) @ rows.R_W.T
    M, n, K = np.eye(len(e)) - P, len(e), 3
    above = sum(P[i, j] * e[i] * e[j] for i in range(n) for j in range(n) if i != j)
    Me = M @ e
    phi = 0.0
    for i in range(n):
        for j in range(n):
            if i != j:
                weight = P[i, j] ** 2 / (M[i, i] * M[j, j] + M[i, j] ** 2)
                phi += 2 / K * weight * e[i] * Me[i] * e[j] * Me[j]
    test = result.iv.jackknife_ar(b)
    np.testing.assert_allclose(test.statistic, above / np.sqrt(K * phi))
    found = result.iv.jackknife_set(0.9)
    for value in np.linspace(-3, 4, 71):
        assert (result.iv.jackknife_ar(value).pvalue >= 0.1) == (value in found)


def test_the_jackknifed_test_is_not_for_clusters(frame):
    result = fit(frame).result_.with_vcov("cluster", frame["firm"])
    for call in (result.iv.jackknife_ar, result.iv.jackknife_set):
        with pytest.raises(CovarianceError, match="independent rows"):
            call()


def test_too_few_clusters_for_the_instruments(frame):
    """Two clusters cannot give the moments of three instruments a covariance."""
    result = fit(frame, instruments=("w1", "w2", "w3")).result_
    few = result.with_vcov("cluster", np.arange(120) % 2)
    with pytest.raises(CovarianceError, match="too few clusters"):
        few.iv.confidence_set()
    assert "too few clusters" in few.summary()
    assert np.isnan(few.iv.first_stage().loc["d", "F"])
    both = fit(frame, ["d", "x"], ("w1", "w2", "w3")).result_
    checks = both.with_vcov("cluster", np.arange(120) % 2).trust().to_frame()
    assert checks.loc["weak instruments", "verdict"] == "not known"
    assert few.trust().to_frame().loc["Anderson-Rubin sets", "verdict"] == "not known"


def test_tf_is_for_one_instrument(frame):
    one = fit(frame, instruments=("w3",)).result_.iv.tf().loc["d"]
    assert one["critical"] > 1.96
    np.testing.assert_allclose((one["lower"] + one["upper"]) / 2, one["coef"])
    with pytest.raises(OptionError, match="one instrument"):
        fit(frame).result_.iv.tf()


def test_sets_of_some_treatments(frame):
    iv = fit(frame, ["d", "x"]).result_.iv
    assert list(iv.confidence_set(treatments=["x"]).index) == ["x"]
    with pytest.raises(UnknownColumnError, match="They are d, x"):
        iv.confidence_set(treatments=["z1"])


def test_values_of_a_joint_test(frame):
    iv = fit(frame, ["d", "x"]).result_.iv
    by_name = iv.anderson_rubin({"x": -1.0, "d": 1.0})
    assert by_name == iv.anderson_rubin([1.0, -1.0])
    with pytest.raises(InputError, match="values of d, x"):
        iv.anderson_rubin({"d": 1.0})
    with pytest.raises(InputError, match="shape"):
        iv.anderson_rubin([1.0])


@pytest.mark.parametrize(
    ("intervals", "kind", "text"),
    [
        ((), "empty", "empty"),
        (((0.5, 1.25),), "interval", "[0.5, 1.25]"),
        (((0.5, 1.25), (2.0, 3.0)), "union", "[0.5, 1.25] or [2, 3]"),
        (((-np.inf, 1.0), (2.0, np.inf)), "unbounded", "(-inf, 1] or [2, inf)"),
        (((-np.inf, np.inf),), "everything", "(-inf, inf)"),
    ],
)
def test_sets_say_their_shape(intervals, kind, text):
    one = IntervalUnion(intervals)
    assert (one.kind, str(one)) == (kind, text)
    assert (1.0 in one) == (kind != "empty")


def test_trust_warns_of_weak_instruments(frame):
    rng = np.random.default_rng(0)
    weak = frame.assign(w1=rng.normal(size=120), w2=rng.normal(size=120))
    checks = fit(weak).trust().to_frame()
    assert checks.loc["weak instruments", "verdict"] == "do not trust"
    assert checks.loc["Anderson-Rubin sets", "verdict"] == "do not trust"
    strong = fit(frame).trust().to_frame()
    assert strong.loc["weak instruments", "verdict"] == "ok"
    assert strong.loc["Anderson-Rubin sets", "verdict"] == "ok"


def test_trust_warns_of_instruments_that_disagree(frame):
    data = frame.assign(y=frame["y"] + 3 * frame["w3"])
    checks = fit(data, instruments=("w1", "w2", "w3")).trust().to_frame()
    assert checks.loc["instruments agree", "verdict"] == "do not trust"
    assert "no value fits" in checks.loc["Anderson-Rubin sets", "advice"]
    assert fit(data, instruments=("w1",)).trust().to_frame().loc[
        "instruments agree", "verdict"
    ] == ("not known")


def test_the_plot_shows_sets_of_any_shape(frame):
    rng = np.random.default_rng(0)
    weak = frame.assign(w1=rng.normal(size=120))
    for data in (frame, weak):
        iv = fit(data, instruments=("w1",)).result_.iv
        ax = iv.plot()
        assert "Anderson-Rubin set" in [text.get_text() for text in ax.get_legend().get_texts()]
    low, high = ax.get_xlim()
    assert np.isfinite([low, high]).all()


# formulas


def plm(formula, frame, **options):
    return dn.plm(formula, frame, LinearRegression(), crossfit=None, **options)


def test_a_formula_as_fixest_users_write_it(frame, tmp_path):
    expected = fit(frame, ["x", "d"], endogenous="d")
    for formula in (
        "y ~ x + d | z1 + z2 | d ~ w1 + w2",
        "y ~ x | z1 + z2 | d ~ w1 + w2",
    ):
        model = plm(formula, frame)
        np.testing.assert_allclose(model.coef_, expected.coef_)
        np.testing.assert_allclose(
            model.predict(frame.drop(columns=["y", "w1", "w2"])), expected.predict(frame)
        )
    assert formula in model.summary()
    model.save(tmp_path / "model.npz")
    loaded = dn.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))


def test_controls_by_a_dot_do_not_contain_instruments(frame):
    data = frame.drop(columns=["x", "w3", "coast", "firm"])
    model = plm("y ~ 1 | . | d ~ w1 + w2", data, method="fuller")
    assert model.result_.provenance.control_columns == ("z1", "z2")
    np.testing.assert_allclose(model.coef_, fit(frame, method="fuller").coef_)


def test_transformed_instruments(frame):
    model = plm("y ~ d | z1 + z2 | d ~ C(coast) + I(w3**2)", frame)
    names = ("C(coast)[T.south]", "C(coast)[T.west]", "I(w3 ** 2)")
    assert model.result_.provenance.instrumented.instruments == names


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("y ~ d | d ~ w1", "treatments 'd', endogenous 'd', instruments 'w1' and no controls"),
        ("y ~ d | z1 | firm | d ~ w1", "'y ~ d', 'z1', 'firm', 'd ~ w1'"),
        ("y ~ d | d ~ w1 | z1", "'y ~ d', 'd ~ w1', 'z1'"),
        ("y ~ d | z1 + w1 | d ~ w1", r"controls \['z1', 'w1'\]"),
        ("y ~ d | z1 | d ~ d", r"instruments \['d'\]"),
        ("y ~ d | z1 | d ~ .", "'.' in"),
        ("y ~ d | z1 | d ~ w1 ~ w2", "one '~' in the first part"),
        ("y ~ x | z1 + d | d ~ w1", "'d' on both"),
        ("y ~ x | z1 | d ~ w1**2", "powers of sums"),
        ("y ~ x | z1 | d ~ lgo(w1)", "'lgo'"),
        ("y ~ x | z1 | d ~ dose(w1)", "not in the instruments"),
    ],
)
def test_an_ambiguous_formula_is_an_error_that_shows_its_reading(formula, text, frame):
    with pytest.raises(FormulaError, match=text):
        plm(formula, frame)


def test_an_instrument_that_is_no_column(frame):
    with pytest.raises(UnknownColumnError, match="Did you mean 'w1'"):
        plm("y ~ d | z1 | d ~ w11", frame)


def test_instruments_in_the_formula_and_as_an_option(frame):
    with pytest.raises(OptionError, match="either in the formula"):
        plm("y ~ d | z1 | d ~ w1", frame, instruments=["w2"])


# command line


def test_command_line(frame, tmp_path):
    path = tmp_path / "data.csv"
    frame.drop(columns=["coast", "firm"]).to_csv(path, index=False)
    own = ["--learner", "linear", "--crossfit", "none", "--quiet"]
    by_formula, by_columns = tmp_path / "a.npz", tmp_path / "b.npz"
    formula = ["--formula", "y ~ x | z1 + z2 | d ~ w1 + w2", "--save", by_formula]
    assert debinet("fit", path, *formula, *own).returncode == 0
    columns = ["--outcome", "y", "--treatments", "x,d", "--instruments", "w1,w2"]
    columns += ["--endogenous", "d", "--exclude", "w3", "--save", by_columns]
    assert debinet("fit", path, *columns, *own).returncode == 0
    first, second = dn.load(by_formula).result_, dn.load(by_columns).result_
    np.testing.assert_allclose(first.estimate, second.estimate)
    liml = debinet("fit", path, *columns[:-2], "--iv-method", "liml", *own[:-1])
    assert "liml" in liml.stdout
    assert "instruments     w1, w2 for d" in liml.stdout


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--formula", "y ~ d | z1", "--instruments", "w1"], "--formula names instruments"),
        (["--outcome", "y", "--treatments", "d", "--endogenous", "d"], "requires --instruments"),
        (["--outcome", "y", "--treatments", "d", "--iv-method", "liml"], "requires --instruments"),
        (["--outcome", "y", "--select", "lasso", "--instruments", "w1"], "--select"),
    ],
)
def test_command_line_refuses(options, text, frame, tmp_path):
    path = tmp_path / "data.csv"
    frame.to_csv(path, index=False)
    found = debinet("fit", path, *options)
    assert found.returncode == 2
    assert text in found.stderr
