"""Mistakes that used to give a plausible result: each is refused, or named in a note."""

import copy

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

import debinet as dn
from debinet.data.candidates import read_candidate_rows
from debinet.data.dataset import Dataset
from debinet.exceptions import (
    AlignmentError,
    ColumnTypeError,
    ConstantColumnError,
    InputError,
    LengthError,
    OutcomeColumnError,
    TooFewRowsError,
    UnfittedError,
    UnknownColumnError,
)
from debinet.selection.problem import read_problem


def read(X, y, treatments=("d1", "d2"), **options):
    return Dataset.from_any(X, y, list(treatments), **options)


DOORS = {
    "treatments": read,
    "candidates": read_candidate_rows,
    "linear model": lambda X, y: read_problem(X, y),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("column", "how"),
    [
        (lambda y: y, "equal to y"),
        (lambda y: 3 - 0.01 * y, "a linear function of y"),
        (lambda y: (1e6 + 2 * y).astype(np.float32).astype(float), None),
        (lambda y: (2 * y).astype(np.float32), "a linear function of y"),
    ],
)
def test_the_outcome_is_found_among_the_columns_by_its_values(small, door, column, how):
    X, y = small
    X = X.assign(again=column(y))
    if how is None:  # so much rounding that it is another variable
        DOORS[door](X, y)
        return
    with pytest.raises(OutcomeColumnError, match=f"'again', which is {how}"):
        DOORS[door](X, y)


def test_a_treatment_that_is_the_outcome_is_refused(small):
    X, y = small
    with pytest.raises(OutcomeColumnError, match="'d1'"):
        read(X.assign(d1=y), y)
    with pytest.raises(OutcomeColumnError, match="'d1'"):
        read(X.assign(d1=y > 0), (y > 0).astype(int))


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "function",
    [
        np.log,
        lambda wage: wage.clip(upper=wage.quantile(0.9)),
        lambda wage: wage.round(),
        lambda wage: -wage.rank(),
        lambda wage: (wage > wage.median()).astype(int),
        lambda wage: wage.where(wage.index != 7, wage.median()),
    ],
)
def test_the_outcome_is_found_among_the_columns_by_its_name(small, door, function):
    X, y = small
    wage = np.exp(y).rename("wage")
    with pytest.raises(OutcomeColumnError, match="'wage'"):
        DOORS[door](X.assign(wage=wage), function(wage))
    with pytest.raises(OutcomeColumnError, match="'wage'"):
        DOORS[door](X.assign(wage=function(wage)), wage)
    DOORS[door](X.assign(wage=wage), function(wage).rename("lwage"))


def test_a_name_alone_is_noted(small):
    """`X["d1"] + noise` has the name of d1 in pandas."""
    X, _ = small
    y = X["z1"] + np.random.default_rng(0).normal(size=60)
    assert y.name == "z1"
    (note,) = notes(X, y)
    assert note == "y has the name of the control 'z1': if they are one variable, leave it out of X"
    assert notes(X, y.rename("d1")) == ()  # a treatment
    assert notes(X.assign(z1=np.resize(["a", "b", "c"], 60)), y)[-1] == note


def test_numbers_are_no_names_of_the_outcome(small):
    """Columns and series that were made of arrays are numbered, each from 0."""
    X, y = small
    assert read(pd.DataFrame(X.to_numpy()), y.rename(0), [1]).n == 60


def test_a_strong_relation_is_not_the_outcome(small):
    X, y = small
    noise = np.random.default_rng(0).normal(size=60)
    read(X.assign(near=y + 1e-4 * noise), y)
    read(X.assign(power=y**3), y)


PARTS = {
    "y": lambda X, y, change: {"y": change(y)},
    "groups": lambda X, y, change: {"groups": change(pd.Series(np.arange(60) // 3))},
    "sample_weight": lambda X, y, change: {"sample_weight": change(pd.Series(np.ones(60)))},
}
OTHER = {
    "another order": (lambda part: part.sample(frac=1, random_state=0), r"\.loc\[X\.index\]"),
    "different labels": (lambda part: part.set_axis(range(100, 160)), "reset_index"),
}


@pytest.mark.parametrize("role", PARTS)
@pytest.mark.parametrize("kind", OTHER)
def test_indexes_that_differ_are_refused(small, role, kind):
    X, y = small
    change, remedy = OTHER[kind]
    options = {"y": y} | PARTS[role](X, y, change)
    with pytest.raises(AlignmentError, match=f"X and {role}.*{kind.split()[-1]}") as caught:
        read(X, **options)
    caught.match(remedy)


def test_as_statsmodels_does(small):
    api = pytest.importorskip("statsmodels.api")
    X, y = small
    shuffled = y.sample(frac=1, random_state=0)
    with pytest.raises(ValueError, match="not aligned"):
        api.OLS(shuffled, X)
    with pytest.raises(AlignmentError):
        read(X, shuffled)


def test_indexes_that_agree_or_are_not_there(small):
    X, y = small
    order = np.random.default_rng(0).permutation(60)
    assert read(X.iloc[order], y.iloc[order]).n == 60
    assert read(X.iloc[order], y.to_numpy()).n == 60
    assert read(X.to_numpy(), y.iloc[order], [0]).n == 60
    repeated = np.repeat(range(20), 3)
    assert read(X.set_axis(repeated), y.set_axis(repeated)).n == 60
    named = pd.Index([f"person {i}" for i in range(60)])
    with pytest.raises(AlignmentError, match="row 0 is person 0 in X and 0 in y"):
        read(X.set_axis(named), y)


def test_outcome_and_groups_are_compared_without_an_index_of_X(small):
    X, y = small
    groups = pd.Series(np.arange(60) // 2, index=range(1, 61))
    with pytest.raises(AlignmentError, match="y and groups"):
        read(X.to_numpy(), y, [0], groups=groups)
    with pytest.raises(AlignmentError, match="y and groups"):
        read(X.to_numpy(), y, [0], groups=[np.arange(60) // 4, groups])


def test_another_length_is_said_first(small):
    X, y = small
    with pytest.raises(LengthError):
        read(X, y[:-1])
    with pytest.raises(LengthError):
        read(X, y, groups=pd.Series(np.arange(59)))


# Notes


def notes(X, y, **options):
    model = dn.PartiallyLinear(["d1"], LinearRegression(), random_state=0)
    return model.fit(X, y, **options).result_.notes


@pytest.mark.parametrize(
    "column",
    [
        {"Unnamed: 0": np.random.default_rng(1).normal(size=60)},
        {"ID": np.random.default_rng(1).normal(size=60)},
        {"person": np.arange(60)},
        {"person": np.arange(1000, 940, -1)},
        {"person": 7 * np.arange(60) + 3},
    ],
)
def test_row_numbers_among_the_controls_are_named(small, column):
    X, y = small
    (note,) = notes(X.assign(**column), y)
    assert f"'{next(iter(column))}' looks like a row number" in note


@pytest.mark.parametrize(
    "column",
    [
        np.arange(60) // 2,  # repeats
        np.random.default_rng(0).permutation(60),  # not in order
        np.arange(60) + 0.5,  # not whole
    ],
)
def test_other_columns_are_no_row_numbers(small, column):
    X, y = small
    assert notes(X.assign(person=column), y) == ()


@pytest.mark.parametrize("kind", [lambda g: 100 - g, lambda g: [f"firm {i % 7}{i}" for i in g]])
def test_the_variable_of_the_clusters_is_named(small, kind):
    X, y = small
    groups = np.random.default_rng(3).integers(0, 12, size=60)
    found = notes(X.assign(firm=kind(groups), other=groups // 2), y, groups=groups)
    assert sum("variable of the clusters" in note for note in found) == 1
    assert any("'firm' is the variable of the clusters" in note for note in found)
    two_way = np.column_stack([np.arange(60) % 5, groups])
    data = read(X.assign(firm=kind(groups)), y, groups=two_way)
    assert any("'firm' is the variable" in note for note in data.notes)


@pytest.mark.parametrize(
    "function", [np.exp, lambda y: -(y**3), lambda y: np.argsort(np.argsort(y))]
)
def test_functions_of_the_outcome_are_named(small, function):
    """As the wage is, beside its logarithm."""
    X, y = small
    (note,) = notes(X.assign(wage=function(y.to_numpy())), y)
    assert "'wage' orders the rows exactly as y does" in note


def test_other_relations_with_the_outcome_are_not_named(small):
    X, y = small
    swapped = np.argsort(np.argsort(y))
    swapped = np.where(swapped == 30, 31, np.where(swapped == 31, 30, swapped))
    assert notes(X.assign(a=swapped, b=y > 0, c=y.round(1)), y) == ()
    # with few rows it may be chance
    assert notes(X[:20].assign(a=np.exp(y[:20])), y[:20]) == ()


def test_notes_are_about_controls_only(small):
    X, y = small
    person = np.arange(60)
    model = dn.PartiallyLinear(["person"], LinearRegression(), random_state=0)
    assert model.fit(X.assign(person=person), y).result_.notes == ()
    found = dn.DebiNet(dn.Lasso(penalty=0.2), LinearRegression(), random_state=0)
    found.fit(X.assign(person=person), y)
    named = any("'person' looks like a row number" in note for note in found.result_.notes)
    assert named != found.get_support()[-1]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        (lambda c: c.map("{:.2f}".format), r"a number\. .*astype\(float\)"),
        (lambda c: c.map("{:.2f}".format).str.replace(".", ","), "decimal comma"),
        (lambda c: (c * 1e6).map("{:,.1f}".format), "separators of thousands"),
    ],
)
@pytest.mark.parametrize("role", ["control", "treatment", "outcome"])
def test_numbers_as_text_are_no_categories(small, text, match, role):
    X, y = small
    if role == "outcome":
        with pytest.raises(ColumnTypeError, match=match):
            read(X, text(y))
        return
    column = "z1" if role == "control" else "d1"
    with pytest.raises(ColumnTypeError, match=f"column '{column}'.*{match}"):
        read(X.assign(**{column: text(X[column])}), y)
    with pytest.raises(ColumnTypeError, match=match):
        read_candidate_rows(X.assign(**{column: text(X[column])}), y)


def test_text_of_whole_numbers_is_a_category(small):
    X, y = small
    codes = pd.Series(np.arange(60) % 3)
    for column in (codes.astype(str), codes.astype(float).astype(str)):
        assert read(X.assign(z1=column), y).Z.shape == (60, 5)
    fractions = pd.Series(np.arange(60) % 3 / 2).astype(str).astype("category")
    assert read(X.assign(z1=fractions), y).Z.shape == (60, 5)


# The list of controls


def test_the_summary_lists_ten_controls(small, tmp_path):
    from debinet.inference.reporting import write_report

    X, y = small
    more = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 12))).add_prefix("w")
    X = X.join(more).assign(region=np.resize(["a", "b", "c"], 60))
    model = dn.PartiallyLinear(["d1"], LinearRegression(), random_state=0)
    result = model.fit(X, y).result_
    line = "controls       d2, z1, z2, z3, w0, w1, w2, w3, w4, w5 and 7 more"
    assert line in result.summary().splitlines()
    assert result.provenance.control_columns[-1] == "region"
    result.save(tmp_path / "saved.npz")
    assert line in dn.load(tmp_path / "saved.npz").summary()
    write_report(result, tmp_path / "long.html")
    assert "<summary>All 17 columns</summary>" in (tmp_path / "long.html").read_text()
    assert "w11, region" in (tmp_path / "long.html").read_text()
    short = model.fit(X[["d1", "z1", "region"]], y).result_
    assert "controls       z1, region" in short.summary().splitlines()
    write_report(short, tmp_path / "short.html")
    assert "<summary>All" not in (tmp_path / "short.html").read_text()


def test_the_controls_of_a_selection_are_columns_of_X(small):
    X, y = small
    X = X.assign(region=np.resize(["a", "b", "c"], 60))
    model = dn.DebiNet(dn.Lasso(penalty=0.2), LinearRegression(), random_state=0).fit(X, y)
    others = X.columns[~model.get_support()]
    assert model.result_.provenance.control_columns == tuple(others)


# Messages


def test_a_constant_outcome_is_not_to_be_dropped(small):
    X, y = small
    with pytest.raises(
        ConstantColumnError, match=r"the value 3 in every row\. Check which column y"
    ):
        read(X, 0 * y + 3)


def test_many_treatments_and_few_rows_lead_to_DebiNet():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 45)), rng.normal(size=30)
    with pytest.raises(TooFewRowsError, match=r"40 treatments and 30 rows.*DebiNet"):
        dn.PartiallyLinear(list(range(40))).fit(X, y)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda X: X.drop(columns="z1"), "got a table without 'z1'. Add what is missing"),
        (lambda X: X.assign(w=0.0), "got a table with 'w', which fit did not have. Pass X"),
        (lambda X: X.rename(columns={"z1": "w"}), "a table without 'z1' and with 'w', which fit"),
        (lambda X: X[X.columns[::-1]], "the same columns in another order. Pass X"),
    ],
)
@pytest.mark.parametrize("to", [lambda X: X, pl.from_pandas])
def test_columns_at_predict_are_told_apart(small, change, match, to):
    X, y = small
    model = dn.PartiallyLinear(["d1"], LinearRegression(), random_state=0).fit(X, y)
    rows = change(X)
    with pytest.raises(InputError, match=match.replace(".", r"\.")):
        model.predict(to(rows))
    array = dn.PartiallyLinear([0], LinearRegression(), random_state=0).fit(X.to_numpy(), y)
    with pytest.raises(InputError, match="X has 3 features"):
        array.predict(X.to_numpy()[:, :3])


@pytest.mark.parametrize(
    "model", [dn.PartiallyLinear(["d1"]), dn.DebiNet(), dn.DebiasedLasso()], ids=repr
)
def test_unfitted_models_say_so(model, small):
    name = type(model).__name__
    with pytest.raises(UnfittedError, match=f"fitted {name}, which has result_.*Call fit"):
        model.result_  # noqa: B018
    with pytest.raises(NotFittedError, match="not fitted yet"):
        model.predict(small[0])
    assert not hasattr(model, "coef_")
    with pytest.raises(AttributeError, match="no attribute 'confint'"):
        model.confint  # noqa: B018
    assert copy.deepcopy(model).get_params().keys() == model.get_params().keys()


def test_what_learners_do_not_have_is_still_said(small):
    model = dn.PartiallyLinear(["d1"], LinearRegression(), random_state=0).fit(*small)
    with pytest.raises(AttributeError, match="'LinearRegression' object has no attribute"):
        model.relevance_  # noqa: B018


def test_names_that_were_not_separated(small):
    X, y = small
    with pytest.raises(UnknownColumnError, match="'d1;d2' looks like several: read the file"):
        Dataset.from_any(pd.DataFrame({"d1;d2": X["d1"], "z1": X["z1"]}), y, ["d1"])
