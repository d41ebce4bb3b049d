"""Table files of users, by their ending."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from debinet.data.delimited import (
    USUAL,
    FileTable,
    TextFormat,
    read_delimited,
    require_filled,
    require_names,
)
from debinet.data.files import READERS, read_frame, readable
from debinet.data.tables import require_distinct_names
from debinet.exceptions import EmptyInputError, FileFormatError, OptionError

TABLE_ENDINGS = (*USUAL, *(ending for ending in READERS if ending not in USUAL))


@dataclass(frozen=True)
class FileOptions:
    """What the user says about a file.

    Attributes
    ----------
    text : TextFormat
        Of files of text.
    sheet : str, optional
        Name or number (from 1) of a sheet of an .xlsx file; None is the first.
    """

    text: TextFormat = field(default_factory=TextFormat)
    sheet: str | None = None


def read_table_file(path: Path, options: FileOptions) -> FileTable:
    """Read a table, with names of columns that are text and differ."""
    endings = [ending.lower() for ending in path.suffixes]
    ending = next((e for e in reversed(endings) if e in TABLE_ENDINGS), "")
    if not ending:
        raise FileFormatError(
            f"a file that ends in {', '.join(TABLE_ENDINGS)}", repr(path.name), "Convert it first."
        )
    _require_possible(ending, options)
    if ending in USUAL:
        with readable(ending, str(path)):
            found = read_delimited(path, ending, options.text)
    elif ending == ".xlsx":
        found = _read_sheet(path, options.sheet)
    else:
        found = FileTable(read_frame(path, ending, str(path)))
    found.frame.columns = pd.Index([str(name) for name in found.frame.columns])
    require_distinct_names(list(found.frame.columns), str(path))
    if found.frame.empty:
        raise EmptyInputError(f"rows in {path}", "none", "Check the file.")
    return found


def _require_possible(ending: str, options: FileOptions) -> None:
    if ending not in USUAL and options.text != TextFormat():
        raise OptionError(
            f"--sep, --decimal and --encoding for files of text ({', '.join(USUAL)})",
            f"a {ending} file",
            "Leave them out.",
        )
    if ending != ".xlsx" and options.sheet is not None:
        raise OptionError("--sheet for .xlsx files", f"a {ending} file", "Leave it out.")


def _read_sheet(path: Path, wanted: str | None) -> FileTable:
    with readable(".xlsx", str(path)), pd.ExcelFile(path) as book:
        names = [str(name) for name in book.sheet_names]
        chosen = _find_sheet(names, wanted, path)
        first = pd.read_excel(book, sheet_name=chosen, header=None, nrows=1)
    require_names([str(name) for name in first.iloc[0].dropna()], f"{path}, sheet {chosen!r}")
    frame = read_frame(path, ".xlsx", str(path), sheet_name=chosen)
    require_filled(frame, f"{path}, sheet {chosen!r}")
    if wanted is None and len(names) > 1:
        return FileTable(frame, (f"{path.name} was read from its first sheet, {chosen!r}",))
    return FileTable(frame)


def _find_sheet(names: list[str], wanted: str | None, path: Path) -> str:
    if wanted is None:
        return names[0]
    if wanted in names:
        return wanted
    if wanted.isascii() and wanted.isdigit() and 1 <= int(wanted) <= len(names):
        return names[int(wanted) - 1]
    raise OptionError(
        f"a sheet of {path}: {', '.join(map(repr, names[:8]))}",
        repr(wanted),
        "Give its name, or its number from 1.",
    )
