"""Treatments that are categories: coded against a reference, tested together."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import debinet as dn
from closeness import assert_same_fit
from debinet.data.dataset import Dataset
from debinet.exceptions import (
    ColumnTypeError,
    ConstantColumnError,
    InputError,
    MissingValueError,
    OptionError,
    UnknownColumnError,
)

ARMS = np.resize(["b", "a", "c", "a"], 60)


@pytest.fixture
def trial(small):
    X, y = small
    return X.assign(arm=ARMS), y + 2 * (ARMS == "c")


def read(X, y, treatments=("arm",), **options):
    return Dataset.from_any(X, y, list(treatments), **options)


def test_levels_become_columns_against_the_first(trial):
    X, y = trial
    data = read(X, y, ["d1", "arm"])
    assert data.schema.treatment_names == ("d1", "arm[b]", "arm[c]")
    np.testing.assert_array_equal(data.D[:, 0], X["d1"])
    np.testing.assert_array_equal(data.D[:, 1:], np.column_stack([ARMS == "b", ARMS == "c"]))
    assert data.Z.shape == (60, 4)
    assert data.notes == ("'arm' is categorical: coefficients compare with 'a'",)


@pytest.mark.parametrize(
    ("arm", "ref", "names"),
    [
        (ARMS, {"arm": "c"}, ["arm[a]", "arm[b]"]),
        (ARMS, "b", ["arm[a]", "arm[c]"]),
        # in the order that was declared, without categories that no row has
        (pd.Categorical(ARMS, ["d", "c", "b", "a"]), None, ["arm[b]", "arm[a]"]),
        (pd.Categorical(ARMS, ["c", "a", "b"], ordered=True), None, ["arm[a]", "arm[b]"]),
        (pd.Categorical(ARMS, ["c", "a", "b"]), {"arm": "a"}, ["arm[c]", "arm[b]"]),
        (pd.array(ARMS, dtype="string"), None, ["arm[b]", "arm[c]"]),
        (pd.Categorical(np.arange(60) % 3), None, ["arm[1]", "arm[2]"]),
        (pd.Categorical(np.arange(60) % 3 / 2), None, ["arm[0.5]", "arm[1.0]"]),
        (np.resize(["2.0", "1.0", "3.0"], 60), None, ["arm[2.0]", "arm[3.0]"]),
        # whole numbers are numbers, unless they have a reference
        (np.arange(60) % 3, None, ["arm"]),
        (np.arange(60) % 3, {"arm": 1}, ["arm[0]", "arm[2]"]),
        (10.0 * (np.arange(60) % 3), {"arm": "0"}, ["arm[10]", "arm[20]"]),
        (pd.array(np.arange(60) % 3, dtype="Int64"), {"arm": 2}, ["arm[0]", "arm[1]"]),
        # truth values are 0 and 1
        (ARMS == "a", None, ["arm"]),
        (pd.array(ARMS == "a", dtype="boolean"), None, ["arm"]),
        (ARMS == "a", {"arm": True}, ["arm[0]"]),
    ],
)
def test_the_rule_of_each_kind_of_column(trial, arm, ref, names):
    X, y = trial
    assert list(read(X.assign(arm=arm), y, ref=ref).schema.treatment_names) == names


def test_polars_declares_the_order_of_an_enum(trial):
    X, y = trial
    frame = pl.from_pandas(X).with_columns(pl.col("arm").cast(pl.Enum(["c", "b", "a"])))
    assert read(frame, y.to_numpy()).schema.treatment_names == ("arm[b]", "arm[a]")
    frame = frame.with_columns(pl.col("arm").cast(pl.Categorical))
    assert read(frame, y.to_numpy()).schema.treatment_names == ("arm[b]", "arm[c]")


@pytest.mark.parametrize(
    ("change", "ref", "error", "match"),
    [
        ({}, {"arm": "d"}, OptionError, "'a', 'b', 'c'"),
        ({}, {"z1": 0}, OptionError, "Controls need no reference"),
        ({}, ["a"], OptionError, "{'arm': 'control'}"),
        ({"arm": np.linspace(0, 1, 60)}, {"arm": 0}, ColumnTypeError, "whole numbers"),
        ({"arm": np.arange(60)}, {"arm": 0}, InputError, "identifier"),
        ({"arm": [f"p{i}" for i in range(60)]}, None, InputError, "identifier"),
        ({"arm": "a"}, None, ConstantColumnError, "one category"),
        (
            {"arm": np.linspace(0, 1, 60).round(1).astype(str)},
            None,
            ColumnTypeError,
            r"astype\(float\)",
        ),
        ({"arm": np.resize(["1,5", "2", "3"], 60)}, None, ColumnTypeError, "decimal comma"),
        ({"arm": pd.to_datetime(["2020-01-01"]).repeat(60)}, None, ColumnTypeError, "days since"),
        ({"arm": pd.to_timedelta(np.arange(60), "D")}, None, ColumnTypeError, "numeric"),
        ({"arm": pd.array([None, True] * 30, "boolean")}, None, MissingValueError, "'arm'"),
        ({"arm": pd.array([None, "a"] * 30, "string")}, None, MissingValueError, "'arm'"),
        ({"arm": pd.Categorical([None, "a", "b"] * 20)}, None, MissingValueError, "'arm'"),
    ],
)
def test_what_is_no_category_is_refused(trial, change, ref, error, match):
    X, y = trial
    with pytest.raises(error, match=match):
        read(X.assign(**change), y, ref=ref)


def test_one_reference_for_two_treatments_is_ambiguous(trial):
    with pytest.raises(OptionError, match="mapping"):
        read(*trial, ["arm", "d1"], ref="a")


def test_coefficients_and_joint_test_are_those_of_statsmodels(trial):
    formula = pytest.importorskip("statsmodels.formula.api")
    X, y = trial
    ols = formula.ols("y ~ d1 + C(arm, Treatment('b'))", X.assign(y=y)).fit(cov_type="HC0")
    options = {"crossfit": None, "random_state": 0}
    model = dn.PartiallyLinear(["d1", "arm"], "mean", ref={"arm": "b"}, **options)
    result = model.fit(X[["d1", "arm"]], y).result_.with_vcov("HC0")
    np.testing.assert_allclose(result.coef, ols.params.iloc[[3, 1, 2]], rtol=1e-10)
    np.testing.assert_allclose(result.se, ols.bse.iloc[[3, 1, 2]], rtol=1e-10)
    known = ols.f_test(np.eye(4)[1:3])
    (line,) = [line for line in result.summary().splitlines() if "joint test" in line]
    assert line.startswith("categories     arm (joint test): F(2, 56) = ")
    shown = float(line.split("=")[1].split(",")[0])
    assert shown == pytest.approx(float(known.fvalue), rel=1e-3)  # four digits are shown


def test_a_category_of_two_levels_has_no_joint_test(small):
    X, y = small
    arm = np.resize(["new", "old", "new"], 60)
    model = dn.PartiallyLinear(["arm"], "mean", ref={"arm": "old"}, random_state=0)
    result = model.fit(X.assign(arm=arm), y).result_
    assert result.names == ("arm[new]",)
    assert "joint test" not in result.summary()


def test_too_few_clusters_for_the_joint_test(trial):
    X, y = trial
    many = np.resize(list("abcdefg"), 60)
    model = dn.PartiallyLinear(["arm"], "linear", random_state=0)
    result = model.fit(X.assign(arm=many), y, groups=np.arange(60) % 4).result_
    assert "arm (6 coefficients): no joint test, as there are too few clusters" in result.summary()


@pytest.mark.parametrize("codes", [False, True])
def test_new_rows_are_coded_as_in_fit(trial, tmp_path, codes):
    X, y = trial
    if codes:
        X = X.assign(arm=X["arm"].map({"a": 0, "b": 1, "c": 2}))
    first = X["arm"].iloc[0]
    model = dn.PartiallyLinear(["arm", "d1"], "linear", ref={"arm": first}, random_state=0)
    model.fit(X, y)
    rows = X[X["arm"] == first][:3]  # not all levels
    np.testing.assert_allclose(model.predict(rows), model.predict(X)[rows.index], rtol=1e-12)
    difference = model.predict(rows.assign(arm=X["arm"].iloc[1])) - model.predict(rows)
    np.testing.assert_allclose(difference, model.coef_[0], rtol=1e-10)
    with pytest.raises(InputError, match="seen in fit"):
        model.predict(rows.assign(arm=9 if codes else "d"))
    with pytest.raises(ColumnTypeError, match="as in the data of fit"):
        model.predict(rows.assign(arm="d" if codes else 9))
    model.save(tmp_path / "model.npz")
    twin = dn.load(tmp_path / "model.npz")
    assert_same_fit(twin, model, X.iloc[:20])
    assert twin.result_.summary() == model.result_.summary()


@pytest.mark.parametrize("formula", ["y ~ d1 + arm | z1 + z2", "y ~ d1 + C(arm) | z1 + z2"])
@pytest.mark.parametrize("kind", ["text", "codes", "polars"])
def test_formulas_take_references(trial, tmp_path, formula, kind):
    X, y = trial
    data = X.assign(y=y)
    ref = "b"
    if kind == "codes":
        data, ref = data.assign(arm=X["arm"].map({"a": 0, "b": 1, "c": 2})), 1
    if kind == "polars":
        data = pl.from_pandas(data)
    model = dn.PartiallyLinear(["d1", "arm"], "linear", ref={"arm": "b"}, random_state=0)
    known = model.fit(X.drop(columns=["d2", "z3"]), y).result_
    fit = dn.plm(formula, data, "linear", ref={"arm": ref}, random_state=0)
    np.testing.assert_allclose(fit.result_.coef, known.coef, rtol=1e-9)
    (category,) = fit.result_.provenance.categories
    assert category.reference == str(ref)
    assert category.terms == fit.result_.names[1:]
    assert "(joint test): F(2, 57)" in fit.summary()
    fit.save(tmp_path / "fit.npz")
    twin = dn.load(tmp_path / "fit.npz")
    assert twin.summary() == fit.summary()
    np.testing.assert_array_equal(twin.predict(data), fit.predict(data))


def test_contrasts_of_formulas_have_a_joint_test_without_a_reference(trial):
    X, y = trial
    fit = dn.plm("y ~ C(arm, contr.sum) | z1", X.assign(y=y), "linear", random_state=0)
    (category,) = fit.result_.provenance.categories
    assert category.reference is None
    assert len(category.terms) == 2
    fit = dn.plm("y ~ C(arm, contr.treatment('c')) | z1", X.assign(y=y), "linear", random_state=0)
    assert fit.result_.provenance.categories[0].reference == "c"
    numbers = dn.plm("y ~ d1 + d1:z2 | z1", X.assign(y=y), "linear", random_state=0)
    assert numbers.result_.provenance.categories == ()


@pytest.mark.parametrize(
    ("ref", "error"),
    [({"amr": "a"}, UnknownColumnError), ({"arm": "d"}, OptionError), ("a", OptionError)],
)
def test_references_of_formulas_that_do_not_exist(trial, ref, error):
    X, y = trial
    with pytest.raises(error):
        dn.plm("y ~ arm | z1", X.assign(y=y), "linear", ref=ref)


def test_streams_take_no_categories(trial):
    X, y = trial
    with pytest.raises(OptionError, match="0/1"):
        dn.PartiallyLinear(["arm"], ref={"arm": "a"}).fit_stream(X.assign(y=y), "y")
    with pytest.raises(ColumnTypeError, match="numeric"):
        dn.PartiallyLinear(["arm"]).fit_stream(X.assign(y=y), "y")


def test_paths_of_coefficients_take_references(trial):
    pytest.importorskip("torch")
    X, y = trial
    net = dn.Net(hidden=(8,), epochs=2)
    model = dn.PartiallyLinear(["arm"], net, ref={"arm": "b"}, crossfit=2, random_state=0)
    path = dn.coefficient_path(model, X[["arm", "d1", "z1"]], y)
    assert set(path["term"]) == {"arm[a]", "arm[c]"}
