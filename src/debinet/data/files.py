"""Table files: read by their ending; those of published studies found, verified, cached."""

from __future__ import annotations

import warnings
from bz2 import BZ2Decompressor
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from http.client import HTTPException
from importlib import import_module
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

import numpy as np
import pandas as pd

from debinet.data.atomic_write import write_atomically
from debinet.exceptions import (
    DebiNetError,
    EmptyInputError,
    FileFormatError,
    MissingDependencyError,
)

# With low_memory, columns of mixed types would warn.
_read_csv = partial(pd.read_csv, low_memory=False)

READERS: dict[str, Callable[..., Any]] = {
    ".csv": _read_csv,
    ".parquet": partial(pd.read_parquet, engine="pyarrow"),
    ".feather": pd.read_feather,
    ".dta": partial(pd.read_stata, convert_dates=False),
    ".xlsx": pd.read_excel,
}
# In the order in which a folder is searched.
ENDINGS = (".parquet", ".csv", ".dta")
_TIMEOUT = 60.0  # seconds without an answer
_LIMIT = 2**26  # bytes of a download, so that a server cannot fill the memory


def read_frame(content: Path | BytesIO, ending: str, name: str, **options: Any) -> pd.DataFrame:
    """Read a table in the format of `ending`; errors are typed and contain its `name`."""
    with readable(ending, name):
        return pd.DataFrame(READERS[ending](content, **options))


@contextmanager
def readable(ending: str, name: str) -> Iterator[None]:
    """Give whatever goes wrong while a file is read a type, and the file's `name`."""
    try:
        yield
    except DebiNetError:
        raise
    except ImportError as error:
        raise MissingDependencyError(
            f"the package that reads {ending} files",
            f"a Python without it ({error})",
            "Install it (pip install pyarrow for .parquet and .feather, openpyxl for .xlsx), or "
            "use a .csv file.",
        ) from error
    except pd.errors.EmptyDataError as error:
        raise EmptyInputError(f"rows in {name}", "an empty file", "Check the file.") from error
    except Exception as error:  # a damaged file can fail in any way; all mean the same
        raise FileFormatError(
            f"a readable {ending} file",
            f"{name}, which cannot be read ({type(error).__name__}: {str(error).strip()[:200]})",
            "Replace it with an undamaged copy.",
        ) from error


@dataclass(frozen=True)
class Study:
    """A published table.

    Attributes
    ----------
    title : str
        For error messages.
    file : str
        Path in the data folder, with "/", without the ending.
    columns : tuple of str
        Names, in order.
    rows : int
        How many.
    digest : str
        What `content_digest` gives.
    addresses : tuple of str
        Where to download it; each ends in one of `ENDINGS`, or in one and `.bz2`.
    original_columns : tuple of str
        Other names that the columns have in the original; replaced by position.
    """

    title: str
    file: str
    columns: tuple[str, ...]
    rows: int
    digest: str
    addresses: tuple[str, ...]
    original_columns: tuple[str, ...] = ()


def content_digest(table: pd.DataFrame) -> str:
    """Return the SHA-256 of the content of a table, the same for every file format.

    Column by column: the name in UTF-8, a zero byte, and the values as little-endian IEEE float64,
    with negative zero as zero.
    """
    hashed = sha256()
    for name in table.columns:
        values = table[name].to_numpy(dtype=np.float64) + 0.0  # -0.0 + 0.0 is 0.0
        hashed.update(str(name).encode() + b"\0" + values.astype("<f8").tobytes())
    return hashed.hexdigest()


def find_file(study: Study, folder: Path) -> Path | None:
    """Return the file of a study in a data folder; without pyarrow, preferably not the Parquet."""
    files = [folder / f"{study.file}{ending}" for ending in ENDINGS]
    there = [file for file in files if file.is_file()]
    if len(there) > 1 and there[0].suffix == ".parquet" and not _has_pyarrow():
        return there[1]
    return there[0] if there else None


def _has_pyarrow() -> bool:
    with suppress(ImportError):
        return import_module("pyarrow") is not None
    return False


def load_table(study: Study, file: Path) -> pd.DataFrame:
    """Return the verified content of a file."""
    return _verify(study, _parse(file.read_bytes(), file.suffix, str(file)), str(file))


def _parse(content: bytes, ending: str, source: str) -> pd.DataFrame:
    """Return the columns of a file as float64."""
    ending = ending.lower()
    if ending not in ENDINGS:
        raise FileFormatError(
            f"a file that ends in {', '.join(ENDINGS)}", repr(source), "Convert or rename it."
        )
    options = {"convert_categoricals": False} if ending == ".dta" else {}
    try:
        raw = read_frame(BytesIO(content), ending, source, **options)
        values = raw.to_numpy(dtype=np.float64, na_value=np.nan) + 0.0
        return pd.DataFrame(values, columns=[str(name) for name in raw.columns])
    except (FileFormatError, MissingDependencyError):
        raise
    except (TypeError, ValueError) as error:
        raise FileFormatError(
            f"a {ending} file of numbers",
            f"{source}, which cannot be read as one ({getattr(error, 'came', error)})",
            "Replace it with an undamaged copy.",
        ) from error


def _verify(study: Study, table: pd.DataFrame, source: str) -> pd.DataFrame:
    if tuple(table.columns) == study.original_columns:
        table.columns = pd.Index(study.columns)
    digest = content_digest(table) if tuple(table.columns) == study.columns else "not computed"
    if digest != study.digest:
        raise FileFormatError(
            f"{study.title}: {study.rows} rows, {len(study.columns)} columns "
            f"({', '.join(study.columns)}), sha256 of the content {study.digest}",
            f"{source!r} with {len(table)} rows, {table.shape[1]} columns "
            f"({', '.join(table.columns[:30])}), sha256 {digest}",
            f"Replace it with an unchanged copy, for example of {study.addresses[0]}.",
        )
    return table


def download_table(study: Study, limit: int = _LIMIT) -> pd.DataFrame:
    """Return the table from the first address that gives it in at most `limit` bytes."""
    failures = []
    wrong: FileFormatError | None = None
    for address in study.addresses:
        try:
            content, file = _receive(address, limit), PurePosixPath(urlsplit(address).path)
            if file.suffix == ".bz2":
                content, file = _unpacked(content, address, limit), file.with_suffix("")
            return _verify(study, _parse(content, file.suffix, address), address)
        except FileFormatError as error:
            wrong = error
        except (OSError, HTTPException) as error:
            failures.append(f"{address} ({type(error).__name__}: {error})")
    # A wrong file is more informative than a server that does not answer.
    raise wrong or ConnectionError("; ".join(failures))


def _receive(address: str, limit: int) -> bytes:
    with urlopen(address, timeout=_TIMEOUT) as answer:
        content = bytes(answer.read(limit + 1))
    return _limited(content, address, limit)


def _unpacked(content: bytes, address: str, limit: int) -> bytes:
    try:
        # one byte more than the limit shows that there are more, without making all of them
        return _limited(BZ2Decompressor().decompress(content, limit + 1), address, limit)
    except (OSError, EOFError) as error:
        raise FileFormatError(
            "a .bz2 file", f"{address}, which cannot be read as one ({error})", "Try again later."
        ) from error


def _limited(content: bytes, address: str, limit: int) -> bytes:
    if len(content) > limit:
        raise FileFormatError(
            f"at most {limit} bytes", f"more from {address}", "Download it and pass its `path`."
        )
    return content


def store_table(table: pd.DataFrame, target: Path) -> None:
    """Write a table to the cache; if that fails, warn."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(target) as draft:
            # Seventeen digits restore every float64.
            table.to_csv(draft, index=False, float_format="%.17g", lineterminator="\n")
    except OSError as error:
        warnings.warn(f"{target} cannot be written ({error}): set DEBINET_CACHE.", stacklevel=4)
