"""Validation: everything that can be read is read, everything else is refused by name."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from debinet.data.checks import find_copies
from debinet.data.dataset import Dataset
from debinet.exceptions import (
    CollinearError,
    ColumnTypeError,
    ConstantColumnError,
    DebiNetError,
    DuplicateColumnError,
    EmptyInputError,
    InputError,
    LengthError,
    MissingValueError,
    OptionError,
    TooFewRowsError,
    UnknownColumnError,
)


def read(X, y, treatments=("d1", "d2"), **options):
    return Dataset.from_any(X, y, list(treatments), **options)


@pytest.mark.parametrize("convert", [lambda X: X, pl.from_pandas, pa.Table.from_pandas])
def test_frames_of_every_kind_give_the_same_data(small, convert):
    X, y = small
    X = X.assign(flag=X["z1"] > 0, region=np.resize(["north", "south", "west"], len(X)))
    plain = read(X, y)
    other = read(convert(X), y.to_numpy())
    np.testing.assert_array_equal(plain.D, other.D)
    np.testing.assert_array_equal(plain.Z, other.Z)
    assert other.schema.treatment_names == ("d1", "d2")
    assert plain.schema.control_names[-4:] == (
        "flag",
        "region=north",
        "region=south",
        "region=west",
    )
    assert any("region" in note for note in plain.schema.notes)


def test_numpy_columns_are_named_by_position(small):
    X, y = small
    data = read(X.to_numpy(), y, [0, -1])
    assert data.schema.treatment_names == ("x0", "x4")
    np.testing.assert_array_equal(data.D, X.to_numpy()[:, [0, 4]])


@pytest.mark.parametrize("kind", ["category", "string", object])
def test_two_categories_become_one_column(small, kind):
    X, y = small
    data = read(X.assign(sex=pd.Series(np.resize(["f", "m"], len(X))).astype(kind)), y)
    assert data.schema.control_names[-1] == "sex=m"
    np.testing.assert_array_equal(data.Z[:, -1], np.resize([0, 1], len(X)))


def test_columns_of_objects_are_numbers_if_they_hold_numbers(small):
    X, y = small
    np.testing.assert_array_equal(read(X.astype(object), y).Z, read(X, y).Z)


def test_names_of_the_outcome_and_single_treatment(small):
    X, y = small
    data = Dataset.from_any(X, y.rename("wage"), "d1")
    assert data.outcome == "wage"
    assert data.D.shape == (60, 1)


def test_new_rows_are_coded_as_in_fit(small):
    from debinet.data.tables import read_table

    X, y = small
    X = X.assign(region=np.resize(["a", "b", "c"], len(X)))
    schema = read(X, y).schema
    _, Z = schema.split(read_table(X.iloc[:1]))
    np.testing.assert_array_equal(Z, read(X, y).Z[:1])
    with pytest.raises(InputError, match="'d'"):
        schema.split(read_table(X.iloc[:2].assign(region=["a", "d"])))
    with pytest.raises(ColumnTypeError, match="region"):
        schema.split(read_table(X.iloc[:2].assign(region=[0.0, 1.0])))
    with pytest.raises(ColumnTypeError, match="z1"):
        schema.split(read_table(X.iloc[:2].assign(z1=["u", "v"])))


def broken(small, change):
    X, y = small
    return change(X.copy(), y.copy())


REFUSED = [
    (MissingValueError, "'d1'.*row 3", lambda X, y: (X.drop(3).reindex(range(60)), y)),
    (MissingValueError, "inf", lambda X, y: (X.replace(X.iloc[0, 2], np.inf), y)),
    (MissingValueError, "y", lambda X, y: (X, y.where(y.index != 5))),
    (MissingValueError, "None", lambda X, y: (X.assign(r=[None, *["a", "b"] * 29, "a"]), y)),
    (ConstantColumnError, "'one'", lambda X, y: (X.assign(one=1.0), y)),
    (ConstantColumnError, "'r=a'", lambda X, y: (X.assign(r="a"), y)),
    (ConstantColumnError, "y", lambda X, y: (X, y * 0)),
    (DuplicateColumnError, "'z3' and 'again'", lambda X, y: (X.assign(again=X["z3"]), y)),
    (
        DuplicateColumnError,
        "name",
        lambda X, y: (X.set_axis(["d1", "d2", "z", "z", "z3"], axis=1), y),
    ),
    (LengthError, "59", lambda X, y: (X, y[:-1])),
    (TooFewRowsError, "2 treatments and 2 rows", lambda X, y: (X[:2], y[:2])),
    (TooFewRowsError, "1 sample", lambda X, y: (X[:1], y[:1])),
    (EmptyInputError, "0 sample", lambda X, y: (X[:0], y[:0])),
    (EmptyInputError, "0 feature", lambda X, y: (X[[]], y)),
    (UnknownColumnError, "Did you mean", lambda X, y: (X.rename(columns={"d2": "dd2"}), y)),
    (ColumnTypeError, "date", lambda X, y: (X.assign(t=pd.Timestamp("2020-01-01")), y)),
    (ColumnTypeError, "real number", lambda X, y: (X.assign(t=[{"a": 1}] * 60), y)),
    (ColumnTypeError, "real number", lambda X, y: (X.assign(t=["a", 1.0] * 30), y)),
    (
        ColumnTypeError,
        "column 'd2', but got text",
        lambda X, y: (X.assign(d2=X["d2"].astype(str)), y),
    ),
    (ColumnTypeError, "y to be numeric", lambda X, y: (X, pd.Series(["a", "b"] * 30))),
    (ColumnTypeError, "sparse", lambda X, y: (sparse.csr_matrix(X), y)),
    (ColumnTypeError, "lazy", lambda X, y: (pl.from_pandas(X).lazy(), y)),
    (InputError, "identifier", lambda X, y: (X.assign(i=[f"id{i}" for i in range(60)]), y)),
    (InputError, "y is None", lambda X, y: (X, None)),
    (InputError, "one dimension", lambda X, y: (X, np.ones((60, 2)))),
    (InputError, "2D", lambda X, y: (X["d1"].to_numpy(), y)),
    (ColumnTypeError, "Complex", lambda X, y: (X.to_numpy() * 1j, y)),
    (CollinearError, "'d2'", lambda X, y: (X.assign(d2=3 * X["d1"] - 2), y)),
]


@pytest.mark.parametrize(("error", "text", "change"), REFUSED)
def test_bad_data_are_refused_by_name(small, error, text, change):
    X, y = broken(small, change)
    with pytest.raises(error, match=text) as caught:
        read(X, y)
    assert caught.value.remedy.endswith((".", "?"))


@pytest.mark.parametrize(
    ("error", "treatments"),
    [
        (EmptyInputError, []),
        (DuplicateColumnError, ["d1", "d1"]),
        (DuplicateColumnError, ["d1", 0]),
        (UnknownColumnError, [17]),
        (UnknownColumnError, ["nothing like it"]),
        (OptionError, [1.5]),
        (OptionError, [True]),
        (OptionError, None),
    ],
)
def test_bad_treatments_are_refused(small, error, treatments):
    with pytest.raises(error):
        Dataset.from_any(*small, treatments)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"groups": np.zeros(60)}, InputError),
        ({"groups": np.arange(59)}, LengthError),
        ({"groups": [None, *range(59)]}, MissingValueError),
        ({"groups": np.zeros((60, 3))}, InputError),
        ({"sample_weight": -np.ones(60)}, InputError),
        ({"sample_weight": np.zeros(60)}, InputError),
        ({"sample_weight": np.ones(61)}, LengthError),
        ({"sample_weight": ["a"] * 60}, ColumnTypeError),
    ],
)
def test_bad_groups_and_weights_are_refused(small, options, error):
    with pytest.raises(error):
        read(*small, **options)


def test_groups_of_any_type_are_coded(small):
    X, y = small
    names = np.resize(["x", "y", "z"], 60)
    frame = pd.DataFrame({"a": names, "b": np.arange(60) // 2})
    for groups in (names, pd.Series(names), pl.Series(names), list(names)):
        assert read(X, y, groups=groups).groups.shape == (60, 1)
    for groups in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame), frame.to_numpy()):
        codes = read(X, y, groups=groups).groups
        assert codes.shape == (60, 2)
        assert codes.max(axis=0).tolist() == [2, 29]


def test_errors_say_three_things_and_survive_pickling():
    import pickle

    error = UnknownColumnError("a thing", "another", "Do this.")
    assert str(error) == "Expected a thing, but got another. Do this."
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert isinstance(error, DebiNetError)


def test_masked_values_are_missing_values(small):
    X, y = small
    masked_y = np.ma.array(y.to_numpy(), mask=np.arange(60) == 4)
    masked_X = np.ma.array(X.to_numpy(), mask=np.zeros(X.shape, dtype=bool))
    with pytest.raises(MissingValueError, match="masked"):
        read(X, masked_y)
    assert read(masked_X, y, [0]).n == 60
    masked_X[3, 2] = np.ma.masked
    with pytest.raises(MissingValueError, match="masked"):
        read(masked_X, y, [0])


def test_a_missing_label_in_a_list_of_groups_is_missing(small):
    with pytest.raises(MissingValueError):
        read(*small, groups=["a", "b", float("nan")] * 20)
    assert read(*small, groups=["a", "b", "c"] * 20).groups.max() == 2
    two = read(*small, groups=[np.arange(60) % 3, np.arange(60) % 4]).groups
    assert two.shape == (60, 2)


@pytest.mark.parametrize("factor", [1e200, 1e-200])
@pytest.mark.parametrize("column", ["d1", "z1", "y"])
def test_extreme_scales_are_refused(small, column, factor):
    X, y = small
    if column == "y":
        y = y * factor
    else:
        X = X.assign(**{column: X[column] * factor})
    with pytest.raises(InputError, match="other units"):
        read(X, y)


def test_record_batches_keep_their_names(small):
    X, y = small
    batch = pa.RecordBatch.from_pandas(X)
    assert read(batch, y).schema.treatment_names == ("d1", "d2")


def test_integers_too_large_for_a_float(small):
    X, y = small
    with pytest.raises(ColumnTypeError):
        read(X.assign(z1=[10**400] + [1] * 59), y)


def test_near_dependence_is_told_from_dependence():
    """Where the Gram matrix does not settle whether columns are dependent, the pivoted QR does."""
    from debinet.data.checks import dependent_columns

    rng = np.random.default_rng(0)
    A = rng.normal(size=(200, 3))
    for left, expected in ((1.0, []), (1e-4, []), (1e-8, []), (1e-12, [2]), (0.0, [2])):
        B = A.copy()
        B[:, 2] = A[:, 0] + A[:, 1] + left * A[:, 2]
        found = dependent_columns(B)
        assert len(found) == len(expected), left


def test_copies_are_found_among_columns_that_begin_alike():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(40, 30)).astype(float)
    X[:20, 10:] = X[:20, [3]]
    X[:, 7], X[:, 21], X[:, 29] = X[:, 2], X[:, 12], -0.0 * X[:, 0]
    X[:, 28] = 0.0
    assert find_copies(X) == {7: 2, 21: 12, 29: 28}


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame], ids=["array", "frame"])
def test_the_data_of_the_caller_are_neither_kept_nor_changed(kind):
    X = np.random.default_rng(0).normal(size=(20, 4))
    given = kind(X)
    data = Dataset.from_any(given, X[:, 0] + X[:, 1] ** 2, [1])
    for part in (data.D, data.Z):
        assert not np.shares_memory(part, X)
