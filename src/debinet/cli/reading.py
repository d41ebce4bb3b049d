"""The table of a command, and the columns that its options name."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from debinet.data.files import READERS, read_frame
from debinet.data.schema import unknown_column
from debinet.exceptions import EmptyInputError, FileFormatError, MissingValueError


def read_file(path: Path) -> pd.DataFrame:
    """Read a table; compressed csv and tsv files too."""
    endings = [ending.lower() for ending in path.suffixes]
    ending = next((e for e in reversed(endings) if e in READERS), "")
    if not ending:
        raise FileFormatError(
            f"a file that ends in {', '.join(READERS)}", repr(path.name), "Convert it first."
        )
    frame = read_frame(path, ending, str(path))
    frame.columns = pd.Index([str(name) for name in frame.columns])
    if frame.empty:
        raise EmptyInputError(f"rows in {path}", "none", "Check the file.")
    return frame


def split_names(text: str | None) -> list[str]:
    """Return the names in a list separated by commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def require_columns(frame: pd.DataFrame, names: list[str]) -> None:
    """Require that all names are columns of the data."""
    for name in names:
        if name not in frame.columns:
            raise unknown_column(name, frame.columns)


def without_missing(
    frame: pd.DataFrame, drop: bool, option: str = "--drop-missing to leave these rows out"
) -> tuple[pd.DataFrame, int]:
    """Return the rows without missing values and how many were dropped; refuse them by default."""
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
            "Use --controls to leave out columns that are empty.",
        )
    return frame[~missing.any(axis=1)].reset_index(drop=True), bad
