"""The table of a command, and the columns that its options name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    import pandas as pd

    from debinet.data.delimited import FileTable

Command = TypeVar("Command", bound=Callable[..., Any])

FORMAT = ("sep", "decimal", "encoding", "sheet")
_OPTIONS = (
    click.option("--sep", metavar="TEXT", help="Separator: one character, tab or space."),
    click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark."),
    click.option("--encoding", metavar="NAME", help="Encoding of the text, for example cp1252."),
    click.option("--sheet", metavar="NAME", help="Sheet of an .xlsx file.  [default: the first]"),
)


def format_options(command: Command) -> Command:
    """Add the options that say how a file is written; otherwise it is found out."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_file(path: Path, written: Mapping[str, str | None]) -> FileTable:
    """Read a table; `written` has the values of `format_options`."""
    from debinet.data.delimited import TextFormat
    from debinet.data.table_files import FileOptions, read_table_file

    text = TextFormat(written["sep"], written["decimal"], written["encoding"])
    return read_table_file(path, FileOptions(text, written["sheet"]))


def split_names(text: str | None) -> list[str]:
    """Return the names in a list separated by commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def require_columns(frame: pd.DataFrame, names: list[str]) -> None:
    """Require that all names are columns of the data."""
    from debinet.data.schema import unknown_column

    for name in names:
        if name not in frame.columns:
            raise unknown_column(name, frame.columns)


def without_missing(
    frame: pd.DataFrame, drop: bool, option: str = "--drop-missing to leave these rows out"
) -> tuple[pd.DataFrame, int]:
    """Return the rows without missing values and how many were dropped; refuse them by default."""
    from debinet.exceptions import EmptyInputError, MissingValueError

    missing = frame.isna()
    bad = int(missing.any(axis=1).sum())
    if bad and not drop:
        worst = missing.sum().sort_values(ascending=False)
        shown = ", ".join(f"{name} ({count})" for name, count in worst[worst > 0].head(5).items())
        raise MissingValueError(
            "no missing values in the columns that are used",
            f"{bad} rows with some: {shown}",
            f"Use {option}, or impute them first.",
        )
    if bad == len(frame):
        raise EmptyInputError(
            "rows without missing values",
            "none",
            "Use --exclude to leave out columns that are empty.",
        )
    return frame[~missing.any(axis=1)].reset_index(drop=True), bad
