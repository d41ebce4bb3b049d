"""`PartiallyLinear.fit_stream`: the same as `fit`, however the rows are cut, or a typed error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from joblib import cpu_count, parallel_config
from sklearn.base import clone

import debinet as dn
from closeness import assert_close, assert_same_fit
from debinet._random import named_seed
from debinet.data.workers import count_workers
from debinet.exceptions import (
    CollinearError,
    ColumnTypeError,
    ConstantColumnError,
    CovarianceError,
    DataNotFoundError,
    DuplicateColumnError,
    EmptyInputError,
    FileFormatError,
    FoldError,
    InputError,
    MemoryLimitError,
    MissingValueError,
    OptionError,
    TooFewRowsError,
    UnknownColumnError,
)
from debinet.inference.reporting import write_report
from debinet.learners.budget import landmarks_within
from debinet.streaming import fit as fit_module
from debinet.streaming import running
from debinet.streaming.hashing import hash_labels, hash_rows

CONTROLS = ["z1", "z2", "z3", "region"]
KINDS = ("iid", "HC0", "HC1", "HC2", "HC3", "full", "cluster")
# Tolerance against memory; sums of 600 rows differ in their last digits, by 1e-12 of the result.
MEMORY = 1e-8
# Tolerance between ways of splitting the same rows.
CUT = 1e-10


def make(n=600, seed=0):
    """Units far from 1 and means far from 0, so that lost digits would be detected."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3)) + 3
    D = np.column_stack([np.sin(Z[:, 0]), Z[:, 1] ** 2 / 4]) + rng.normal(size=(n, 2))
    y = D @ [1.0, -0.5] + np.abs(Z[:, 2]) + rng.normal(size=n) + 100
    frame = pd.DataFrame(np.hstack([D * [1000, 1], Z]), columns=["d1", "d2", "z1", "z2", "z3"])
    frame["region"] = rng.choice(["north", "south", "west"], n)
    return frame.assign(y=y, w=rng.uniform(0.5, 2, n), firm=rng.integers(0, 60, n))


FRAME = make()


def network(features="units", **options):
    """Thirty features, and all controls with the same weight."""
    return dn.TangentNet(**{"width": 30, "features": features, "relevance": "equal"} | options)


def model(**options):
    options = {"learner": network(), "random_state": 0} | options
    return dn.PartiallyLinear(options.pop("treatments", ["d1", "d2"]), **options)


def stream(data, outcome="y", *, controls=CONTROLS, options=None, **roles):
    return model(**(options or {})).fit_stream(data, outcome, controls=controls, **roles)


def same_folds(frame, groups=None, folds=5, seed=0):
    """The folds that a streamed fit draws, row by row."""
    keys = np.arange(len(frame)) if groups is None else hash_labels(frame[groups])
    hashes = hash_rows(keys, named_seed(seed, "folds"))
    fold = (hashes % np.uint64(folds)).astype(int)
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(folds)]


def assert_as_expected(found, expected, tolerance):
    """Compare fits of the frame, with all covariances that they have."""
    absent = set()
    if found.result_.provenance.clusters is None:
        absent.add("cluster")
    if found.result_.provenance.method in {"robinson", "dml2"}:
        absent.add("full")
    kinds = [kind for kind in KINDS if kind not in absent]
    assert_same_fit(found, expected, FRAME[["d1", "d2", *CONTROLS]], tolerance, kinds)


def write(folder, frame=FRAME, files=3, group=70):
    """Parquet files of about the same size, of row groups of `group` rows."""
    folder.mkdir(exist_ok=True)
    for i, rows in enumerate(np.array_split(np.arange(len(frame)), files)):
        frame.iloc[rows].to_parquet(folder / f"part-{i}.parquet", row_group_size=group)
    return folder


@pytest.fixture
def spools(tmp_path, monkeypatch):
    """A folder for temporary files, which must be empty at the end."""
    folder = tmp_path / "spools"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


# --- as in memory --------------------------------------------------------------------------------


NETWORKS = {
    "units": network(),
    "landmarks": network("landmarks"),
    "learned": network("landmarks", relevance="learned"),
}


@pytest.mark.parametrize("net", NETWORKS)
@pytest.mark.parametrize("method", ["joint", "structured", "robinson", "dml2"])
@pytest.mark.parametrize(
    ("groups", "weight"), [(None, None), (None, "w"), ("firm", None), ("firm", "w")]
)
def test_the_same_as_in_memory(net, method, groups, weight):
    """Relevance is learned from, and landmarks chosen among, a sample that here is all rows."""
    options = {"method": method, "learner": NETWORKS[net]}
    found = stream(FRAME, groups=groups, sample_weight=weight, options=options)
    X = FRAME[["d1", "d2", *CONTROLS]]
    expected = model(**options, crossfit=same_folds(FRAME, groups)).fit(
        X,
        FRAME["y"],
        groups=None if groups is None else FRAME[groups],
        sample_weight=None if weight is None else FRAME[weight],
    )
    assert_as_expected(found, expected, MEMORY)
    assert found.result_.vcov_type == expected.result_.vcov_type
    assert found.result_.n == expected.result_.n
    assert_close(found.result_.confint(joint=True), expected.result_.confint(joint=True), 1e-6)
    ours, theirs = (one.result_.trust().to_frame()["verdict"] for one in (found, expected))
    same = ours.index.intersection(theirs.index).difference(["outliers"])
    assert ours[same].to_dict() == theirs[same].to_dict()
    path, by_rows = (one.result_.evidence.get().path for one in (found, expected))
    assert (path is None) == (by_rows is None) == (method not in {"joint", "structured"})
    if path is not None:
        assert_close(path.coef, by_rows.coef, 1e-6)
        assert_close(path.se_difference, by_rows.se_difference, 1e-6)


def test_rules_are_the_same_as_in_memory():
    X, y, _ = dn.datasets.make_steps(n=800, random_state=0)
    made = dn.PartiallyLinear(["d1"], dn.TangentNet(width=50, random_state=0), random_state=0)
    found = clone(made).fit_stream(X.assign(y=y), "y")
    expected = clone(made).set_params(crossfit=same_folds(X)).fit(X, y)
    for one in (found, expected):
        inputs = one._fitted.means[0].joint.fits[0].models[0]._predictor.parts[0].feature_map.inputs
        assert inputs.rules is not None
    assert_close(found.coef_, expected.coef_, MEMORY)
    assert_close(found.predict(X), expected.predict(X), MEMORY)


@pytest.mark.parametrize(
    "net",
    [
        network(features, **options)
        for features in ("units", "landmarks")
        for options in (
            {"tune": "gcv"},
            {"skip": 0.0},
            {"width": 400, "skip": 3.0, "random_state": 5},
        )
    ],
    ids=str,
)
def test_every_option_of_the_network(net):
    """400 hidden units of 600 rows, of which 480 are left in training."""
    found = stream(FRAME, options={"learner": net, "crossfit": 3, "random_state": 7})
    folds = same_folds(FRAME, folds=3, seed=7)
    expected = model(learner=net, crossfit=folds, random_state=7)
    assert_as_expected(found, expected.fit(FRAME[["d1", "d2", *CONTROLS]], FRAME["y"]), MEMORY)


@pytest.mark.parametrize("tune", ["reml", "gcv"])
@pytest.mark.parametrize("net", NETWORKS)
def test_the_network_knows_what_one_in_memory_knows(net, tune):
    learner = clone(NETWORKS[net]).set_params(tune=tune)
    found = stream(FRAME, options={"learner": learner})
    expected = model(learner=learner, crossfit=same_folds(FRAME)).fit(
        FRAME[["d1", "d2", *CONTROLS]], FRAME["y"]
    )
    for part in ("joint", "g"):
        averages = [getattr(fit._fitted.means[0], part) for fit in (found, expected)]
        one, other = (average.fits[0].models[0] for average in averages)
        for name in ("penalty_", "skip_", "dof_", "noise_variance_", "relevance_"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-6)


@pytest.mark.parametrize("net", NETWORKS)
def test_rows_of_weight_zero_do_not_count(net):
    frame, options = FRAME.assign(w=FRAME["w"] * (FRAME.index % 3 > 0)), {"learner": NETWORKS[net]}
    found = stream([frame.iloc[:100], frame.iloc[100:]], sample_weight="w", options=options)
    X, folds = frame[["d1", "d2", *CONTROLS]], same_folds(frame)
    expected = model(**options, crossfit=folds).fit(X, frame["y"], sample_weight=frame["w"])
    assert_as_expected(found, expected, MEMORY)
    assert found.result_.n == 400


def test_wide_is_named_with_its_number_of_units():
    found = dn.PartiallyLinear(["d1"], random_state=0).fit_stream(FRAME, "y", controls=["z1"])
    assert found.result_.provenance.hidden_units == 245  # 10 sqrt(600)
    assert "TangentNet, 245 features" in found.result_.summary()


def test_wide_takes_landmarks_where_relevance_can_be_learned():
    found = dn.PartiallyLinear(["d1"], random_state=0).fit_stream(FRAME, "y", controls=CONTROLS)
    assert found.result_.provenance.method == "joint"
    assert found.result_.provenance.hidden_units <= landmarks_within(len(FRAME))
    net = found._fitted.means[0].joint.fits[0].models[0]
    assert (net.features, net.width) == ("landmarks", landmarks_within(len(FRAME)))


def test_controls_are_all_other_columns():
    found = stream(FRAME, controls=None, groups="firm", sample_weight="w")
    named = stream(FRAME, groups="firm", sample_weight="w")
    assert list(found.feature_names_in_) == ["d1", "d2", *CONTROLS]
    assert np.array_equal(found.coef_, named.coef_)


def test_an_outcome_that_the_treatments_explain_wholly():
    found = stream(FRAME.assign(y=FRAME["d2"]))
    assert found.coef_ == pytest.approx([0, 1], abs=1e-12)
    assert (found.result_.se < 1e-6).all()


# --- however the rows are cut --------------------------------------------------------------------


@pytest.fixture(scope="module", params=["units", "learned"])
def split(request):
    """A network, and its fit of the whole frame."""
    learner, roles = NETWORKS[request.param], {"groups": "firm", "sample_weight": "w"}
    return learner, stream(FRAME, **roles, options={"learner": learner, "n_jobs": 1})


@pytest.fixture(scope="module")
def reference():
    return stream(FRAME, groups="firm", sample_weight="w", options={"n_jobs": 1})


@pytest.mark.parametrize(("files", "group"), [(1, 1000), (1, 37), (7, 1000), (5, 9)])
@pytest.mark.parametrize(("batch", "n_jobs"), [(65_536, 1), (11, 3)])
def test_files_row_groups_batches_and_threads_do_not_matter(
    split, tmp_path, monkeypatch, files, group, batch, n_jobs
):
    learner, reference = split
    monkeypatch.setattr(running, "BATCH", batch)
    folder = write(tmp_path / "data", files=files, group=group)
    roles = {"groups": "firm", "sample_weight": "w"}
    found = stream(folder, options={"n_jobs": n_jobs, "learner": learner}, **roles)
    assert_as_expected(found, reference, CUT)


@pytest.mark.parametrize("net", NETWORKS)
def test_threads_change_no_bit(monkeypatch, net):
    monkeypatch.setattr(running, "BATCH", 50)
    learner = NETWORKS[net]
    one, three = (stream(FRAME, options={"n_jobs": jobs, "learner": learner}) for jobs in (1, 3))
    assert np.array_equal(one.coef_, three.coef_)
    assert np.array_equal(one.result_.covariance, three.result_.covariance)


@pytest.mark.parametrize(
    ("n_jobs", "workers"), [(None, 1), (3, 3), (np.int64(2), 2), (-1, cpu_count()), (-10_000, 1)]
)
def test_jobs_are_counted_as_in_joblib(n_jobs, workers):
    assert count_workers(n_jobs) == workers
    assert count_workers(-2) == max(1, cpu_count() - 1)
    with parallel_config(n_jobs=4):
        assert count_workers(None) == 4


@pytest.mark.parametrize("n_jobs", [0, 1.0, True, "all"])
def test_jobs_that_are_refused_alike(n_jobs):
    X = FRAME[["d1", "d2", *CONTROLS]]
    for fit in (lambda m: m.fit(X, FRAME["y"]), lambda m: m.fit_stream(FRAME, "y")):
        with pytest.raises(OptionError, match="n_jobs"):
            fit(model(n_jobs=n_jobs))


def parts(frame=FRAME, count=4):
    return [frame.iloc[rows] for rows in np.array_split(np.arange(len(frame)), count)]


SOURCES = {
    "pattern": lambda folder: f"{folder}/*.parquet",
    "folder": lambda folder: folder,
    "file": lambda folder: write(folder / "one", files=1) / "part-0.parquet",
    "paths": lambda folder: sorted(folder.glob("*.parquet")),
    "frame": lambda _: FRAME,
    "frames": lambda _: parts(),
    "categories": lambda _: parts(FRAME.assign(region=FRAME["region"].astype("category"))),
    "generator": lambda _: (part for part in parts()),
    "function": lambda _: lambda: iter(parts()),
    "polars": lambda _: pl.from_pandas(FRAME),
    "polars frames": lambda _: [pl.from_pandas(part) for part in parts()],
    "lazy polars": lambda folder: pl.scan_parquet(f"{folder}/*.parquet"),
    "arrow": lambda folder: pq.read_table(folder),
    "nullable": lambda _: FRAME.convert_dtypes(),
    "objects": lambda _: FRAME.astype(object),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source(reference, tmp_path, spools, name):
    data = SOURCES[name](write(tmp_path / "data"))
    found = stream(data, groups="firm", sample_weight="w")
    assert_as_expected(found, reference, CUT)
    assert f"{len(FRAME)}, streamed from" in found.result_.summary()


# --- labels of clusters --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pd.Series([3, 4]), pd.Series([3.0, 4.0])),
        (pd.Series([3, 4]), pd.Series([3, 4], dtype="uint8")),
        (pd.Series([3, 4]), pd.Series([3, 4], dtype=object)),
        (pd.Series([3, 4]), pd.Series([3, 4], dtype="Int64")),
        (pd.Series([0.0, 1.0]), pd.Series([-0.0, 1.0], dtype=object)),
        (pd.Series(["a", "b"]), pd.Series(["a", "b"], dtype="category")),
        (pd.Series(["a", "b"]), pd.Series(["a", "b"], dtype="string")),
        (pd.Series([0, 1]), pd.Series([False, True])),
        (pd.Series([2**60, 2**60 + 1]), pd.Series([2.0**60, 2.0**60 + 512])),
    ],
)
def test_equal_labels_have_one_hash(one, other):
    same = [a == b for a, b in zip(one, other, strict=True)]
    assert list(hash_labels(one) == hash_labels(other)) == same


def test_labels_do_not_depend_on_those_beside_them():
    """pandas writes midnights without an hour if all of a column are midnights."""
    times = pd.Series(pd.to_datetime(["2020-01-01 00:00", "2020-01-02 03:00"]))
    assert hash_labels(times)[0] == hash_labels(times[:1])[0]
    assert hash_labels(times)[0] == hash_labels(times.astype("datetime64[s]"))[0]


def test_long_identifiers_are_told_apart():
    """Floats have 53 bits: 2**53 and 2**53 + 1 would be one cluster."""
    firm = 2**53 + FRAME["firm"]
    assert len(np.unique(hash_labels(firm))) == FRAME["firm"].nunique()
    found = stream(FRAME.assign(firm=firm), groups="firm")
    assert found.result_.df == FRAME["firm"].nunique() - 1


# --- what is refused -----------------------------------------------------------------------------


def changed(**columns):
    return lambda: FRAME.assign(**columns)


def whole():
    return FRAME


REFUSED = {
    "constant": (changed(z1=1.0), {}, ConstantColumnError, "'z1'"),
    "constant treatment": (changed(d1=1.0), {}, ConstantColumnError, "'d1'"),
    "constant outcome": (changed(y=1.0), {}, ConstantColumnError, "'y'"),
    "constant text": (changed(region="a"), {}, ConstantColumnError, "'region'"),
    "duplicate": (changed(z2=FRAME["z1"]), {}, DuplicateColumnError, "'z1' and 'z2'"),
    "duplicate treatment": (changed(d2=FRAME["z1"]), {}, DuplicateColumnError, "'d2'"),
    "function of controls": (
        *(changed(d2=FRAME["z1"] + 2 * FRAME["z2"]), {}, CollinearError, "'d2'"),
    ),
    "function of treatments": (
        changed(z3=FRAME["d1"] / 1000 - FRAME["d2"]),
        {"options": {"treatments": ["d1", "d2", "z3"]}, "controls": ["z1", "z2"]},
        *(CollinearError, "'z3'"),
    ),
    "few rows": (lambda: FRAME[:4], {}, TooFewRowsError, "4 rows"),
    "no rows": (lambda: FRAME[:0], {}, EmptyInputError, "0 rows"),
    "few rows per fold": (whole, {"options": {"crossfit": 601}}, TooFewRowsError, "n >= 601"),
    "unknown outcome": (whole, {"outcome": "yy"}, UnknownColumnError, "mean 'y'"),
    "no outcome": (whole, {"outcome": None}, UnknownColumnError, "None"),
    "unknown control": (whole, {"controls": ["z1", "zz2"]}, UnknownColumnError, "mean 'z2'"),
    "unknown groups": (whole, {"groups": "frim"}, UnknownColumnError, "mean 'firm'"),
    "unknown weights": (whole, {"sample_weight": "ww"}, UnknownColumnError, "mean 'w'"),
    "unknown treatment": (
        *(whole, {"options": {"treatments": ["d1", "dd2"]}}, UnknownColumnError, "mean 'd2'"),
    ),
    "no controls": (whole, {"controls": []}, EmptyInputError, "at least one control"),
    "only treatments": (
        *(lambda: FRAME[["d1", "d2", "y"]], {"controls": None}, EmptyInputError, "beside"),
    ),
    "outcome is a treatment": (whole, {"outcome": "d1"}, OptionError, "'d1'"),
    "outcome is a control": (whole, {"controls": ["z1", "y"]}, OptionError, "'y'"),
    "treatment is a control": (whole, {"controls": ["z1", "d1"]}, OptionError, "'d1'"),
    "weight is a control": (whole, {"sample_weight": "z1"}, OptionError, "'z1'"),
    "weight is the group": (whole, {"sample_weight": "w", "groups": "w"}, OptionError, "'w'"),
    "outcome is the group": (whole, {"groups": "y"}, OptionError, "'y'"),
    "text treatment": (
        whole,
        {"options": {"treatments": ["d1", "region"]}, "controls": ["z1"]},
        *(ColumnTypeError, "'region'"),
    ),
    "text outcome": (whole, {"outcome": "region", "controls": ["z1"]}, ColumnTypeError, "region"),
    "categories": (
        lambda: make(2100).assign(region=[f"r{i % 1050}" for i in range(2100)]),
        *({}, InputError, "at most 1000 categories in column 'region'"),
    ),
    "identifier": (changed(region=[f"r{i}" for i in range(600)]), {}, InputError, "identifier"),
    "text at times": (
        lambda: [
            FRAME[:90],
            FRAME[90:].assign(region=np.arange(510).astype(float).astype(object)),
        ],
        *({}, ColumnTypeError, "'region'"),
    ),
    "dates": (*(changed(z1=pd.date_range("2020", periods=600)), {}, ColumnTypeError, "'z1'"),),
    "scale": (changed(z1=FRAME["z1"] * 1e150), {}, InputError, "'z1'"),
    "negative weights": (
        *(changed(w=FRAME["w"] - 1), {"sample_weight": "w"}, InputError, "between 0 and"),
    ),
    "huge weights": (
        *(changed(w=FRAME["w"] * 1e200), {"sample_weight": "w"}, InputError, "between 0 and"),
    ),
    "no weights": (changed(w=0.0), {"sample_weight": "w"}, TooFewRowsError, "0 rows"),
    "text weights": (
        *(whole, {"sample_weight": "region", "controls": ["z1"]}, ColumnTypeError, "'region'"),
    ),
    "one group": (changed(firm=1), {"groups": "firm"}, FoldError, "one group"),
    "learner": (whole, {"options": {"learner": "mean"}}, OptionError, "TangentNet"),
    "other learner": (whole, {"options": {"learner": dn.WideNet()}}, OptionError, "TangentNet"),
    "width": (whole, {"options": {"learner": dn.TangentNet(width=0)}}, OptionError, "width"),
    "memory": (whole, {"options": {"learner": network(width=10**7)}}, MemoryLimitError, "GB"),
    "features": (whole, {"options": {"learner": network("splines")}}, OptionError, "features"),
    "method": (whole, {"options": {"method": "dml1"}}, OptionError, "dml1"),
    "gls": (whole, {"options": {"method": "gls"}}, OptionError, "gls"),
    "leave one out": (whole, {"options": {"crossfit": "loo"}}, OptionError, "loo"),
    "no folds": (whole, {"options": {"crossfit": None}}, OptionError, "None"),
    "repeated folds": (whole, {"options": {"crossfit": (5, 2)}}, OptionError, "crossfit=5"),
    "threads": (whole, {"options": {"n_jobs": 0}}, OptionError, "n_jobs"),
    "client": (whole, {"client": 3}, OptionError, "client"),
    "checkpoint in no folder": (whole, {"checkpoint": "no/such/file"}, OptionError, "folder"),
    "checkpoint is a folder": (whole, {"checkpoint": "."}, OptionError, "folder"),
    "array": (lambda: np.ones((9, 3)), {}, OptionError, "ndarray"),
    "no files": (lambda: "nothing/*.parquet", {}, DataNotFoundError, "nothing"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    if name == "client":
        pytest.importorskip("distributed")
    data, arguments, error, match = REFUSED[name]
    with pytest.raises(error, match=match):
        stream(data(), **arguments)


def test_groups_afterwards_and_covariances_that_were_not_taken():
    result = stream(FRAME).result_
    with pytest.raises(CovarianceError, match="groups"):
        result.with_vcov("cluster")
    with pytest.raises(CovarianceError, match="groups"):
        result.with_vcov("cluster", groups=FRAME["firm"])


# --- data that are wrong somewhere ---------------------------------------------------------------


def damage(folder, how):
    """Spoil the third file, of rows 400 to 599 in row groups of 70."""
    path = folder / "part-2.parquet"
    frame = pd.read_parquet(path)
    if how == "cut":
        path.write_bytes(path.read_bytes()[:-50])
    elif how == "pages":
        content = bytearray(path.read_bytes())
        place = pq.read_metadata(path).row_group(1).column(0).data_page_offset
        content[place + 40 : place + 400] = bytes(360)
        path.write_bytes(bytes(content))
    else:
        spoiled = {
            "missing": lambda: frame.assign(z2=frame["z2"].where(np.arange(200) != 150)),
            "infinite": lambda: frame.assign(y=frame["y"].where(np.arange(200) != 150, np.inf)),
            "no text": lambda: frame.assign(region=frame["region"].where(np.arange(200) != 150)),
            "negative": lambda: frame.assign(w=frame["w"].where(np.arange(200) != 150, -1.0)),
            "no column": lambda: frame.drop(columns="z2"),
            "text": lambda: frame.assign(z2=frame["z2"].astype(str)),
        }[how]()
        spoiled.to_parquet(path, row_group_size=70)


DAMAGES = {
    "cut": (FileFormatError, ["part-2.parquet"]),
    "pages": (FileFormatError, ["part-2.parquet, row group 1"]),
    "missing": (MissingValueError, ["'z2'", "row 550", "part-2.parquet, row group 2, row 10"]),
    "infinite": (MissingValueError, ["'y'", "row 550", "part-2.parquet, row group 2, row 10"]),
    "no text": (MissingValueError, ["'region'", "row 550", "row group 2, row 10"]),
    "negative": (InputError, ["-1", "part-2.parquet, row group 2"]),
    "no column": (UnknownColumnError, ["'z2'", "part-2.parquet"]),
    "text": (ColumnTypeError, ["'z2'", "part-2.parquet"]),
}


@pytest.mark.parametrize("how", DAMAGES)
def test_damaged_data_leave_nothing_half_done(tmp_path, how):
    """The place is named; the old fit stays; what is on disk is as it was or whole."""
    folder = write(tmp_path / "data")
    fitted = stream(folder, sample_weight="w")
    before = (fitted.result_, fitted.coef_, fitted.predict(FRAME[fitted.feature_names_in_]))
    damage(folder, how)
    error, texts = DAMAGES[how]
    for _ in range(2):  # the checkpoint that the first attempt leaves is one that can be read
        with pytest.raises(error) as raised:
            fitted.fit_stream(
                *(folder, "y"),
                controls=CONTROLS,
                sample_weight="w",
                checkpoint=tmp_path / "sums",
            )
        assert all(text in str(raised.value) for text in texts), str(raised.value)
    assert fitted.result_ is before[0]
    assert fitted.coef_ is before[1]
    assert np.array_equal(fitted.predict(FRAME[fitted.feature_names_in_]), before[2])
    assert {path.name for path in tmp_path.iterdir()} <= {"data", "sums"}
    assert len(list(folder.iterdir())) == 3


def late_missing():
    yield from parts()[:3]
    yield parts()[3].assign(z1=np.nan)


def late_failure():
    yield from parts()[:3]
    raise RuntimeError("the connection is lost")


@pytest.mark.parametrize(
    ("data", "error"), [(late_missing, MissingValueError), (late_failure, RuntimeError)]
)
def test_a_failed_fit_leaves_no_temporary_file(spools, data, error):
    with pytest.raises(error):
        stream(data)


def test_a_file_that_changes_between_passes(tmp_path, monkeypatch):
    folder = write(tmp_path / "data")
    whole = fit_module.read_schema

    def change(*arguments):
        write(folder, FRAME.assign(y=FRAME["y"] + 1))
        return whole(*arguments)

    monkeypatch.setattr(fit_module, "read_schema", change)
    with pytest.raises(InputError, match="changed since"):
        stream(folder)


# --- interrupted ---------------------------------------------------------------------------------


class Stopping:
    """`read_rows` that counts, and stops the run at one of the calls."""

    def __init__(self, monkeypatch, at=None):
        self.calls, self._at, self._read = 0, at, running.read_rows
        monkeypatch.setattr(running, "read_rows", self)

    def __call__(self, *arguments):
        self.calls += 1
        if self.calls == self._at:
            raise KeyboardInterrupt
        return self._read(*arguments)


def bits(fitted):
    result = fitted.result_
    arrays = [fitted.coef_, fitted.predict(FRAME[fitted.feature_names_in_])]
    return [
        array.tobytes() for array in (*arrays, *(result.with_vcov(k).covariance for k in KINDS))
    ]


def resumable(data, checkpoint, **options):
    roles = {"groups": "firm", "sample_weight": "w", "checkpoint": checkpoint}
    return stream(data, options=options, **roles)


@pytest.mark.parametrize("net", ["units", "learned"])
@pytest.mark.parametrize("at", [1, 2, 9, 10, 17, 18, 20, 27])
def test_an_interrupted_fit_goes_on(tmp_path, at, net):
    """Nine pieces, each read three times; whatever is done is not read again."""
    folder = write(tmp_path / "data")
    checkpoint = tmp_path / "sums"
    learner = NETWORKS[net]
    expected = bits(resumable(folder, None, learner=learner))
    with pytest.MonkeyPatch.context() as patch:
        stopping = Stopping(patch, at)
        with pytest.raises(KeyboardInterrupt):
            resumable(folder, checkpoint, n_jobs=1, learner=learner)
        assert stopping.calls == at
    assert checkpoint.exists() == (at > 1)
    with pytest.MonkeyPatch.context() as patch:
        counting = Stopping(patch)
        found = resumable(folder, checkpoint, n_jobs=2, learner=learner)
        assert counting.calls == 27 - (at - 1)
    assert bits(found) == expected
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_what_a_killed_process_left_half_written_is_removed(tmp_path):
    folder = write(tmp_path / "data")
    left = tmp_path / f".sums-{'0f' * 16}.tmp"
    others = [tmp_path / f".other-{'0f' * 16}.tmp", tmp_path / ".sums-notes.tmp"]
    for path in (left, *others):
        path.write_bytes(b"half")
    resumable(folder, tmp_path / "sums", learner=NETWORKS["units"])
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["data", *(path.name for path in others)]
    )


def test_an_interrupted_thread(tmp_path, monkeypatch):
    """The interruption is raised by the work itself, in a pass over frames in memory."""
    original, calls = fit_module.fold_grams, []

    def stop(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(fit_module, "fold_grams", stop)
    with pytest.raises(KeyboardInterrupt):
        resumable(parts(), tmp_path / "sums")
    found = resumable(parts(), tmp_path / "sums")
    assert len(calls) == 5  # two done, one stopped, two left
    monkeypatch.setattr(fit_module, "fold_grams", original)
    assert bits(found) == bits(resumable(parts(), None))


@pytest.fixture
def interrupted(tmp_path, monkeypatch):
    """A checkpoint of `parts()`, stopped in the second pass."""
    with pytest.MonkeyPatch.context() as patch:
        Stopping(patch, 6)
        with pytest.raises(KeyboardInterrupt):
            resumable(parts(), tmp_path / "sums")
    return tmp_path / "sums"


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (lambda: parts(count=5), {}),
        (lambda: parts(FRAME.assign(z1=FRAME["z1"] + 1e-9)), {}),  # same shapes, other values
        (lambda: parts(FRAME.assign(region=FRAME["region"].str.upper())), {}),
        (parts, {"random_state": 1}),
        (parts, {"crossfit": 4}),
        (parts, {"method": "robinson"}),
        (parts, {"learner": network(width=31)}),
        (parts, {"learner": network("landmarks")}),
        (parts, {"learner": network(tune="gcv")}),
        (parts, {"learner": network(skip=1.0)}),
        (parts, {"treatments": ["d2", "d1"]}),
    ],
)
def test_checkpoints_of_other_fits_are_refused(interrupted, data, options):
    kept = interrupted.read_bytes()
    with pytest.raises(OptionError, match="another fit"):
        resumable(data(), interrupted, **options)
    assert interrupted.read_bytes() == kept
    resumable(parts(), interrupted)
    assert not interrupted.exists()


@pytest.mark.parametrize("content", [b"", b"my thesis", "half"])
def test_files_that_are_no_checkpoints_are_left_alone(interrupted, content):
    if content == "half":
        content = interrupted.read_bytes()[: interrupted.stat().st_size // 2]
    interrupted.write_bytes(content)
    with pytest.raises(FileFormatError):
        resumable(parts(), interrupted)
    assert interrupted.read_bytes() == content


KILLED = """
import pathlib, sys, time
sys.path[:0] = [sys.argv[1], str(pathlib.Path(sys.argv[1]).parent)]
import test_streaming as t
from debinet.streaming import checkpoint, running
checkpoint._EVERY = 0.0
read, calls = running.read_rows, []
def slowly(*arguments):
    calls.append(1)
    if len(calls) == 12:
        pathlib.Path(sys.argv[4]).touch()
        time.sleep(60)
    return read(*arguments)
running.read_rows = slowly
t.resumable(sys.argv[2], sys.argv[3])
"""


def test_killed_in_the_middle(tmp_path):
    """SIGKILL in the second pass, after two of its nine pieces: what was written is whole."""
    folder, checkpoint = write(tmp_path / "data"), tmp_path / "sums"
    script, reached = tmp_path / "script.py", tmp_path / "reached"
    script.write_text(KILLED)
    arguments = [Path(__file__).parent, folder, checkpoint, reached]
    process = subprocess.Popen(
        [sys.executable, str(script), *map(str, arguments)], start_new_session=True
    )
    while not reached.exists():
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    with pytest.MonkeyPatch.context() as patch:
        counting = Stopping(patch)
        found = resumable(folder, checkpoint)
        assert counting.calls == 27 - 11
    assert bits(found) == bits(resumable(folder, None))
    assert not checkpoint.exists()


# --- afterwards ----------------------------------------------------------------------------------


@pytest.mark.parametrize("net", NETWORKS)
def test_saved_and_read_back(tmp_path, net):
    fitted = stream(FRAME, groups="firm", options={"learner": NETWORKS[net]})
    fitted.save(tmp_path / "model.npz")
    again = dn.load(tmp_path / "model.npz")
    X = FRAME[fitted.feature_names_in_]
    assert np.array_equal(again.predict(X), fitted.predict(X))
    assert np.array_equal(again.nuisance(X), fitted.nuisance(X))
    fitted.result_.save(tmp_path / "result.npz")
    for result in (again.result_, dn.load(tmp_path / "result.npz")):
        assert result.summary() == fitted.result_.summary()
        assert str(result.trust()) == str(fitted.result_.trust())
        for kind in KINDS:
            expected = fitted.result_.with_vcov(kind)
            assert np.array_equal(result.with_vcov(kind).covariance, expected.covariance)
        pd.testing.assert_frame_equal(
            result.confint(joint=True), fitted.result_.confint(joint=True)
        )


def test_summary_report_and_trust(tmp_path):
    result = stream(parts(), groups="firm", sample_weight="w").result_
    text = result.summary()
    assert "600, streamed from 4 data frames" in text
    assert "groups of 'firm' at random" in text
    assert "60 of 'firm'" in text
    assert "rows are weighted" in text
    assert result.trust().verdict in {"ok", "look"}
    write_report(result, tmp_path / "page.html")
    assert "streamed from" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_only_a_sample_of_the_rows_is_kept(monkeypatch):
    monkeypatch.setattr(fit_module, "_SAMPLE", 100)
    some = stream(parts())
    monkeypatch.setattr(fit_module, "_SAMPLE", 4000)
    every = stream(parts())
    assert np.array_equal(some.coef_, every.coef_)
    assert np.array_equal(some.result_.covariance, every.result_.covariance)
    kept = [len(fitted.result_.regressions[0].R_y) for fitted in (some, every)]
    assert kept[1] == 600
    assert 60 < kept[0] < 140  # 100 on average, four standard deviations around


def test_progress_is_shown_if_asked_for(capsys):
    stream(parts(), progress=True)
    shown = capsys.readouterr().err
    assert all(name in shown for name in ("columns", "grams", "scores"))
    stream(parts())
    assert capsys.readouterr().err == ""
