"""Tables as text: separator, decimal mark and encoding are found out, or refused by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pandas as pd

from debinet.data.number_text import number_writing, only_points
from debinet.data.tables import require_distinct_names
from debinet.data.text_streams import find_encoding, open_text, read_encoding
from debinet.exceptions import EmptyInputError, FileFormatError, OptionError

WHITE_SPACE = r"\s+"
# The separator that an ending stands for, if any.
USUAL: dict[str, str | None] = {".csv": ",", ".tsv": "\t", ".txt": None, ".dat": None}
_CANDIDATES = (",", "\t", ";", "|", WHITE_SPACE)
_IN_WORDS = {"\t": "tabs", WHITE_SPACE: "white space"}
_NAMED = {"tab": "\t", "\\t": "\t", "space": WHITE_SPACE, " ": WHITE_SPACE, "\\s+": WHITE_SPACE}
# Quotes within a value, as of 6'2", are no quotes.
_QUOTED = re.compile(r'(?:^|(?<=[,;\t| ]))"(?:[^"]|"")*"', re.MULTILINE)
_HEAD = 2**22  # characters, enough for the names of 100,000 columns
_LINES = 50


@dataclass(frozen=True)
class TextFormat:
    """How a table is written as text; None is found out.

    Attributes
    ----------
    separator : str, optional
        One character, or "tab" or "space" (any white space).
    decimal : str, optional
        "." or ",".
    encoding : str, optional
        A name that Python knows, such as "cp1252".
    """

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None


@dataclass(frozen=True)
class FileTable:
    """The table of a file.

    Attributes
    ----------
    frame : DataFrame
    notes : tuple of str
        What was found out about its format.
    """

    frame: pd.DataFrame
    notes: tuple[str, ...] = ()


def read_delimited(path: Path, ending: str, given: TextFormat) -> FileTable:
    """Read a table that `ending`, one of `USUAL`, says is text."""
    encoding = find_encoding(path) if given.encoding is None else read_encoding(given.encoding)
    with _refusing(path, encoding):
        with open_text(path, encoding) as stream:
            head = stream.read(_HEAD)
        if "\0" in head:
            raise UnicodeError("it contains zero bytes, as UTF-16 does")
        if not head.strip():
            raise EmptyInputError(f"rows in {path}", "an empty file", "Check the file.")
        usual = USUAL[ending]
        separator = _read_separator(given.separator) or find_separator(head, usual)
        require_names(_first_row(head, separator), str(path))
        frame = _read(path, encoding, separator, given.decimal or ".")
        commas = given.decimal == ","
        if given.decimal is None and _has_decimal_commas(frame):
            frame, commas = _read(path, encoding, separator, ","), True
    frame.columns = pd.Index([str(name).strip() for name in frame.columns])
    if commas:
        _require_one_mark(frame, path)
    require_filled(frame, str(path))
    notes = []
    if given.separator is None and usual is not None and separator != usual:
        words = _IN_WORDS.get(separator, repr(separator))
        notes.append(f"{path.name} was read with columns separated by {words}")
    if given.decimal is None and commas:
        notes.append(f"{path.name} was read with decimal commas")
    return FileTable(frame, tuple(notes))


def find_separator(text: str, usual: str | None = None) -> str:
    """Return what separates the columns of a table: the same number of times in all of its rows.

    If nothing does, it is what separates the names; the rows are then refused by number.
    """
    lines = [line for line in _QUOTED.sub("q", text).splitlines() if line.strip()][:_LINES]
    if len(text) >= _HEAD and len(lines) > 1:
        lines = lines[:-1]  # perhaps not a whole line
    possible = []
    for separator in dict.fromkeys([usual or ",", *_CANDIDATES]):
        counts = [_count(line, separator) for line in lines]
        if counts[0] > 1:
            if len(set(counts)) == 1:
                return separator
            possible.append(separator)
    return possible[0] if possible else usual or ","


def _count(line: str, separator: str) -> int:
    return len(line.split()) if separator == WHITE_SPACE else line.count(separator) + 1


def require_names(names: Sequence[str], where: str) -> None:
    """Require a first row with names, all different; the first column needs none."""
    names = [str(name).strip() for name in names]
    numbers = [name for name in names if re.fullmatch(r"[+-]?\d*[.,]\d+([eE][+-]?\d+)?", name)]
    if numbers:
        raise FileFormatError(
            "the names of the columns in the first row",
            f"numbers such as {numbers[0]} there, in {where}",
            "Add a row of names at the top of the file.",
        )
    require_distinct_names([name for name in names if name], where)


def require_filled(frame: pd.DataFrame, where: str) -> None:
    """Require a name for every column but the first, which may hold names of rows."""
    nameless = [j for j, name in enumerate(frame.columns) if re.match(r"Unnamed: \d+$", str(name))]
    if any(j > 0 for j in nameless):
        j = nameless[-1]
        empty = bool(frame.iloc[:, j].isna().all())
        raise FileFormatError(
            "a name for every column",
            f"none for column {j + 1} of {frame.shape[1]}"
            + (", which is empty," if empty else "")
            + f" in {where}",
            "Remove the separator at the end of every row."
            if empty
            else "Write the names in the first row of the table, one for each column.",
        )


def _first_row(head: str, separator: str) -> list[str]:
    """Return the names, and require that the row below has no more values than names."""
    rows = pd.read_csv(
        StringIO(head),
        sep=separator,
        header=None,
        nrows=2,
        dtype=str,
        keep_default_na=False,
        skipinitialspace=True,
    )
    return [str(name) for name in rows.iloc[0]]


def _read(path: Path, encoding: str, separator: str, decimal: str) -> pd.DataFrame:
    with open_text(path, encoding) as stream:
        return pd.read_csv(
            stream, sep=separator, decimal=decimal, skipinitialspace=True, low_memory=False
        )


def _has_decimal_commas(frame: pd.DataFrame) -> bool:
    return any(number_writing(values) == "decimal commas" for values in _texts(frame).values())


def _texts(frame: pd.DataFrame) -> dict[str, set[str]]:
    """Return the values of the columns of text."""
    others = frame.select_dtypes(exclude=["number", "bool"])
    values = {str(name): set(others[name].dropna()) for name in others.columns}
    return {n: v for n, v in values.items() if v and all(isinstance(one, str) for one in v)}


def _require_one_mark(frame: pd.DataFrame, path: Path) -> None:
    """Require, of a table with decimal commas, that points separate decimals nowhere."""
    for name, values in _texts(frame).items():
        if only_points(values):
            example = next(value for value in values if "." in value)
            raise FileFormatError(
                f"the same decimal mark in all columns of {path}",
                f"decimal commas, and {example!r} in {name!r}",
                "If points separate thousands, remove them; if commas are no decimals, give "
                "--decimal '.'.",
            )


def _read_separator(given: str | None) -> str | None:
    if given is None or given in _NAMED:
        return _NAMED.get(given or "")
    if len(given) != 1 or given.isalnum() or given in '"\r\n':
        raise OptionError(
            "a separator of one character, or tab or space", repr(given), "For example ';'."
        )
    return given


@contextmanager
def _refusing(path: Path, encoding: str) -> Iterator[None]:
    """Turn what cannot be read into an error that says how it could be."""
    try:
        yield
    except UnicodeError as error:
        raise FileFormatError(
            f"text in {encoding}",
            f"{path}, which is not ({error})",
            "Give its encoding, for example --encoding cp1252 (Windows, Western Europe), "
            "--encoding latin-1 or --encoding utf-16.",
        ) from error
    except pd.errors.ParserError as error:
        counts = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if counts is None:
            raise
        names, line, values = counts.groups()
        raise FileFormatError(
            f"at most {names} values in each row of {path}, as there are {names} names",
            f"{values} in line {line}",
            "Remove separators at the ends of rows and within numbers, name all columns, or give "
            "the separator (--sep).",
        ) from error
