"""Tables from files, by the ending of the name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd

from debinet.exceptions import EmptyInputError, FileFormatError, MissingDependencyError

# With low_memory, columns of mixed types would warn.
_read_csv = partial(pd.read_csv, low_memory=False)

READERS: dict[str, Callable[..., Any]] = {
    ".csv": _read_csv,
    ".tsv": partial(_read_csv, sep="\t"),
    ".txt": partial(pd.read_csv, sep=None, engine="python"),
    ".parquet": partial(pd.read_parquet, engine="pyarrow"),
    ".feather": pd.read_feather,
    ".dta": partial(pd.read_stata, convert_dates=False),
    ".xlsx": pd.read_excel,
}


def read_frame(content: Path | BytesIO, ending: str, name: str, **options: Any) -> pd.DataFrame:
    """Read a table whose format `ending` says; errors are typed and have its `name`."""
    try:
        return pd.DataFrame(READERS[ending](content, **options))
    except ImportError as error:
        raise MissingDependencyError(
            f"the package that reads {ending} files",
            f"a Python without it ({error})",
            "Install it (pip install pyarrow for .parquet and .feather), or use a .csv file.",
        ) from error
    except pd.errors.EmptyDataError as error:
        raise EmptyInputError(f"rows in {name}", "an empty file", "Check the file.") from error
    except Exception as error:  # a damaged file can fail in any way; all mean the same
        raise FileFormatError(
            f"a readable {ending} file",
            f"{name}, which cannot be read ({type(error).__name__}: {str(error).strip()[:200]})",
            "Replace it by an undamaged copy.",
        ) from error
