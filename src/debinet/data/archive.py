"""Files of plain arrays and a JSON header in one zip archive; never pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from debinet.data.atomic_write import write_atomically
from debinet.exceptions import DebiNetError, FileFormatError
from debinet.protocols import FloatArray

_HEADER_LIMIT = 2**24  # bytes
Rebuilt = TypeVar("Rebuilt")


class Kind(NamedTuple):
    """What a file holds.

    Attributes
    ----------
    format : str
        Its name in the header.
    version : int
        Of the format.
    writer : str
        The method that writes such files, for the errors.
    """

    format: str
    version: int
    writer: str


def write_archive(
    path: str | PathLike[str], kind: Kind, header: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write a file, whole or not at all."""
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        raise OSError(f"Cannot write {target}: give the path of a file in a folder that exists.")
    text = json.dumps({"format": kind.format, "version": kind.version, **header})
    with write_atomically(target) as draft, draft.open("xb") as stream:
        encoded = np.frombuffer(text.encode(), dtype=np.uint8)
        np.savez_compressed(stream, allow_pickle=False, header=encoded, **arrays)


def read_archive(
    path: str | PathLike[str], kind: Kind, rebuild: Callable[[dict[str, Any], Any], Rebuilt]
) -> Rebuilt:
    """Return what `rebuild(header, archive)` makes of a file; safe with files from strangers."""
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            return rebuild(_header(archive, kind), archive)
    except (FileNotFoundError, IsADirectoryError, PermissionError, DebiNetError):
        raise
    except Exception as error:  # a damaged archive can fail in any way; all mean the same
        raise FileFormatError(
            f"a file written by {kind.writer}",
            f"{os.fspath(path)!r}, which cannot be read as one ({type(error).__name__}: {error})",
            "Check the path, or save it again.",
        ) from error


def read_format(path: str | PathLike[str]) -> str | None:
    """Return the format that a file says it has; None if it is no archive of ours at all."""
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            return str(_read_header(archive)["format"])
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception:  # whoever reads the file says what is wrong with it
        return None


def require(holds: bool, what: str) -> None:
    """Require that a part of a file is as it was written."""
    if not holds:
        raise ValueError(f"unexpected {what}")


def read_array(archive: Any, name: str, shape: tuple[int | None, ...]) -> FloatArray:
    """Return an array of finite numbers of a shape; None stands for any size."""
    array = archive[name]
    fits = array.ndim == len(shape) and all(
        wanted in (None, size) for wanted, size in zip(shape, array.shape, strict=True)
    )
    require(array.dtype == np.float64 and fits, name)
    require(bool(np.isfinite(array).all()), name)
    return np.asarray(array, dtype=np.float64)


def _read_header(archive: Any) -> dict[str, Any]:
    require(archive.zip.getinfo("header.npy").file_size < _HEADER_LIMIT, "header size")
    return dict(json.loads(archive["header"].tobytes().decode()))


def _header(archive: Any, kind: Kind) -> dict[str, Any]:
    header = _read_header(archive)
    found = (header.get("format"), header.get("version"))
    require(found == (kind.format, kind.version), f"format and version {found}")
    return header
