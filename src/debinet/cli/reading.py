"""Tables from files, and which columns of them are meant."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from debinet.data.harmless import unknown_column
from debinet.exceptions import (
    EmptyInputError,
    FileFormatError,
    MissingDependencyError,
    MissingValueError,
)

READERS: dict[str, Callable[[Path], Any]] = {
    ".csv": pd.read_csv,
    ".tsv": lambda path: pd.read_csv(path, sep="\t"),
    ".txt": lambda path: pd.read_csv(path, sep=None, engine="python"),
    ".parquet": pd.read_parquet,
    ".feather": pd.read_feather,
    ".dta": lambda path: pd.read_stata(path, convert_dates=False),
    ".xlsx": pd.read_excel,
}


def read_table(path: Path) -> pd.DataFrame:
    """Read a table; compressed csv and tsv files too."""
    endings = [ending.lower() for ending in path.suffixes]
    ending = next((e for e in reversed(endings) if e in READERS), "")
    if not ending:
        raise FileFormatError(
            f"a file that ends in {', '.join(READERS)}", repr(path.name), "Convert it first."
        )
    try:
        frame = pd.DataFrame(READERS[ending](path))
    except ImportError as error:
        raise MissingDependencyError(
            f"the package that reads {ending} files", str(error), "Install it, or use a .csv file."
        ) from error
    except pd.errors.EmptyDataError as error:
        raise EmptyInputError(f"rows in {path}", "an empty file", "Check the file.") from error
    except Exception as error:  # a damaged file can fail in any way; all mean the same
        raise FileFormatError(
            f"{path} to be a readable {ending} file",
            f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}",
            "Check the file.",
        ) from error
    frame.columns = pd.Index([str(name) for name in frame.columns])
    if frame.empty:
        raise EmptyInputError(f"rows in {path}", "none", "Check the file.")
    return frame


def split_names(text: str | None) -> list[str]:
    """Return the names of a list with commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def require_columns(frame: pd.DataFrame, names: list[str]) -> None:
    """Require that the data have all of the names."""
    for name in names:
        if name not in frame.columns:
            raise unknown_column(name, frame.columns)


def without_missing(
    frame: pd.DataFrame, drop: bool, option: str = "--drop-missing to leave these rows out"
) -> tuple[pd.DataFrame, int]:
    """Return the rows without missing values, if asked for, and how many were left out."""
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
            "Leave out the columns that are empty with --controls.",
        )
    return frame[~missing.any(axis=1)].reset_index(drop=True), bad
