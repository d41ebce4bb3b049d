"""Treatments that are doses: their columns, curves, formulas, files and errors."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.interpolate import CubicSpline
from sklearn.base import clone

import debinet as dn
from closeness import assert_same_fit
from debinet.data.dataset import Dataset
from debinet.data.dose_knots import choose_knots
from debinet.exceptions import (
    ColumnTypeError,
    CovarianceError,
    DuplicateColumnError,
    FormulaError,
    InputError,
    OptionError,
    UnknownColumnError,
)
from debinet.inference.reporting import write_report

N = 150
IN_SAMPLE = {"crossfit": None, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(N, 3))
    educ = np.round(12 + 2.5 * (Z[:, 0] + rng.normal(size=N)))
    X = pd.DataFrame(Z, columns=["z1", "z2", "z3"])
    X = X.assign(educ=educ, hours=np.exp(rng.normal(size=N)), union=rng.integers(0, 2, N))
    y = np.log(educ) + np.sqrt(X["hours"]) + 0.3 * X["union"] + Z @ [0.5, 1, 0]
    return X, pd.Series(y + rng.normal(size=N), name="lwage")


@pytest.fixture(scope="module")
def result(data):
    treatments = [dn.Dose("hours", df=3), "union", dn.Dose("educ")]
    return dn.PartiallyLinear(treatments, "linear", random_state=0).fit(*data).result_


def basis_of(X, y, dose, weights=None):
    schema = Dataset.from_any(X, y, dose, sample_weight=weights).schema
    return schema.doses[schema.treatments[0]]


@pytest.mark.parametrize("column", ["educ", "hours"])
@pytest.mark.parametrize("df", [2, 4, 10])
def test_columns_are_natural_cubic_splines(data, column, df):
    """Those of scipy through their values at the knots, and straight lines beyond."""
    if (column, df) == ("educ", 10):
        df = 9  # of its 16 values, some would lie very close to the end
    basis = basis_of(*data, dn.Dose(column, df))
    knots = basis.knots
    inside = np.linspace(knots[0], knots[-1], 60)
    span = knots[-1] - knots[0]
    outside = np.r_[knots[0] - [0.1 * span, 5 * span], knots[-1] + [0.1 * span, 5 * span]]
    ends = np.r_[knots[[0, 0]], knots[[-1, -1]]]
    for k, values in enumerate(basis.columns(knots).T):
        spline = CubicSpline(knots, values, bc_type="natural")
        scale = np.abs(values).max()
        np.testing.assert_allclose(basis.columns(inside)[:, k], spline(inside), atol=1e-10 * scale)
        slopes = spline(inside, 1)
        np.testing.assert_allclose(
            basis.derivatives(inside)[:, k], slopes, atol=1e-9 * np.abs(slopes).max()
        )
        line = spline(ends) + spline(ends, 1) * (outside - ends)
        np.testing.assert_allclose(basis.columns(outside)[:, k], line, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(basis.derivatives(outside)[:, k], spline(ends, 1), atol=1e-9)


def test_the_span_is_that_of_formulaic(data):
    transforms = pytest.importorskip("formulaic.transforms")
    X, y = data
    basis = basis_of(X, y, dn.Dose("hours", 4))
    lower, *inner, upper = basis.knots
    x = np.linspace(lower, upper, 80)
    known = transforms.TRANSFORMS["cr"](
        x, knots=inner, lower_bound=lower, upper_bound=upper, _state={}, _metadata=None, _spec=None
    )
    known = np.column_stack(list(getattr(known, "__wrapped__", known).values()))
    ours = np.column_stack([np.ones(x.size), basis.columns(x)])
    assert known.shape == ours.shape
    fitted = known @ np.linalg.lstsq(known, ours, rcond=None)[0]
    np.testing.assert_allclose(fitted, ours, atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_columns_are_the_dose_and_others_orthogonal_to_it(data, weighted):
    X, y = data
    w = np.random.default_rng(0).uniform(0.2, 3, N) if weighted else np.ones(N)
    read = Dataset.from_any(X, y, dn.Dose("educ"), sample_weight=w if weighted else None)
    np.testing.assert_array_equal(read.D[:, 0], X["educ"])
    centred = read.D - np.average(read.D, axis=0, weights=w)
    moments = centred.T @ (w[:, None] * centred) / w.sum()
    expected = np.diag(np.r_[moments[0, 0], 1, 1, 1])
    np.testing.assert_allclose(moments, expected, atol=1e-10)
    np.testing.assert_allclose(w @ read.D[:, 1:], 0, atol=1e-9)


def test_the_first_coefficient_is_the_slope_of_the_best_line(data):
    X, y = data
    curved = dn.PartiallyLinear([dn.Dose("educ")], "mean", **IN_SAMPLE).fit(X, y).result_
    straight = dn.PartiallyLinear(["educ"], "mean", **IN_SAMPLE).fit(X, y).result_
    assert curved.coef["educ"] == pytest.approx(straight.coef["educ"], rel=1e-10)


@pytest.mark.parametrize(
    ("values", "count", "knots"),
    [
        (np.arange(101), 3, [1, 50, 99]),
        (np.arange(101), 5, [1, 25, 50, 75, 99]),
        # a value of most rows takes one knot, and the others are quantiles of the rest
        (np.r_[np.zeros(900), np.arange(1, 101)], 5, [0, 2, 35, 67, 99]),
        (np.repeat([8, 12, 13, 16, 18], [1, 90, 3, 5, 1]), 5, [8, 12, 13, 16, 18]),
        (np.repeat(np.arange(12), 5), 11, [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11]),
    ],
)
def test_knots_are_quantiles_and_all_different(values, count, knots):
    different, mass = np.unique(values, return_counts=True)
    np.testing.assert_allclose(choose_knots(different, mass.astype(float), count), knots, atol=1)
    assert (np.diff(choose_knots(different, mass.astype(float), count)) > 0).all()


def test_whole_weights_stand_for_repeated_rows(data):
    X, y = data
    w = np.arange(N) % 3
    repeated = np.repeat(np.arange(N), w)
    model = dn.PartiallyLinear([dn.Dose("hours")], "linear", **IN_SAMPLE)
    one = clone(model).fit(X, y, sample_weight=w).result_.with_vcov("HC0")
    other = clone(model).fit(X.iloc[repeated], y.iloc[repeated]).result_.with_vcov("HC0")
    np.testing.assert_allclose(one.coef, other.coef, rtol=1e-8)
    dose, twin = one.dose(), other.dose()
    np.testing.assert_allclose(dose.curve()["effect"], twin.curve()["effect"], atol=1e-8)
    assert dose.average_derivative().estimate == pytest.approx(
        twin.average_derivative().estimate, rel=1e-8
    )
    # rows without weight are as if they were not there
    kept = w > 0
    fewer = clone(model).fit(X[kept], y[kept], sample_weight=w[kept]).result_.with_vcov("HC0")
    assert dose.average_derivative().se == pytest.approx(fewer.dose().average_derivative().se)
    assert dose.summary() == fewer.dose().summary()


def test_several_doses_among_other_treatments(result):
    assert result.names == (
        *("hours", "hours[2]", "hours[3]", "union"),
        *("educ", "educ[2]", "educ[3]", "educ[4]"),
    )
    assert result.dose("educ").terms == result.names[4:]
    with pytest.raises(OptionError, match=r"'hours', 'educ', but got no name.*dose\('hours'\)"):
        result.dose()
    with pytest.raises(OptionError, match="'union'"):
        result.dose("union")


def test_a_result_without_doses(data):
    plain = dn.PartiallyLinear(["union"], "linear", random_state=0).fit(*data).result_
    with pytest.raises(OptionError, match=r"dn\.Dose"):
        plain.dose()


def test_the_curve_is_made_of_coefficients(result):
    dose = result.dose("educ")
    basis, terms = dose.observed.basis, list(dose.terms)
    at = np.array([9.0, 12.0, 15.5])
    frame = dose.curve(at, reference=10, level=0.9)
    rows = basis.columns(at) - basis.columns(np.array([10.0]))
    np.testing.assert_allclose(frame["effect"], rows @ result.coef[terms], rtol=1e-12)
    covariance = rows @ result.vcov.loc[terms, terms].to_numpy() @ rows.T
    np.testing.assert_allclose(frame["se"], np.sqrt(np.diag(covariance)), rtol=1e-12)
    # joint bands are between the pointwise ones and Bonferroni's
    joint = frame["joint_upper"] - frame["effect"]
    for level, side in ((0.9, 1), (1 - 0.1 / 3, -1)):
        half = dose.curve(at, 10, level)["upper"] - frame["effect"]
        assert (side * (joint - half) > 0).all()
    assert frame.index.name == "educ"
    step = 1e-5
    above, below = (dose.curve(at + side)["effect"].to_numpy() for side in (step, -step))
    slopes = (above - below) / (2 * step)
    np.testing.assert_allclose(dose.derivative(at)["derivative"], slopes, rtol=1e-6)


def test_the_reference_is_the_median_and_has_no_error(data, result):
    X, _ = data
    frame = result.dose("educ").curve()
    assert set(frame.index) <= set(X["educ"])
    zero = frame.loc[np.quantile(X["educ"], 0.5)]
    assert (zero.drop("supported") == 0).all()
    low, high = np.quantile(X["educ"], [0.01, 0.99], method="inverted_cdf")
    np.testing.assert_array_equal(frame["supported"], (frame.index >= low) & (frame.index <= high))
    assert len(result.dose("hours").curve()) == 101


def test_a_grid_does_not_go_to_outliers(data):
    X, y = data
    X = X.assign(hours=X["hours"].where(np.arange(N) > 0, 1e4))
    model = dn.PartiallyLinear([dn.Dose("hours")], "linear", random_state=0).fit(X, y)
    grid = model.result_.dose().curve().index
    assert grid.max() < 1.2 * np.quantile(X["hours"], 0.99)


def test_tests_are_walds(result):
    dose = result.dose("educ")
    assert dose.linearity_test() == result.wald_test(["educ[2]", "educ[3]", "educ[4]"])
    assert dose.effect_test() == result.wald_test(["educ", "educ[2]", "educ[3]", "educ[4]"])
    (line,) = [line for line in result.summary().splitlines() if line.startswith("doses")]
    assert "educ: no effect F(4, " in line
    assert "straight line F(3, " in line
    assert "hours: no effect F(3, " in line


def test_the_average_derivative_is_the_mean_slope(data, result):
    X, _ = data
    dose = result.with_vcov("HC1").dose("hours")
    at = X["hours"].to_numpy()
    slopes = dose.derivative(at)["derivative"].to_numpy()
    found = dose.average_derivative(level=0.9)
    assert found.estimate == pytest.approx(slopes.mean(), rel=1e-12)
    terms = list(dose.terms)
    a = dose.observed.basis.derivatives(at).mean(axis=0)
    V = result.with_vcov("HC1").vcov.loc[terms, terms].to_numpy()
    assert found.se**2 == pytest.approx(a @ V @ a + slopes.var() / N, rel=1e-10)
    half = (found.upper - found.lower) / 2
    assert half == pytest.approx(1.654 * found.se, rel=2e-3)  # t with about 140 degrees of freedom
    with pytest.raises(OptionError, match="level"):
        dose.average_derivative(level=95)


def bootstrapped(X, y, basis, groups, draws=1500):
    """Standard deviation of the mean derivative over samples of clusters, knots fixed."""
    rng = np.random.default_rng(0)
    rows = [np.flatnonzero(groups == g) for g in np.unique(groups)]
    hours = X["hours"].to_numpy()
    A = np.column_stack([basis.columns(hours), X[["z1", "z2"]], np.ones(len(y))])
    B = basis.derivatives(hours)
    found = []
    for _ in range(draws):
        chosen = np.concatenate([rows[k] for k in rng.integers(0, len(rows), len(rows))])
        b = np.linalg.lstsq(A[chosen], y[chosen], rcond=None)[0][: B.shape[1]]
        found.append((B[chosen] @ b).mean())
    return np.std(found)


@pytest.mark.parametrize("size", [1, 5])
def test_the_error_of_the_average_derivative_is_the_bootstraps(size):
    """By rows and by clusters. 1500 draws have 2 % error themselves, 120 clusters some more."""
    rng = np.random.default_rng(size)
    n = 120 * size * (5 if size == 1 else 1)
    groups = np.repeat(np.arange(n // size), size)
    shared = np.repeat(rng.normal(size=n // size), size)
    Z = rng.normal(size=(n, 2))
    hours = rng.uniform(0, 3, n) + 0.8 * shared + 0.5 * Z[:, 0]
    y = 2 * hours**2 + Z @ [1, -1] + shared + rng.normal(size=n)
    X = pd.DataFrame(Z, columns=["z1", "z2"]).assign(hours=hours)
    model = dn.PartiallyLinear([dn.Dose("hours", 3)], "linear", method="robinson", **IN_SAMPLE)
    fitted = model.fit(X, y, groups=groups if size > 1 else None).result_
    dose = fitted.with_vcov("cluster" if size > 1 else "HC1").dose()
    found = dose.average_derivative()
    known = bootstrapped(X, y, fitted.dose().observed.basis, groups)
    assert found.se == pytest.approx(known, rel=0.06 if size == 1 else 0.15)
    # that doses are a sample is a large part of it
    a = dose.observed.basis.derivatives(hours).mean(axis=0)
    assert known > 1.15 * np.sqrt(a @ dose.result.covariance @ a)


def test_every_covariance_carries_over(data):
    X, y = data
    groups = np.arange(N) % 20
    treatments = [dn.Dose("educ", df=3), "union"]
    model = dn.PartiallyLinear(treatments, random_state=0).fit(X, y, groups=groups)
    kinds = {kind: model.result_.with_vcov(kind) for kind in ("full", "HC1", "HC3", "cluster")}
    errors = {kind: one.dose().curve(at=15)["se"].iloc[0] for kind, one in kinds.items()}
    assert len(set(errors.values())) == 4
    assert kinds["cluster"].dose().average_derivative() != kinds["HC1"].dose().average_derivative()
    assert dn.PartiallyLinear(treatments, "linear", crossfit=(2, 3)).fit(X, y).result_.dose()


def test_too_few_clusters_are_said(data):
    X, y = data
    model = dn.PartiallyLinear([dn.Dose("educ", df=5)], "linear", random_state=0)
    few = model.fit(X, y, groups=np.arange(N) % 4).result_
    assert "straight line cannot be tested, as there are too few clusters" in few.summary()
    assert "cannot be tested" in few.dose().summary()
    with pytest.raises(CovarianceError):
        few.dose().linearity_test()


def test_new_rows_files_and_clones(data, tmp_path):
    X, y = data
    model = dn.PartiallyLinear([dn.Dose("hours"), "union"], random_state=0).fit(X, y)
    rows = X.iloc[:4]
    np.testing.assert_allclose(model.predict(rows), model.predict(X)[:4], rtol=1e-10)
    more = model.predict(rows.assign(hours=2.0)) - model.predict(rows.assign(hours=1.0))
    effect = model.result_.dose().curve(at=2.0, reference=1.0)["effect"].iloc[0]
    np.testing.assert_allclose(more, effect, rtol=1e-9)
    assert clone(model).treatments == model.treatments
    model.save(tmp_path / "model.npz")
    twin = dn.load(tmp_path / "model.npz")
    assert_same_fit(twin, model, rows)
    assert repr(twin) == repr(model)
    model.result_.save(tmp_path / "result.npz")
    read = dn.load(tmp_path / "result.npz").dose("hours")
    pd.testing.assert_frame_equal(read.to_frame(), model.result_.dose().to_frame())
    assert read.average_derivative() == model.result_.dose().average_derivative()


def test_by_position_and_from_arrays(data):
    X, y = data
    by_name = dn.PartiallyLinear([dn.Dose("hours"), "union"], "linear", random_state=0).fit(X, y)
    places = [dn.Dose(list(X).index("hours")), list(X).index("union")]
    by_place = dn.PartiallyLinear(places, "linear", random_state=0).fit(X.to_numpy(), y)
    np.testing.assert_allclose(by_place.coef_, by_name.coef_, rtol=1e-12)
    alone = dn.PartiallyLinear(dn.Dose("hours"), "linear", random_state=0).fit(X, y)
    assert alone.result_.names[1] == "hours[2]"


def test_categories_beside_doses(data):
    X, y = data
    X = X.assign(region=np.resize(["n", "s", "w"], N))
    model = dn.PartiallyLinear(["region", dn.Dose("hours", df=2)], "linear", random_state=0)
    model.fit(X, y)
    assert model.result_.names == ("region[s]", "region[w]", "hours", "hours[2]")
    np.testing.assert_array_equal(model.result_.dose().observed.values, X["hours"])
    assert "region (joint test)" in model.result_.summary()


def test_text_frames_and_plots(result, tmp_path):
    dose = result.dose("hours")
    text = dose.summary()
    for line in ("Effect of hours on lwage", "mean derivative  ", "straight line    F(2, "):
        assert line in text
    assert str(dose) == text
    assert repr(dose) == f"<DoseCurve: 'hours', 3 columns, n={N}>"
    frame = dose.to_frame(at=[1.0, 2.0])
    np.testing.assert_array_equal(frame["derivative_se"], dose.derivative([1.0, 2.0])["se"])
    for kind, label in (("curve", "effect on lwage against"), ("derivative", "derivative of the")):
        ax = dose.plot(kind)
        assert ax.get_ylabel().startswith(label)
        low, high = dose.observed.supported
        left, right = ax.get_xlim()
        assert left < low < high < right
        plt.close(ax.figure)
    _, ax = plt.subplots()
    assert dose.plot(ax=ax, at=[1.0]) is ax
    plt.close("all")
    with pytest.raises(OptionError, match="'curve', 'derivative'"):
        dose.plot("slope")


def test_the_page_of_a_result_shows_its_doses(result, tmp_path):
    write_report(result, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.index("Dose: hours") < page.index("Dose: educ")
    assert "Straight line: F(3, " in page


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"at": ["a"]}, r"at=\['a'\]"),
        ({"at": []}, "one or a list"),
        ({"at": [1, np.nan]}, "one or a list"),
        ({"at": [[1, 2]]}, "one or a list"),
        ({"reference": "median"}, "'median'"),
        ({"reference": np.inf}, "inf"),
        ({"level": 95}, "level"),
    ],
)
def test_doses_that_are_none(result, options, match):
    with pytest.raises((InputError, OptionError), match=match):
        result.dose("educ").curve(**options)


@pytest.mark.parametrize(
    ("column", "df"),
    [("educ", 1), ("educ", 11), ("educ", 2.5), ("educ", True), (None, 4), (["educ"], 4), (True, 4)],
)
def test_doses_that_cannot_be(column, df):
    with pytest.raises(OptionError, match="dose"):
        dn.Dose(column, df)


@pytest.mark.parametrize(
    ("treatments", "error", "match"),
    [
        ([dn.Dose("educ"), "educ"], DuplicateColumnError, "once"),
        ([dn.Dose("educ"), dn.Dose("educ", 5)], DuplicateColumnError, "once"),
        ([dn.Dose("eduk")], UnknownColumnError, "Did you mean 'educ'"),
        ([dn.Dose("union")], InputError, "5 different values .* but got 2. For a straight line"),
        ([dn.Dose("four")], InputError, "but got 4. Use df=3 or less"),
        ([dn.Dose("text")], ColumnTypeError, "Name 'text' itself"),
        ([dn.Dose("kind")], ColumnTypeError, "Name 'kind' itself"),
        ([dn.Dose("hours")], DuplicateColumnError, "'hours' and 'again'"),
    ],
)
def test_data_that_doses_are_refused_for(data, treatments, error, match):
    X, y = data
    X = X.assign(four=np.arange(N) % 4, text=np.resize(["a", "b", "c"], N), again=X["hours"])
    X = X.assign(kind=pd.Categorical(np.arange(N) % 7))
    if match != "'hours' and 'again'":
        X = X.drop(columns="again")
    with pytest.raises(error, match=match):
        dn.PartiallyLinear(treatments, "linear").fit(X, y)


def test_a_dose_is_no_category(data):
    for treatments, ref in (([dn.Dose("educ"), "union"], {"educ": 12}), (dn.Dose("educ"), 12)):
        with pytest.raises(OptionError, match="a dose or a category"):
            dn.PartiallyLinear(treatments, "linear", ref=ref).fit(*data)


def test_streams_take_no_doses(data):
    X, y = data
    for treatments in (dn.Dose("educ"), [dn.Dose("educ"), "union"]):
        with pytest.raises(OptionError, match="streamed"):
            dn.PartiallyLinear(treatments).fit_stream(X.assign(lwage=y), "lwage")


@pytest.mark.parametrize(
    ("term", "dose"),
    [
        ("dose(educ)", dn.Dose("educ")),
        ("dose(educ, 3)", dn.Dose("educ", 3)),
        ("dose(educ, df=3)", dn.Dose("educ", 3)),
        ("dose(`years of school`)", dn.Dose("years of school")),
        ("dose(dose, df=5)", dn.Dose("dose", 5)),
    ],
)
def test_formulas_take_doses(data, tmp_path, term, dose):
    X, y = data
    frame = X.assign(lwage=y, dose=X["educ"], region=np.resize(["n", "s"], N))
    frame["years of school"] = X["educ"]
    fit = dn.plm(f"lwage ~ {term} + union | z1 + z2", frame, "linear", random_state=0)
    frame = frame[[dose.column, "union", "z1", "z2", "lwage"]]
    known = dn.PartiallyLinear([dose, "union"], "linear", random_state=0)
    known.fit(frame.drop(columns="lwage"), y)
    np.testing.assert_allclose(fit.result_.coef, known.result_.coef, rtol=1e-9)
    assert fit.result_.names == known.result_.names
    assert fit.result_.dose().summary() == known.result_.dose().summary()
    fit.save(tmp_path / "fit.npz")
    twin = dn.load(tmp_path / "fit.npz")
    np.testing.assert_array_equal(twin.predict(frame[:5]), fit.predict(frame[:5]))


@pytest.mark.parametrize(
    ("term", "name", "compute"),
    [
        ("dose(log(educ))", "log(educ)", lambda X: np.log(X["educ"])),
        ("dose(hours - educ / 2)", "hours - educ / 2", lambda X: X["hours"] - X["educ"] / 2),
    ],
)
def test_doses_of_expressions(data, term, name, compute):
    X, y = data
    fit = dn.plm(f"lwage ~ {term} | z1 + z2", X.assign(lwage=y), "linear", random_state=0)
    dose = fit.result_.dose(name)
    np.testing.assert_allclose(dose.observed.values, compute(X))


def test_a_dot_leaves_the_dose_out(data):
    X, y = data
    fit = dn.plm("lwage ~ dose(educ) | .", X.assign(lwage=y, dose=1.0 * np.arange(N)), "linear")
    assert fit.result_.provenance.control_columns == ("z1", "z2", "z3", "hours", "union", "dose")


@pytest.mark.parametrize(
    ("formula", "error", "match"),
    [
        ("lwage ~ dose(educ):union | z1", FormulaError, "term of its own"),
        ("lwage ~ dose(educ) * union | z1", FormulaError, "term of its own"),
        ("lwage ~ log(dose(educ)) | z1", FormulaError, "term of its own"),
        ("lwage ~ dose(educ) + educ | z1", DuplicateColumnError, "another term"),
        ("lwage ~ dose(educ) + dose(educ, 3) | z1", DuplicateColumnError, "another term"),
        ("lwage ~ dose(educ, df=25) | z1", OptionError, "from 2 to 10"),
        ("lwage ~ dose(educ, degree=2) | z1", FormulaError, "dose\\(variable, df=4\\)"),
        ("lwage ~ dose(educ, df=union) | z1", FormulaError, "dose\\(variable, df=4\\)"),
        ("lwage ~ dose(variable=educ) | z1", FormulaError, "dose\\(variable, df=4\\)"),
        ("lwage ~ dose() | z1", FormulaError, "dose\\(variable, df=4\\)"),
        ("lwage ~ educ | dose(hours)", FormulaError, "not in the controls"),
        ("dose(lwage) ~ educ | z1", FormulaError, "not in the outcome"),
        ("lwage ~ dose(region) | z1", FormulaError, "a dose of numbers"),
    ],
)
def test_formulas_that_are_refused(data, formula, error, match):
    X, y = data
    frame = X.assign(lwage=y, region=np.resize(["n", "s", "w"], N))
    with pytest.raises(error, match=match):
        dn.plm(formula, frame, "linear")
