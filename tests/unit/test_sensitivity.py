"""Bounds under confounders that were not measured: identities, brute force, refusals, output."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from command_line import run
from sklearn.linear_model import LinearRegression

import debinet as dn
from debinet.exceptions import (
    CovarianceError,
    EmptyInputError,
    InputError,
    LengthError,
    OptionError,
    UnknownColumnError,
)
from debinet.inference.infer import infer
from debinet.inference.methods import pooled
from debinet.inference.regression import ResidualRegression
from debinet.inference.reporting import write_report

KINDS = ("iid", "HC0", "HC1", "HC2", "HC3")
COMBINATIONS = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, -1.0]])


def residuals(n=80, seed=3):
    rng = np.random.default_rng(seed)
    R_D = rng.normal(size=(n, 2)) @ [[1.0, 0.5], [0.0, 1.0]]
    return R_D @ [0.7, -0.4] + rng.standard_t(6, size=n) * (1 + 0.3 * R_D[:, 0] ** 2), R_D


def result_of(weights=None, kind="HC0", groups=None):
    return infer([pooled(*residuals(), weights)], ["d1", "d2"], kind, groups=groups)


def brute_force_bounds(R_y, R_D, w, strength):
    """Upper bounds of all combinations, from scratch."""
    S = R_D.T @ (w[:, None] * R_D) / w.sum()
    coef = np.linalg.solve(S, R_D.T @ (w * R_y) / w.sum())
    sigma2 = (w * (R_y - R_D @ coef) ** 2).sum() / w.sum()
    nu2 = np.diag(COMBINATIONS @ np.linalg.inv(S) @ COMBINATIONS.T)
    return COMBINATIONS @ coef + strength * np.sqrt(sigma2 * nu2)


def derivatives(w, strength, step=1e-6):
    """How much the bounds change with the weight of every row, of shape (n, 3)."""
    R_y, R_D = residuals()
    found = []
    for i in range(R_y.size):
        move = step * w[i] * (np.arange(R_y.size) == i)
        up, down = (brute_force_bounds(R_y, R_D, w + s * move, strength) for s in (1, -1))
        found.append((up - down) / (2 * step))
    return np.array(found)


WEIGHTS = np.random.default_rng(1).uniform(0.5, 2.0, 80)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_standard_errors_of_bounds_by_their_derivatives(weights, side):
    """The infinitesimal jackknife is the sum of squared derivatives."""
    found = result_of(weights).sensitivity(0.2, 0.3).of(COMBINATIONS)
    strength = np.full((1, 3), found.scenario.strength)
    w = np.ones(80) if weights is None else weights
    influence = derivatives(w, side * found.scenario.strength)
    np.testing.assert_allclose(
        found.bias.errors(strength, side)[0], np.sqrt((influence**2).sum(axis=0)), rtol=1e-6
    )
    expected = brute_force_bounds(*residuals(), w, side * found.scenario.strength)
    np.testing.assert_allclose(found.bias.bounds(strength, side)[0], expected, rtol=1e-12)


@pytest.mark.parametrize("ways", [1, 2])
def test_clusters_sum_the_derivatives(ways):
    groups = np.column_stack([np.arange(80) // 8, np.arange(80) % 9])[:, :ways]
    found = result_of(kind="cluster", groups=groups).sensitivity(0.2, 0.3).of(COMBINATIONS)
    influence = derivatives(np.ones(80), found.scenario.strength)
    parts = (
        [groups[:, 0]]
        if ways == 1
        else [groups[:, 0], groups[:, 1], 100 * groups[:, 0] + groups[:, 1]]
    )
    variance = 0.0
    for sign, codes in zip((1, 1, -1), parts, strict=False):
        sums = pd.DataFrame(influence).groupby(codes).sum().to_numpy()
        count = len(sums)
        variance = variance + sign * count / (count - 1) * 79 / 78 * (sums**2).sum(axis=0)
    strength = np.full((1, 3), found.scenario.strength)
    np.testing.assert_allclose(found.bias.errors(strength, 1.0)[0], np.sqrt(variance), rtol=1e-6)


def fitted(kind):
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(90, 3))
    D = np.sin(Z[:, :2]) + rng.normal(size=(90, 2))
    y = D @ [1.0, -0.5] + Z[:, 0] ** 2 + rng.normal(size=90)
    X = pd.DataFrame(np.hstack([D, Z]), columns=["d1", "d2", "z1", "z2", "z3"])
    groups = np.arange(90) // 3 if kind.endswith("groups") else None
    weights = rng.uniform(0.5, 2, 90) if "weights" in kind else None
    learner, method = (dn.WideNet(), kind.split()[0])
    if method in {"robinson", "dml2", "iv-type"}:
        learner = LinearRegression()
    model = dn.PartiallyLinear(["d1", "d2"], learner, method=method, random_state=0)
    return model.fit(X, pd.Series(y, name="y"), groups=groups, sample_weight=weights), X, y


@pytest.mark.parametrize(
    "kind",
    [
        "joint",
        "gls",
        "structured",
        "structured groups",
        "joint weights",
        "robinson groups",
        "iv-type",
    ],
)
def test_without_a_confounder_the_intervals_are_those_of_the_result(kind):
    result = fitted(kind)[0].result_
    frame = result.sensitivity(0.0, 0.0, level=0.975).to_frame()
    bounds = result.confint(0.95)
    np.testing.assert_allclose(frame["lower_ci"], bounds["lower"], rtol=1e-10)
    np.testing.assert_allclose(frame["upper_ci"], bounds["upper"], rtol=1e-10)
    np.testing.assert_allclose(frame["lower"], result.estimate, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_every_covariance_of_a_result_serves(kind):
    result = result_of().with_vcov(kind)
    frame = result.sensitivity(0.0, 0.0, level=0.975).to_frame()
    np.testing.assert_allclose(frame["upper_ci"], result.confint()["upper"], rtol=1e-10)
    wide = result.sensitivity(0.3, 0.3).to_frame()
    assert (wide["upper_ci"] > wide["upper"]).all()


def test_whole_weights_are_repeated_rows():
    R_y, R_D = residuals()
    times = np.random.default_rng(0).integers(1, 4, R_y.size)
    weighted = result_of(times.astype(float)).sensitivity(0.1, 0.2).to_frame()
    repeated = infer(
        [pooled(np.repeat(R_y, times), np.repeat(R_D, times, axis=0))], ["d1", "d2"], "HC0"
    )
    columns = ["lower", "upper", "rv", "xrv"]
    np.testing.assert_allclose(
        weighted[columns], repeated.sensitivity(0.1, 0.2).to_frame()[columns], rtol=1e-10
    )


@pytest.mark.parametrize("null", [0.0, 0.1, 5.0, -5.0])
@pytest.mark.parametrize("rho", [1.0, -0.5])
def test_at_the_robustness_value_the_bound_is_the_null(null, rho):
    result = result_of()
    frame = result.sensitivity(rho=rho, null=null).to_frame()
    for name, row in frame.iterrows():
        side = "lower" if row["coef"] > null else "upper"
        for share, end in ((row["rv"], side), (row["rv_ci"], f"{side}_ci")):
            at = result.sensitivity(share, share, rho).to_frame().loc[name, end]
            assert at == pytest.approx(null, abs=1e-8) or share == 0
        assert result.sensitivity(1.0, row["xrv"], rho).to_frame().loc[name, side] == pytest.approx(
            null, abs=1e-8
        )
    f2 = (frame["coef"] - null) ** 2 / (rho * result.sensitivity().bias.scale[0]) ** 2
    closed = (np.sqrt(f2**2 + 4 * f2) - f2) / 2  # Cinelli and Hazlett
    np.testing.assert_allclose(frame["rv"], closed, rtol=1e-9)


def test_an_interval_that_contains_the_null_needs_no_confounder():
    result = result_of()
    near = float(result.estimate[0] - 0.5 * result.se.iloc[0])
    frame = result.sensitivity(null=near).to_frame()
    assert frame.loc["d1", "rv_ci"] == 0 < frame.loc["d1", "rv"]
    at = result.sensitivity(null=float(result.estimate[0]))
    assert at.to_frame().loc["d1", "rv"] == 0
    assert "without any confounder" in at.in_words()[0]
    assert "the interval contains" in result.sensitivity(null=near).in_words()[0]


def test_correlation_zero_moves_nothing():
    frame = result_of().sensitivity(0.5, 0.5, rho=0.0).to_frame()
    assert (frame["lower"] == frame["coef"]).all()
    assert (frame[["rv", "xrv"]] == 1).all(axis=None)


def linear_data(q=3, n=120, seed=5):
    """A confounder u of all treatments, two controls, everything linear."""
    rng = np.random.default_rng(seed)
    Z, u = rng.normal(size=(n, 2)), rng.normal(size=n)
    D = Z @ rng.normal(size=(2, q)) + np.outer(u, rng.normal(size=q)) + rng.normal(size=(n, q))
    y = D @ np.linspace(-1, 1, q) + Z.sum(axis=1) + 1.5 * u + rng.normal(size=n)
    names = [f"d{j}" for j in range(q)]
    X = pd.DataFrame(np.column_stack([D, Z, u]), columns=[*names, "z1", "z2", "u"])
    return X, pd.Series(y, name="y"), names


def linear(X, y, names):
    return dn.PartiallyLinear(names, "linear", crossfit=None).fit(X, y)


@pytest.mark.parametrize("q", [1, 3])
def test_one_linear_confounder_is_at_the_bound(q):
    """With its own shares, the bounds of every combination and the ellipsoid are exact."""
    X, y, names = linear_data(q)
    long, short = linear(X, y, names), linear(X.drop(columns="u"), y, names)
    explained, left = long.result_.sensitivity().rows, short.result_.sensitivity().rows
    cf_y = 1 - explained.noise.residual / left.noise.residual
    eta2 = 1 - 1 / np.linalg.eigvals(np.linalg.solve(explained.S, left.S)).real.max()
    region = short.result_.sensitivity(cf_y, eta2).region()
    assert region.distance(long.coef_) == pytest.approx(1, rel=1e-10)
    assert long.coef_ in region
    assert short.coef_ + 1.01 * (long.coef_ - short.coef_) not in region
    # the direction in which it moves the coefficients most, relative to what is left of them
    a = left.S @ (long.coef_ - short.coef_)
    one = short.result_.sensitivity(cf_y, eta2).of(a).to_frame().iloc[0]
    truth = float(a @ long.coef_)
    assert min(abs(one["lower"] - truth), abs(one["upper"] - truth)) < 1e-9 * abs(truth)
    box = region.box()
    frame = short.result_.sensitivity(cf_y, eta2).to_frame()
    np.testing.assert_allclose(box, frame[["lower", "upper"]], rtol=1e-10)


def test_the_outline_is_the_shadow_of_the_ellipsoid():
    region = result_of().sensitivity(0.2, 0.2).region()
    outline = region.outline("d1", "d2")
    assert [region.distance(point) for point in outline.to_numpy()] == pytest.approx([1.0] * 181)
    X, y, names = linear_data(3)
    three = linear(X, y, names).result_.sensitivity(0.2, 0.2).region()
    corner = three.outline("d2", "d0", 100_000)
    box = three.box()
    np.testing.assert_allclose(corner["d2"].max(), box.loc["d2", "upper"], rtol=1e-6)
    np.testing.assert_allclose(corner["d0"].min(), box.loc["d0", "lower"], rtol=1e-6)


@pytest.mark.parametrize(
    ("R", "as_rows", "r"),
    [
        (None, np.eye(2), None),
        (["d1"], [1.0, 0.0], None),
        ({"d1": 1.0, "d2": 1.0}, [1.0, 1.0], 0.5),
        (np.eye(2), np.eye(2), [1.0, 1.0]),
    ],
)
def test_the_region_first_touches_the_hypothesis_at_the_joint_robustness_value(R, as_rows, r):
    result = result_of()
    found = result.sensitivity().joint_robustness(R, r)
    region = result.sensitivity(found.rv, found.rv).region()
    matrix = np.atleast_2d(as_rows)
    right = np.broadcast_to(0.0 if r is None else r, len(matrix))
    # the nearest point of the hypothesis, by Lagrange multipliers
    inverse = np.linalg.inv(region.S)
    step = (
        inverse
        @ matrix.T
        @ np.linalg.solve(matrix @ inverse @ matrix.T, matrix @ result.estimate - right)
    )
    nearest = result.estimate - step
    np.testing.assert_allclose(matrix @ nearest, right, atol=1e-12)
    assert region.distance(nearest) == pytest.approx(1, rel=1e-9)
    assert found.xrv / (1 - found.xrv) == pytest.approx(found.f2)


def test_the_joint_robustness_value_of_one_coefficient_is_its_own():
    found = result_of().sensitivity(rho=0.7)
    for name, row in found.to_frame().iterrows():
        assert found.joint_robustness([name]).rv == pytest.approx(row["rv"], rel=1e-9)


def test_combinations_are_coefficients_of_other_treatments():
    R_y, R_D = residuals()
    T = np.array([[2.0, -1.0], [1.0, 1.0]])
    other = infer([pooled(R_y, R_D @ np.linalg.inv(T))], ["t1", "t2"], "HC0")
    frame = pd.DataFrame(T, columns=["d1", "d2"], index=pd.Index(["t1", "t2"], dtype=object))
    found = result_of().sensitivity(0.1, 0.2).of(frame, null=0.1)
    expected = other.sensitivity(0.1, 0.2, null=0.1)
    pd.testing.assert_frame_equal(found.to_frame(), expected.to_frame(), rtol=1e-8)
    one = result_of().sensitivity().of({"d1": 1, "d2": -2})
    assert one.names == ("d1 - 2 d2",)
    assert result_of().sensitivity().of("d2").names == ("d2",)


def test_repetitions_take_medians():
    rows = [pooled(*residuals(seed=seed)) for seed in range(3)]
    many = infer(rows, ["d1", "d2"], "HC1").sensitivity(0.2, 0.1)
    each = [infer([one], ["d1", "d2"], "HC1").sensitivity(0.2, 0.1).to_frame() for one in rows]
    frame = many.to_frame()
    for name in ("lower", "upper"):
        expected = np.median([one[name] for one in each], axis=0)
        np.testing.assert_allclose(frame[name], expected, rtol=1e-12)
    share = frame.loc["d1", "rv"]
    at = infer(rows, ["d1", "d2"], "HC1").sensitivity(share, share).to_frame()
    assert at.loc["d1", "lower"] == pytest.approx(0, abs=1e-10)


def test_a_saved_result_has_the_same_sensitivity(tmp_path):
    result = fitted("joint")[0].result_
    result.save(tmp_path / "result.npz")
    again = dn.load(tmp_path / "result.npz").sensitivity(0.1, 0.1)
    pd.testing.assert_frame_equal(again.to_frame(), result.sensitivity(0.1, 0.1).to_frame())
    assert again.summary() == result.sensitivity(0.1, 0.1).summary()


def test_both_variances_are_printed():
    found = fitted("joint weights")[0].result_.sensitivity()
    fit = found.rows.fits[0]
    assert found.noise.likelihood == pytest.approx(fit.noise**2 * fit.n / fit.w.sum())
    assert found.noise.residual == pytest.approx(np.average(fit.residuals**2, weights=fit.w))
    text = found.summary()
    assert "by residuals (used" in text
    assert "by restricted likelihood" in text
    assert "restricted likelihood" not in result_of().sensitivity().summary()


@pytest.mark.parametrize(
    "options",
    [
        {"cf_y": 1.1},
        {"cf_y": -0.1},
        {"cf_y": "much"},
        {"cf_d": 1.0},
        {"cf_d": np.nan},
        {"rho": 1.5},
        {"level": 1.0},
        {"level": 95},
    ],
)
def test_strengths_that_cannot_be_are_refused(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        result_of().sensitivity(**options)


def test_other_estimates_are_refused():
    result = result_of()
    with pytest.raises(OptionError, match="Huber"):
        result.huber().sensitivity()
    X, y, _ = dn.datasets.make_sparse_linear(100, 3, random_state=0)
    with pytest.raises(OptionError, match="desparsified"):
        dn.DebiasedLasso(random_state=0).fit(X, y).result_.sensitivity()
    corrected = replace(result, provenance=replace(result.provenance, method="robinson"))
    with pytest.raises(OptionError, match="measurement error"):
        corrected.correct_measurement_error(0.1).sensitivity()
    empty = ResidualRegression(np.ones(5), np.empty((5, 0)), np.empty(0))
    with pytest.raises(EmptyInputError, match="at least one coefficient"):
        infer([empty], [], "HC0").sensitivity()


def test_streams_keep_no_rows():
    X, y, _ = dn.datasets.make_sparse_linear(400, 3, random_state=0)
    model = dn.PartiallyLinear(["d1"], dn.TangentNet(width=20), random_state=0)
    model.fit_stream(X.assign(y=y), "y")
    with pytest.raises(CovarianceError, match="sample of the rows in memory"):
        model.result_.sensitivity()


@pytest.mark.parametrize("weights", [np.ones(3), [[np.nan, 1.0]], {"d9": 1}, [[0.0, 0.0]]])
def test_combinations_of_other_coefficients_are_refused(weights):
    with pytest.raises(InputError):
        result_of().sensitivity().of(weights)


HOSTILE = "<b>$x_{"


def test_tables_and_words_are_escaped():
    result = infer([pooled(*residuals())], [HOSTILE, "d2"], "HC0")
    found = result.sensitivity()
    assert HOSTILE not in found.to_html()
    assert "&lt;b&gt;" in found.to_html()
    assert r"\$" in found.to_latex()
    assert "&lt;b&gt;" in found.to_markdown()
    assert str(found) == found.summary()
    assert HOSTILE in found.in_words()[0]
    assert repr(found) == "<Sensitivity: 2 term(s), cf_y=0.03, cf_d=0.03>"
    found.plot().get_figure().canvas.draw()
    plt.close("all")


def test_many_coefficients_are_not_all_put_into_words():
    rng = np.random.default_rng(0)
    R_D = rng.normal(size=(50, 9))
    result = infer([pooled(rng.normal(size=50), R_D)], [f"d{j}" for j in range(9)], "HC1")
    assert len(result.sensitivity().in_words()) == 7
    assert "3 more" in result.sensitivity().in_words()[-1]


@pytest.fixture(scope="module")
def survey():
    rng = np.random.default_rng(7)
    n = 150
    region = rng.choice(["east", "north", "south"], n)
    age = rng.normal(size=n)
    inc = 0.5 * age + rng.normal(size=n)
    d = 0.8 * inc + 0.5 * (region == "north") + rng.normal(size=n)
    y = d + inc + 0.7 * (region == "north") + rng.normal(size=n)
    frame = pd.DataFrame({"d": d, "inc": inc, "age": age, "region": region})
    return frame, pd.Series(y, name="y")


def test_benchmarks_are_fits_without_the_controls(survey):
    X, y = survey
    model = dn.PartiallyLinear(["d"], LinearRegression(), random_state=0).fit(X, y)
    found = model.benchmark(["inc", ["age", "region"]], X, y)
    assert found.labels == ("inc", "age + region")
    for label, left_out in (("inc", ["inc"]), ("age + region", ["age", "region"])):
        short = dn.PartiallyLinear(["d"], LinearRegression(), random_state=0)
        rest = short.fit(X.drop(columns=left_out), y).result_
        expected, own = rest.sensitivity().rows, model.result_.sensitivity().rows
        row = found.to_frame().loc[(label, "d")]
        gain_y = expected.noise.residual / own.noise.residual - 1
        np.testing.assert_allclose(row["cf_y"], max(gain_y, 0), rtol=1e-10)
        gain_d = expected.S[0, 0] / own.S[0, 0] - 1
        np.testing.assert_allclose(row["cf_d"], max(gain_d, 0), rtol=1e-10)
        assert row["without"] == pytest.approx(rest.estimate[0])
    np.testing.assert_allclose(found.joint_cf_d()[0], found.to_frame()["cf_d"].iloc[0])


def test_benchmarks_use_the_learner_of_the_fit(survey):
    """With fewer controls, "wide" would be another network and "auto" another method."""
    X, y = survey
    model = dn.PartiallyLinear(["d"], random_state=0).fit(X[["d", "inc", "age"]], y)
    assert model.result_.provenance.method == "joint"
    found = model.benchmark("age", X[["d", "inc", "age"]], y)
    same = dn.PartiallyLinear(
        ["d"], dn.WideNet(activation="erf"), method="joint", random_state=0
    ).fit(X[["d", "inc"]], y)
    assert found.items[0].short.coef[0] == pytest.approx(same.coef_[0], rel=1e-10)
    # nothing is left: ordinary least squares
    alone = dn.PartiallyLinear(["d"], dn.WideNet(), random_state=0).fit(X[["d", "inc"]], y)
    slope = np.polyfit(X["d"], y, 1)[0]
    without = alone.benchmark(["inc"], X[["d", "inc"]], y).items[0].short
    assert without.coef[0] == pytest.approx(slope)


def test_benchmarks_keep_clusters_and_weights(survey):
    X, y = survey
    groups, weights = np.arange(150) // 3, np.random.default_rng(0).uniform(0.5, 2, 150)
    options = {"groups": groups, "sample_weight": weights}
    model = dn.PartiallyLinear(["d"], LinearRegression(), random_state=0).fit(X, y, **options)
    short = dn.PartiallyLinear(["d"], LinearRegression(), random_state=0)
    short.fit(X.drop(columns="inc"), y, **options)
    found = model.benchmark(["inc"], X, y).items[0].short
    np.testing.assert_allclose(found.coef, short.coef_, rtol=1e-12)


def test_benchmarks_become_bounds(survey):
    X, y = survey
    model = dn.PartiallyLinear(["d"], LinearRegression(), random_state=0).fit(X, y)
    found = model.benchmark({"money": "inc", "place": ["region"]}, X, y)
    result = model.result_
    several = result.sensitivity(benchmarks=[found, found.times(0.5, 0.25)])
    frame = several.benchmark_frame().droplevel("term")
    assert list(frame.index) == ["money", "place", "0.5/0.25 x money", "0.5/0.25 x place"]
    for _, row in frame.iterrows():
        expected = result.sensitivity(min(row["cf_y"], 1), row["cf_d"]).to_frame().iloc[0]
        names = ["lower", "upper", "lower_ci", "upper_ci"]
        np.testing.assert_allclose(row[names].astype(float), expected[names].astype(float))
    half = frame.loc["0.5/0.25 x money", ["cf_y", "cf_d"]] / frame.loc["money", ["cf_y", "cf_d"]]
    np.testing.assert_allclose(half.astype(float), [0.5, 0.25])
    words = several.in_words()[0]
    assert "A confounder as strong as money on both sides would take the estimate from" in words
    text, page = several.summary(), several.to_html()
    assert "0.5/0.25 x money" in text
    assert "0.5/0.25 x money" in page


def test_confounders_stronger_than_what_is_left_cannot_exist(survey):
    X, y = survey
    model = dn.PartiallyLinear(["d"], LinearRegression(), random_state=0).fit(X, y)
    found = model.benchmark(["inc"], X, y).times(50)
    sensitivity = model.result_.sensitivity(benchmarks=found)
    assert sensitivity.benchmark_frame()["lower"].isna().all()
    assert "cannot exist" in sensitivity.in_words()[0]
    sensitivity.plot()
    plt.close("all")


def test_controls_that_add_nothing_have_no_strength(survey):
    X, y = survey
    noise = np.random.default_rng(3).normal(size=len(X))
    model = dn.PartiallyLinear(["d"], LinearRegression(), random_state=0)
    model.fit(X.assign(noise=noise), y)
    found = model.benchmark(["noise"], X.assign(noise=noise), y)
    frame = found.to_frame()
    assert frame["cf_y"].iloc[0] == 0 or frame["cf_d"].iloc[0] == 0
    assert np.isnan(frame["rho"].iloc[0])
    assert "adds nothing" in model.result_.sensitivity(benchmarks=found).in_words()[0]


def test_benchmarks_that_cannot_be_are_refused(survey):
    X, y = survey
    model = dn.PartiallyLinear(["d"], LinearRegression(), random_state=0).fit(X, y)
    with pytest.raises(UnknownColumnError, match="'income'"):
        model.benchmark(["income"], X, y)
    with pytest.raises(OptionError, match="treatment 'd'"):
        model.benchmark(["d"], X, y)
    with pytest.raises(OptionError, match="empty group"):
        model.benchmark({"all": []}, X, y)
    with pytest.raises(OptionError, match="names of controls"):
        model.benchmark([], X, y)
    with pytest.raises(OptionError, match="by name"):
        model.benchmark([3], X, y)
    with pytest.raises(OptionError, match="rule"):
        model.benchmark(["inc"], X, y, rule="mine")
    with pytest.raises(OptionError, match="does not keep"):
        model.benchmark(["inc"])
    with pytest.raises(InputError, match="same order"):
        model.benchmark(["inc"], X[["d", "age", "inc", "region"]], y)
    with pytest.raises(LengthError):
        model.benchmark(["inc"], X[:100], y[:100])
    with pytest.raises(OptionError, match="benchmarks"):
        model.result_.sensitivity().benchmark_frame()
    other = dn.PartiallyLinear(["d"], LinearRegression(), random_state=0).fit(X[:90], y[:90])
    with pytest.raises(OptionError, match="same fit"):
        other.result_.sensitivity(benchmarks=model.benchmark(["inc"], X, y))
    with pytest.raises(OptionError, match="two"):
        model.benchmark(["inc"], X, y) + other.benchmark(["inc"], X[:90], y[:90])
    with pytest.raises(OptionError, match="k_y"):
        model.benchmark(["inc"], X, y).times(-1)


def test_variables_of_a_formula_stand_for_their_terms(survey, tmp_path):
    X, y = survey
    fit = dn.plm("y ~ d | inc*age + C(region)", X.assign(y=y), LinearRegression(), random_state=0)
    found = fit.benchmark(["inc", "region", "inc:age"])
    assert found.labels == ("inc", "region", "inc:age")
    assert found.items[0].controls == ("inc", "inc:age")
    assert found.items[1].controls == ("C(region)[T.north]", "C(region)[T.south]")
    short = dn.plm("y ~ d | age + C(region)", X.assign(y=y), LinearRegression(), random_state=0)
    np.testing.assert_allclose(found.items[0].short.coef, short.coef_, rtol=1e-10)
    fit.save(tmp_path / "fit.npz")
    again = dn.load(tmp_path / "fit.npz", trusted=True).benchmark("region")
    np.testing.assert_allclose(again.items[0].short.coef, found.items[1].short.coef, rtol=1e-12)
    with pytest.raises(UnknownColumnError):
        fit.benchmark("wealth")


def test_contours_show_the_null_and_the_benchmarks(survey):
    X, y = survey
    model = dn.PartiallyLinear(["d"], LinearRegression(), random_state=0).fit(X, y)
    found = model.result_.sensitivity(0.1, 0.2, benchmarks=model.benchmark(["inc"], X, y))
    ax = found.plot()
    texts = [text.get_text() for text in ax.texts]
    bound = found.benchmark_frame().iloc[0]
    assert any(text.startswith("inc (") for text in texts)
    assert any(text.startswith("no confounder (") for text in texts)
    points = np.concatenate([line.get_xydata() for line in ax.lines])
    assert np.abs(points - bound[["cf_d", "cf_y"]].to_numpy(float)).sum(axis=1).min() < 1e-12
    # the dashed line is where the bound is zero, for the estimate and for the interval
    for of, end in (("estimate", "lower"), ("interval", "lower_ci")):
        drawn = found.plot(of=of, limits=(0.6, 0.9)).collections[-1]
        assert drawn.get_linestyle()[0][1] is not None
        for cf_d, cf_y in drawn.get_paths()[0].vertices[::20]:
            at = model.result_.sensitivity(cf_y, cf_d).to_frame().iloc[0][end]
            assert at == pytest.approx(0, abs=0.02)
    assert "supposed" in [
        t.get_text().split(" (")[0] for t in result_of().sensitivity().plot("d2").texts
    ]
    with pytest.raises(OptionError, match="'d9'"):
        found.plot("d9")
    with pytest.raises(OptionError, match="of"):
        found.plot(of="t-value")
    with pytest.raises(OptionError, match="limits"):
        found.plot(limits=(1.0, 0.5))
    result_of().sensitivity(rho=0.0).plot().get_figure().canvas.draw()
    plt.close("all")


def test_a_report_has_it_where_asked_for(tmp_path):
    result = fitted("joint")[0].result_
    write_report(result, tmp_path / "with.html", sensitivity=result.sensitivity())
    write_report(result, tmp_path / "without.html")
    page = (tmp_path / "with.html").read_text()
    assert "What if something was not measured?" in page
    assert "Sensitivity of d2" in page
    assert "not measured" not in (tmp_path / "without.html").read_text()


@pytest.fixture(scope="module")
def saved(survey, tmp_path_factory):
    X, y = survey
    folder = tmp_path_factory.mktemp("command")
    X.assign(y=y).to_csv(folder / "survey.csv", index=False)
    columns = ("--outcome", "y", "--treatments", "d", "--controls", "inc,age,region")
    found = run(
        "fit", folder / "survey.csv", *columns, "--sensitivity", "--save", folder / "fit.npz",
        "--report", folder / "report.html",
    )  # fmt: skip
    assert "Sensitivity of effects on y" in found.output
    assert "What if something" in (folder / "report.html").read_text()
    return folder, columns


def test_the_command_line_says_the_same(saved, survey):
    folder, columns = saved
    result = dn.load(folder / "fit.npz").result_
    found = json.loads(
        run("fit", folder / "survey.csv", *columns, "--sensitivity", "--json").output
    )
    frame = result.sensitivity().to_frame()
    assert found["sensitivity"]["terms"][0]["rv"] == pytest.approx(frame["rv"].iloc[0], rel=1e-9)
    options = ("--cf-y", "0.1", "--cf-d", "0.2", "--null", "0.5")
    output = run("sensitivity", folder / "fit.npz", *options, "--json").output
    expected = result.sensitivity(0.1, 0.2, null=0.5).to_frame()
    terms = json.loads(output)["terms"][0]
    assert [terms[name] for name in expected] == pytest.approx(expected.iloc[0].tolist())
    picture = folder / "contours.svg"
    output = run(
        "sensitivity", folder / "fit.npz", "--data", folder / "survey.csv", "--benchmark", "inc",
        "--benchmark", "age,region", "--plot", picture,
    ).output  # fmt: skip
    assert "A confounder as strong as inc on both sides" in output
    assert "age + region" in output
    assert picture.read_text().startswith("<?xml")


def test_the_command_line_refuses_what_it_cannot_do(saved):
    folder, _ = saved
    from click import UsageError

    with pytest.raises(UsageError, match="--data"):
        run("sensitivity", folder / "fit.npz", "--benchmark", "inc")
    with pytest.raises(OptionError, match="ends in"):
        run("sensitivity", folder / "fit.npz", "--plot", folder / "contours.txt")


def test_sensitivity_takes_less_than_a_tenth_of_the_fit():
    X, y, _ = dn.datasets.make_sparse_linear(400, 5, random_state=0)
    start = time.perf_counter()
    result = dn.PartiallyLinear(["d1", "d2"], random_state=0).fit(X, y).result_
    middle = time.perf_counter()
    result.sensitivity().to_frame()
    assert time.perf_counter() - middle < 0.1 * (middle - start)
