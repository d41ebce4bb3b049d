"""Files, frames and iterators as pieces that are read several times."""

from __future__ import annotations

import importlib
import os
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from debinet.data import pieces as pieces_module
from debinet.data.sources import open_source
from debinet.exceptions import (
    ColumnTypeError,
    DataNotFoundError,
    DebiNetError,
    DuplicateColumnError,
    EmptyInputError,
    FileFormatError,
    InputError,
    MissingDependencyError,
    OptionError,
    UnknownColumnError,
)

NAMES = ["y", "g", "k", "when", "flag", "money"]


def make(n, seed=0):
    rng = np.random.default_rng(seed)
    columns = {
        "y": pa.array(rng.normal(size=n)),
        "g": pa.array(rng.choice(["a", "b", "c"], n)).dictionary_encode(),
        "k": pa.array(rng.integers(0, 9, n)),
        "when": pa.array(np.arange(n), pa.timestamp("us")),
        "flag": pa.array(rng.integers(0, 2, n).astype(bool)),
        "money": pa.array(np.arange(n)).cast(pa.decimal128(20, 0)),
    }
    return pa.table(columns)


@pytest.fixture
def folder(tmp_path):
    """Three files of 7, 5 and 11 rows, named so that sorting as text would be wrong."""
    target = tmp_path / "data"
    target.mkdir()
    for number, n in [(1, 7), (2, 5), (10, 11)]:
        pq.write_table(make(n, number), target / f"part-{number}.parquet", row_group_size=4)
    return target


@pytest.fixture
def spools(tmp_path, monkeypatch):
    """A folder for temporary files that must be empty when all is done."""
    target = tmp_path / "spools"
    target.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(target))
    return target


def as_arrow(frame):
    return frame if isinstance(frame, pa.Table) else pa.Table.from_pandas(frame)


def collect(source, columns=None, size=3):
    """All rows, through pickled pieces, checking the properties of each piece."""
    columns = list(source.names) if columns is None else columns
    frames, seen = [], 0
    for i, piece in enumerate(pickle.loads(pickle.dumps(source.pieces))):
        assert (piece.number, piece.offset) == (i, seen)
        at = 0
        for start, frame in piece.batches(columns, size):
            assert start == at
            assert isinstance(frame, (pa.Table, pd.DataFrame))
            assert 1 <= len(frame) <= size
            assert list(as_arrow(frame).column_names)[: len(columns)] == columns
            frames.append(frame if isinstance(frame, pd.DataFrame) else frame.to_pandas())
            at += len(frame)
        assert at == piece.rows
        seen += at
    assert seen == source.rows
    return pd.concat(frames, ignore_index=True)


def plain(frame):
    return frame.assign(g=frame["g"].astype(str)) if "g" in frame else frame


# --- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 100])
def test_batches_of_every_size_give_what_pandas_reads(folder, size):
    files = [folder / f"part-{number}.parquet" for number in (1, 2, 10)]
    expected = pd.concat([plain(pd.read_parquet(file)) for file in files], ignore_index=True)
    with open_source(folder) as source:
        assert source.names == tuple(NAMES)
        assert source.rows == 23
        assert [piece.rows for piece in source.pieces] == [4, 3, 4, 1, 4, 4, 3]
        assert source.pieces[3].where == "part-2.parquet, row group 1"
        pd.testing.assert_frame_equal(plain(collect(source, size=size)), expected)
        some = ["flag", "y"]
        pd.testing.assert_frame_equal(collect(source, some, size), expected[some])


def test_types_are_left_alone(folder):
    with open_source(folder) as source:
        ((_, frame),) = source.pieces[0].batches(NAMES, 10)
    assert pa.types.is_dictionary(frame.schema.field("g").type)
    assert frame.schema.field("money").type == pa.decimal128(20, 0)
    assert frame.schema.field("when").type == pa.timestamp("us")


def test_ways_to_name_the_same_files(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.setenv("USERPROFILE", str(folder.parent))
    files = [str(path) for path in folder.iterdir()]
    ways = [folder, str(folder), "data", "data/*.parquet", "data/**/*.parquet", "**/*.parquet"]
    ways += ["~/data", "~/data/part-*.parquet", files[::-1], tuple(files), ["data/part-[12]*"]]
    for way in ways:
        with open_source(way) as source:
            assert [p.offset for p in source.pieces] == [0, 4, 7, 11, 12, 16, 20], way
            assert "part-10.parquet" in source.pieces[-1].where
    with open_source("data/*.parquet") as source:
        assert source.label == "data/*.parquet"
    with open_source(files) as source:
        assert source.label == "3 Parquet files"
    with open_source("data/part-2.parquet") as source:
        assert source.rows == 5


def test_names_with_brackets_are_files_first(tmp_path):
    pq.write_table(make(3), tmp_path / "a[1].parquet")
    pq.write_table(make(5), tmp_path / "a1.parquet")
    with open_source(tmp_path / "a[1].parquet") as source:
        assert source.rows == 3


def test_hidden_files_and_strangers_are_left_out(folder):
    (folder / "_SUCCESS").touch()
    (folder / "README.md").write_text("not a table")
    (folder / "_temporary").mkdir()
    for name in ["_draft.parquet", ".part-1.parquet", "_temporary/part-0.parquet"]:
        pq.write_table(make(2), folder / name)
    for way in [folder, f"{folder}/*.parquet", f"{folder}/**/*.parquet"]:
        with open_source(way) as source:
            assert source.rows == 23
    with open_source(folder / "_draft.parquet") as source:  # named, so meant
        assert source.rows == 2


def test_folders_linked_in_a_circle(folder):
    try:
        (folder / "again").symlink_to(folder, target_is_directory=True)
    except OSError:
        pytest.skip("no links here")
    with open_source(folder) as source:
        assert source.rows == 23


def test_empty_groups_and_files_are_skipped(folder):
    pq.write_table(make(0), folder / "part-0.parquet")
    with pq.ParquetWriter(folder / "part-3.parquet", make(1).schema) as writer:
        for n in (2, 0, 3):
            writer.write_table(make(n))
    with open_source(folder) as source:
        assert source.rows == 28
        assert min(piece.rows for piece in source.pieces) == 1
        assert len(collect(source)) == 28


def test_columns_may_have_other_widths_orders_and_company(tmp_path):
    first = pa.table({"a": pa.array([1], pa.int16()), "b": pa.array([1.0], pa.float32())})
    later = pa.table({"more": ["x"], "b": pa.array([2.5]), "a": pa.array([2.0])})
    pq.write_table(first, tmp_path / "1.parquet")
    pq.write_table(later, tmp_path / "2.parquet")
    with open_source(tmp_path) as source:
        assert source.names == ("a", "b")
        assert collect(source).to_numpy().tolist() == [[1, 1], [2, 2.5]]


def test_a_column_that_is_null_throughout_goes_with_any_type(tmp_path):
    for name, column in [("1", pa.nulls(2)), ("2", pa.array(["u"])), ("3", pa.nulls(1))]:
        pq.write_table(pa.table({"a": column}), tmp_path / f"{name}.parquet")
    with open_source(tmp_path) as source:
        assert source.rows == 4
    pq.write_table(pa.table({"a": [1.0]}), tmp_path / "4.parquet")
    with pytest.raises(ColumnTypeError, match=r"4\.parquet"):
        open_source(tmp_path)


def test_dots_in_names_and_labels_of_pandas_rows(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0], "x.1": [3.0, 4.0], "x.1.a": [5.0, 6.0]}, index=[5, 9])
    frame.to_parquet(tmp_path / "a.parquet")
    with open_source(tmp_path / "a.parquet") as source:
        assert source.names == ("x", "x.1", "x.1.a")
        for columns in (["x"], ["x.1", "x"], ["x.1.a"]):
            assert collect(source, columns).to_numpy().tolist() == frame[columns].values.tolist()


@pytest.mark.parametrize("spelling", ["folder", "pattern", "folders", "files"])
def test_hive_folders_are_columns(tmp_path, spelling):
    frame = pd.DataFrame(
        {
            "year": [2020, 2020, 2021, 2021],
            "place": ["a b", "c", "a b", "c"],
            "y": [1.0, 2.0, 3.0, 4.0],
        }
    )
    pq.write_to_dataset(
        pa.Table.from_pandas(frame), str(tmp_path / "t"), partition_cols=["year", "place"]
    )
    way = {
        "folder": tmp_path / "t",
        "pattern": f"{tmp_path}/t/**/*.parquet",
        "folders": [tmp_path / "t" / "year=2021", tmp_path / "t" / "year=2020"],
        "files": list((tmp_path / "t").rglob("*.parquet")),
    }[spelling]
    with open_source(way) as source:
        assert source.names == ("y", "year", "place")
        got = collect(source, ["year", "y", "place"])
        assert collect(source, ["place"], 1)["place"].tolist() == ["a b", "c"] * 2
        ((_, batch),) = source.pieces[0].batches(["place", "year"], 5)
        assert batch.schema.types == [pa.string(), pa.int64()]
        assert source.pieces[0].where.startswith("year=2020/place=a%20b/")
    expected = frame[["year", "y", "place"]]
    pd.testing.assert_frame_equal(got, expected, check_dtype=False)


def test_hive_texts_nulls_and_columns_that_are_in_the_file_too(tmp_path):
    for name, n in [("k=1", 1), ("k=x", 1), ("k=__HIVE_DEFAULT_PARTITION__", 2)]:
        place = tmp_path / name / "y=7"
        place.mkdir(parents=True)
        pq.write_table(pa.table({"y": np.arange(float(n))}), place / "a.parquet")
    with open_source(tmp_path) as source:
        assert source.names == ("y", "k")
        values = pa.concat_tables([b for p in source.pieces for _, b in p.batches(["k", "y"], 9)])
    assert sorted(values.to_pydict()["k"], key=str) == ["1", None, None, "x"]
    assert sorted(values.to_pydict()["y"]) == [0, 0, 0, 1]


def test_hive_column_missing_in_some_folder(tmp_path):
    for place in ("k=1", "other"):
        (tmp_path / place).mkdir()
        pq.write_table(pa.table({"y": [1.0]}), tmp_path / place / "a.parquet")
    with pytest.raises(UnknownColumnError, match=r"'k'.*other/a\.parquet"):
        open_source(tmp_path)


def test_fingerprint_follows_the_files(folder):
    def fingerprint():
        with open_source(folder) as source:
            return source.fingerprint

    first = fingerprint()
    assert first == fingerprint()
    assert int(first, 16)
    os.utime(folder / "part-2.parquet", ns=(1, 1))
    second = fingerprint()
    (folder / "part-2.parquet").unlink()
    assert len({first, second, fingerprint()}) == 3


# --- what is refused -----------------------------------------------------------------------------


def test_paths_without_data(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    for way in ["nowhere.parquet", "no/*.parquet", tmp_path / "empty", [folder, "nothing"]]:
        with pytest.raises(DataNotFoundError, match="gives none"):
            open_source(way)
    pq.write_table(make(0), tmp_path / "empty" / "a.parquet")
    with pytest.raises(EmptyInputError):
        open_source(tmp_path / "empty")


def test_a_file_given_twice(folder):
    with pytest.raises(InputError, match=r"part-1\.parquet' 2 times"):
        open_source([folder, folder / "part-1.parquet"])


def test_files_that_do_not_fit(folder):
    last = folder / "part-11.parquet"
    pq.write_table(make(3).drop_columns(["k"]), last)
    with pytest.raises(UnknownColumnError, match=r"'k'.*part-11\.parquet"):
        open_source(folder)
    pq.write_table(make(3).set_column(2, "k", pa.array(["1", "2", "3"])), last)
    with pytest.raises(ColumnTypeError, match=r"'k'.*Int64.*String in part-11\.parquet"):
        open_source(folder)
    pq.write_table(pa.table([pa.array([1.0])] * 2, names=["a", "a"]), last)
    with pytest.raises(DuplicateColumnError, match=r"part-11\.parquet.*'a'"):
        open_source(folder)


@pytest.mark.parametrize("damage", ["empty", "text", "cut", "footer"])
def test_damaged_files(folder, damage):
    file = folder / "part-2.parquet"
    content = file.read_bytes()
    middle = len(content) * 4 // 5
    broken = {
        "empty": b"",
        "text": b"y,g\n1,a\n",
        "cut": content[:-20],
        "footer": content[:middle] + b"\xff" * 40 + content[middle + 40 :],
    }
    file.write_bytes(broken[damage])
    with pytest.raises(FileFormatError, match=r"part-2\.parquet"), open_source(folder) as source:
        collect(source)


@pytest.mark.parametrize("options", [{"compression": "snappy"}, {"write_page_checksum": True}])
def test_damaged_pages(tmp_path, options):
    file = tmp_path / "a.parquet"
    values = np.repeat(np.arange(1000.0), 5)
    options = {"compression": "none", "use_dictionary": False, **options}
    pq.write_table(pa.table({"y": values}), file, row_group_size=2500, **options)
    chunk = pq.read_metadata(file).row_group(1).column(0)
    content = bytearray(file.read_bytes())
    at = chunk.data_page_offset + chunk.total_compressed_size // 2
    content[at : at + 100] = bytes(255 - b for b in content[at : at + 100])
    file.write_bytes(content)
    with open_source(file) as source:
        assert sum(len(frame) for _, frame in source.pieces[0].batches(["y"], 100)) == 2500
        with pytest.raises(FileFormatError, match=r"a\.parquet, row group 1"):
            list(source.pieces[1].batches(["y"], 100))


def test_files_that_change_or_go_between_opening_and_reading(folder):
    with open_source(folder) as source:
        os.utime(folder / "part-1.parquet", ns=(1, 1))
        (folder / "part-2.parquet").unlink()
        with pytest.raises(InputError, match=r"part-1\.parquet.*changed"):
            next(source.pieces[0].batches(["y"], 5))
        with pytest.raises(DataNotFoundError, match=r"part-2\.parquet"):
            next(source.pieces[2].batches(["y"], 5))
        assert next(source.pieces[-1].batches(["y"], 5))[0] == 0


@pytest.mark.parametrize("make_data", [lambda f: f, lambda f: pd.DataFrame({"y": [1.0]})])
def test_requests_that_cannot_be_met(folder, make_data):
    with open_source(make_data(folder)) as source:
        piece = source.pieces[0]
        with pytest.raises(UnknownColumnError, match="'nope'"):
            next(piece.batches(["y", "nope"], 5))
        for columns, size in [([], 5), ("y", 5), (["y"], 0)]:
            with pytest.raises(OptionError):
                next(piece.batches(columns, size))


@pytest.mark.parametrize(
    "data",
    [
        *[None, 3, {"a": [1]}, {"path"}, np.zeros((3, 2)), pd.Series([1.0]), lambda x: x],
        *[[], [1, 2], [pd.DataFrame({"a": [1]}), "a"]],
    ],
    ids=lambda data: type(data).__name__,
)
def test_what_is_no_data(data):
    with pytest.raises(OptionError, match="Parquet file, a folder"):
        open_source(data)


def test_without_pyarrow(folder, monkeypatch):
    with open_source(folder) as source:
        piece = source.pieces[0]

    def refuse(name):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(pieces_module, "import_module", refuse)
    for read in [
        lambda: open_source(folder),
        lambda: open_source(iter([])),
        lambda: next(piece.batches(["y"], 3)),
    ]:
        with pytest.raises(MissingDependencyError, match=r"debinet\[stream\]"):
            read()
    with open_source(pd.DataFrame({"y": [1.0]})) as source:  # does not need it
        assert len(next(source.pieces[0].batches(["y"], 3))[1]) == 1


# --- frames in memory ----------------------------------------------------------------------------

CONVERT = {
    "pandas": pd.DataFrame,
    "polars": pl.from_pandas,
    "arrow": pa.Table.from_pandas,
    "batch": pa.RecordBatch.from_pandas,
}


@pytest.mark.parametrize("size", [1, 2, 50])
@pytest.mark.parametrize("convert", CONVERT.values(), ids=CONVERT)
def test_frames(convert, size):
    whole = pd.DataFrame({"y": np.arange(9.0), "g": list("abcabcabc"), "k": range(9)})
    cuts = [whole[:4], whole[4:4], whole[4:]]
    frames = [convert(cut.reset_index(drop=True)) for cut in cuts]
    for data, pieces in [(frames, [4, 5]), (tuple(frames), [4, 5]), (frames[0], [4])]:
        with open_source(data) as source:
            assert [piece.rows for piece in source.pieces] == pieces
            got = collect(source, ["k", "y", "g"], size)
            expected = whole[["k", "y", "g"]][: sum(pieces)]
            pd.testing.assert_frame_equal(got, expected, check_dtype=False)


def test_labels_of_frames_that_are_no_strings():
    frame = pd.DataFrame(np.arange(6.0).reshape(3, 2), index=[5, 5, 1])
    with open_source(frame) as source:
        assert source.names == ("0", "1")
        assert collect(source, ["1"])["1"].tolist() == [1, 3, 5]


def test_frames_that_are_refused():
    good = pd.DataFrame({"a": [1.0], "b": ["u"]})
    with pytest.raises(UnknownColumnError, match=r"'b'.*data frame 1"):
        open_source([good, good[["a"]]])
    with pytest.raises(ColumnTypeError, match=r"'b'.*data frame 1"):
        open_source([good, good.assign(b=2)])
    with pytest.raises(DuplicateColumnError, match="data frame 0"):
        open_source(good.set_axis(["a", "a"], axis=1))
    with pytest.raises(EmptyInputError):
        open_source(good[:0])
    with pytest.raises(EmptyInputError):
        open_source(pd.DataFrame(index=range(3)))


def test_fingerprint_of_frames_is_their_shape():
    def fingerprint(frame):
        with open_source(frame) as source:
            return source.fingerprint

    frame = pd.DataFrame({"a": [1.0, 2.0]})
    assert fingerprint(frame) == fingerprint(frame + 1)
    assert len({fingerprint(f) for f in [frame, frame[:1], frame.rename(columns=str.upper)]}) == 3


# --- data that can be read once only -------------------------------------------------------------


def chunks(convert=pd.DataFrame, sizes=(3, 0, 1, 4, 2)):
    start = 0
    for n in sizes:
        rows = range(start, start + n)
        frame = {"y": np.array(rows, float), "g": [f"g{i % 3}" for i in rows], "k": list(rows)}
        yield convert(pd.DataFrame(frame))
        start += n


class Relation:
    """What a relation of DuckDB has, of its old and its new versions."""

    def __init__(self, method):
        batches = [batch for table in chunks(pa.Table.from_pandas) for batch in table.to_batches()]
        self.table = pa.Table.from_batches(batches)
        setattr(self, method, lambda: self.table.to_reader(max_chunksize=3))


ONCE = {
    "generator": chunks,
    "polars": lambda: chunks(pl.from_pandas),
    "batches": lambda: chunks(pa.RecordBatch.from_pandas),
    "iterator": lambda: iter(list(chunks(pa.Table.from_pandas))),
    "function": lambda: chunks,
    "function of a list": lambda: lambda: list(chunks()),
    "function of a frame": lambda: lambda: next(chunks(sizes=[10])),
    "reader": lambda: Relation("old").table.to_reader(4),
    "old relation": lambda: Relation("fetch_record_batch"),
    "new relation": lambda: Relation("to_arrow_reader"),
    "lazy": lambda: pl.concat(list(chunks(pl.from_pandas, (3, 7)))).lazy().with_columns(),
}


@pytest.mark.parametrize("data", ONCE.values(), ids=ONCE)
def test_spooled_data(data, spools):
    with open_source(data()) as source:
        assert len(list(spools.rglob("*.parquet"))) == 1
        for _ in range(2):
            got = collect(source, ["k", "g", "y"], 4)
            assert got["k"].tolist() == list(range(10)) == got["y"].tolist()
            assert got["g"].tolist() == [f"g{i % 3}" for i in range(10)]
        assert source.pieces[0].where.startswith("rows 0 to 9 of ")
        first = source.fingerprint
    assert not list(spools.iterdir())
    with pytest.raises(DataNotFoundError):
        next(source.pieces[0].batches(["y"], 4))
    with open_source(data()) as source:
        assert source.fingerprint == first  # by content


def test_spooled_row_groups_have_one_size(spools, monkeypatch):
    module = importlib.import_module("debinet.data.sources")
    monkeypatch.setattr(module, "_GROUP_ROWS", 4)
    for sizes in [(10,), (1,) * 10, (3, 3, 3, 1), (8, 2)]:
        with open_source(chunks(sizes=sizes)) as source:
            assert [piece.rows for piece in source.pieces] == [4, 4, 2]
            assert collect(source)["k"].tolist() == list(range(10))
    monkeypatch.setattr(module, "_GROUP_BYTES", 3 * 8 * 2)  # three columns: two rows
    with open_source(chunks()) as source:
        assert {piece.rows for piece in source.pieces} == {2}


def test_fingerprint_of_spooled_data_follows_the_values(spools):
    with open_source(chunks()) as one, open_source(chunks(lambda f: f.assign(k=-f["k"]))) as two:
        assert one.fingerprint != two.fingerprint


def test_categories_may_be_numbered_differently_in_every_frame(spools):
    frames = [pd.DataFrame({"g": pd.Categorical(v)}) for v in (["b", "a"], ["c"], [None, "a"])]
    with open_source(iter(frames)) as source:
        assert collect(source)["g"].fillna("?").tolist() == ["b", "a", "c", "?", "a"]
    with open_source(iter([pd.DataFrame({"g": pd.Categorical([3, 1])})])) as source:
        assert collect(source)["g"].tolist() == ["3", "1"]  # not numbers


def test_numbers_of_other_types_that_lose_nothing(spools):
    frames = [pd.DataFrame({"a": values}) for values in ([1.5], [2], [True])]
    with open_source(iter(frames)) as source:
        assert collect(source)["a"].tolist() == [1.5, 2, 1]


def float32(values):
    return pd.DataFrame({"a": np.array(values, np.float32)})


@pytest.mark.parametrize(
    ("second", "error", "message"),
    [
        (pd.DataFrame({"b": [1]}), InputError, "data frame 1 with a column 'b'"),
        (pd.DataFrame({"a": [1], "b": [1]}), InputError, "data frame 1 with a column 'b'"),
        (pd.DataFrame({"a": ["1"]}), ColumnTypeError, "'a'.*String in data frame 1"),
        (pd.DataFrame({"a": [0.5]}), ColumnTypeError, "'a'.*double in data frame 1"),
        (pd.DataFrame({"a": [{1}]}), ColumnTypeError, "data frame 1"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), DuplicateColumnError, "data frame 1"),
        (pd.DataFrame(index=[0]), EmptyInputError, "data frame 1.* 0 columns"),
        (np.zeros((2, 1)), InputError, "ndarray as data frame 1"),
        (Path("a.parquet"), InputError, "give a list"),
        (RuntimeError("mine"), RuntimeError, "mine"),
    ],
)
def test_errors_while_spooling_leave_nothing_behind(spools, second, error, message):
    def frames():
        yield pd.DataFrame({"a": [1]})
        if isinstance(second, Exception):
            raise second
        yield second

    with pytest.raises(error, match=message):
        open_source(frames)
    assert not list(spools.iterdir())


def test_digits_are_not_lost_silently(spools):
    with pytest.raises(ColumnTypeError, match=r"double in data frame 1 .which has more digits"):
        open_source(iter([float32([1]), float32([1]).astype(float)]))


def test_nothing_to_spool(spools):
    for data in [iter([]), iter([pd.DataFrame({"a": []})]), pl.LazyFrame({"a": []})]:
        with pytest.raises(EmptyInputError):
            open_source(data)
    for function in [lambda: "text", lambda: None]:
        with pytest.raises(OptionError, match="function that returns"):
            open_source(function)
    assert not list(spools.iterdir())


def test_errors_inside_the_block_remove_the_file(spools):
    with pytest.raises(DebiNetError), open_source(chunks()):
        raise InputError("one", "two", "three")
    assert not list(spools.iterdir())


def test_a_source_that_nobody_closes_leaves_nothing_behind(spools):
    source = open_source(chunks())
    assert list(spools.iterdir())
    del source
    assert not list(spools.iterdir())
