"""Files as programs of many countries write them: read as they are meant, or refused."""

import gzip
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

from debinet.data.delimited import TextFormat, find_separator
from debinet.data.number_text import number_writing
from debinet.data.table_files import FileOptions, read_table_file
from debinet.exceptions import DebiNetError, DuplicateColumnError, FileFormatError, OptionError


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "wage": rng.normal(10, 2, 30).round(2),
            "educ": rng.integers(8, 20, 30),
            "stadt": np.resize(["Köln", "Łódź", "Aarhus"], 30),
            "share": rng.random(30).round(4),
        }
    )


def write(frame, path, encoding="utf-8", **options):
    path.write_bytes(frame.to_csv(index=False, **options).encode(encoding))
    return path


def read(path, sheet=None, **text):
    return read_table_file(path, FileOptions(TextFormat(**text), sheet))


WAYS = {
    "comma": ("a.csv", {}, ()),
    "semicolon": ("a.csv", {"sep": ";"}, ("';'",)),
    "tab in csv": ("a.csv", {"sep": "\t"}, ("tabs",)),
    "bar": ("a.csv", {"sep": "|"}, ("'|'",)),
    "white space": ("a.csv", {"sep": " "}, ("white space",)),
    "German": ("a.csv", {"sep": ";", "decimal": ","}, ("';'", "decimal commas")),
    "quoted decimal commas": ("a.csv", {"decimal": ",", "quoting": 1}, ("decimal commas",)),
    "tsv": ("a.tsv", {"sep": "\t"}, ()),
    "txt": ("a.txt", {"sep": "\t", "decimal": ","}, ("decimal commas",)),
    "dat": ("a.dat", {"sep": " "}, ()),
    "BOM": ("a.csv", {"encoding": "utf-8-sig"}, ()),
    "UTF-16": ("a.csv", {"encoding": "utf-16", "sep": "\t"}, ("tabs",)),
    "UTF-32": ("a.txt", {"encoding": "utf-32", "sep": ";"}, ()),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_way_a_file_is_written_is_found_out(frame, tmp_path, way):
    name, options, found = WAYS[way]
    table = read(write(frame, tmp_path / name, **options))
    pd.testing.assert_frame_equal(table.frame, frame)
    assert len(table.notes) == len(found)
    assert all(part in note for part, note in zip(found, table.notes, strict=True))


def test_aligned_columns_and_spaces_after_commas(frame, tmp_path):
    path = tmp_path / "aligned.dat"
    path.write_text(frame.to_string(index=False), encoding="utf-8")
    pd.testing.assert_frame_equal(read(path).frame, frame)
    path = tmp_path / "spaces.csv"
    path.write_text(frame.to_csv(index=False).replace(",", ", "), encoding="utf-8")
    pd.testing.assert_frame_equal(read(path).frame, frame)


def test_compressed_text(frame, tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(frame.to_csv(index=False, sep=";", decimal=",").encode()))
    pd.testing.assert_frame_equal(read(path).frame, frame)


@pytest.mark.parametrize(
    ("file", "given"),
    [
        ({"encoding": "cp1250"}, {"encoding": "cp1250"}),
        ({"encoding": "utf-16-le"}, {"encoding": "utf-16-le"}),
        ({"encoding": "utf-8-sig"}, {"encoding": "utf-8"}),
        ({"sep": "#"}, {"separator": "#"}),
        ({"sep": "\t"}, {"separator": "tab"}),
        ({"sep": " "}, {"separator": "space"}),
        ({"sep": ";", "decimal": ","}, {"separator": ";", "decimal": ","}),
    ],
)
def test_what_is_given_is_not_noted(frame, tmp_path, file, given):
    table = read(write(frame, tmp_path / "a.csv", **file), **given)
    pd.testing.assert_frame_equal(table.frame, frame)
    assert table.notes == ()


def test_commas_that_may_be_either_are_decided_by_the_user(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a;b\n" + "".join(f"1,{i:03d};{i}\n" for i in range(20)))
    assert not pd.api.types.is_numeric_dtype(read(path).frame["a"])  # to be refused if it is used
    assert read(path, decimal=",").frame["a"].tolist() == [1 + i / 1000 for i in range(20)]
    assert not pd.api.types.is_numeric_dtype(read(path, decimal=".").frame["a"])


HEAD = "a,b,c\n"
REFUSED = {
    "a separator at the end of rows": (HEAD + "1,2,3,\n4,5,6,\n", "9|4 in line 2"),
    "a separator at the end of all lines": ("a,b,c,\n1,2,3,\n4,5,6,\n", "which is empty.*Remove"),
    "one row too long": (HEAD + "1,2,3\n" * 5 + "1,2,3,4\n", "4 in line 7"),
    "first row too long": (HEAD + "1,2,3,4\n" + "1,2,3\n" * 5, "4 in line 2"),
    "thousands that are not quoted": (HEAD + "1,234,2,3\n1,235,2,3\n", "within numbers"),
    "names of rows without a name": (HEAD + "x,1,2,3\ny,4,5,6\n", "name all columns"),
    "several columns without a name": ("a,,\n1,2,3\n4,5,6\n", "a name for every column"),
    "no names": ("1.5,2,3\n4.5,5,6\n", "names of the columns in the first row"),
    "no names, and equal values": ("1.5,2,2\n4.5,5,6\n", "names of the columns in the first row"),
    "two decimal marks": ("a;b\n1,5;45.000\n2,25;46.100\n", "decimal commas, and '4"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_tables_that_would_be_shifted_are_refused(tmp_path, what):
    text, match = REFUSED[what]
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=match):
        read(path)


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_repeated_names_are_refused(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    frame = pd.DataFrame([[1, 2, 3], [4, 5, 6]], columns=["y", "x", "y"])
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_excel(path, index=False)
    with pytest.raises(DuplicateColumnError, match=r"\['y'\]"):
        read(path)


@pytest.mark.parametrize("encoding", ["cp1250", "utf-16-le"])
def test_other_encodings_are_refused_with_the_remedy(frame, tmp_path, encoding):
    with pytest.raises(FileFormatError, match="--encoding"):
        read(write(frame, tmp_path / "a.csv", encoding))


@pytest.mark.parametrize("ending", ["xlsx", "parquet", "csv.gz", "csv.zip"])
def test_other_files_with_the_ending_of_text(frame, tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    {"xlsx": frame.to_excel, "parquet": frame.to_parquet}.get(ending, frame.to_csv)(path)
    with pytest.raises(FileFormatError, match="begins as a"):
        read(path.rename(tmp_path / "a.csv"))


@pytest.mark.parametrize(
    ("name", "options", "match"),
    [
        ("a.csv", {"encoding": "nothing"}, "an encoding that Python knows"),
        ("a.csv", {"separator": "ab"}, "one character"),
        ("a.csv", {"separator": "a"}, "one character"),
        ("a.csv", {"sheet": "1"}, r"for \.xlsx"),
        ("a.xlsx", {"separator": ";"}, "files of text"),
        ("a.xlsx", {"sheet": "third"}, "'one', 'two'"),
        ("a.xlsx", {"sheet": "0"}, "number from 1"),
        ("a.xlsx", {"sheet": "²"}, "number from 1"),
    ],
)
def test_options_that_do_not_fit(frame, tmp_path, name, options, match):
    write(frame, tmp_path / "a.csv")
    with pd.ExcelWriter(tmp_path / "a.xlsx") as book:
        frame.to_excel(book, sheet_name="one", index=False)
        frame.to_excel(book, sheet_name="two", index=False)
    with pytest.raises(OptionError, match=match):
        read(tmp_path / name, **options)


def test_sheets(frame, tmp_path):
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path) as book:
        frame.to_excel(book, sheet_name="all", index=False)
        frame[:7].to_excel(book, sheet_name="some", index=False)
    first = read(path)
    assert len(first.frame) == 30
    assert first.notes == ("a.xlsx was read from its first sheet, 'all'",)
    assert [len(read(path, sheet=s).frame) for s in ("all", "some", "1", "2")] == [30, 7, 30, 7]
    assert read(path, sheet="some").notes == ()


@pytest.mark.parametrize(
    ("values", "writing"),
    [
        (["1,5", "2"], "decimal commas"),
        (["-1,5e-3", ",25"], "decimal commas"),
        (["1,234", "12"], "commas"),
        (["1,234", "1,5"], "decimal commas"),
        (["1,234.5", "999"], "separators of thousands"),
        (["1.234,5", "1.234.567"], "separators of thousands"),
        (["1 234", "12 345,5"], "separators of thousands"),
        (["1'234", "1\u00a0234"], "separators of thousands"),
        (["1", "2"], None),
        (["1.5", "2"], None),
        (["1,5", "north"], None),
        (["1,2,3"], None),
        (["2020-01-01"], None),
    ],
)
def test_how_numbers_are_written(values, writing):
    assert number_writing(values) == writing


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ('"a;b";c\n1;2\n', ";"),
        ("height;b\n6'2\";1,5\n5'1\";2,5\n", ";"),
        ('a;b\n"one\ntwo; three";2\n"four";5\n', ";"),
        ('a,b\n"x;y",1\n"z;w",2\n', ","),
        ("a\n1\n2\n", ","),
        ("a b\n1,5 2,5\n", r"\s+"),
        ("first name,b\nx y,1\nz,2\n", ","),
    ],
)
def test_separators(text, separator):
    assert find_separator(text, ",") == separator


def test_no_bytes_give_another_error(tmp_path):
    rng = np.random.default_rng(0)
    pieces = [b"a", b",", b";", b"\n", b'"', b"1", b".", b"\t", b" ", b"\xff", b"\0", b"\r", b"="]
    for k in range(300):
        path = tmp_path / f"{k}.{rng.choice(['csv', 'tsv', 'txt', 'dat'])}"
        path.write_bytes(b"".join(rng.choice(pieces, size=rng.integers(0, 40))))
        with suppress(DebiNetError):
            assert len(read(path).frame)
