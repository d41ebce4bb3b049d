"""Files of plain arrays and a JSON header in one zip archive; never pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from debinet.data.arrays import require
from debinet.data.atomic_write import write_atomically
from debinet.exceptions import FileFormatError, MissingDependencyError

FORMAT, VERSION = "debinet", 2
_HEADER_LIMIT = 2**24  # bytes
Rebuilt = TypeVar("Rebuilt")


def write_archive(
    path: str | PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write a file, whole or not at all."""
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        raise OSError(f"Cannot write {target}: give the path of a file in a folder that exists.")
    text = json.dumps({"format": FORMAT, "version": VERSION, **header})
    with write_atomically(target) as draft, draft.open("xb") as stream:
        encoded = np.frombuffer(text.encode(), dtype=np.uint8)
        np.savez_compressed(stream, allow_pickle=False, header=encoded, **arrays)


def read_archive(
    path: str | PathLike[str],
    rebuild: Callable[[dict[str, Any], Any], Rebuilt],
    writer: str = "one of the `save` methods",
) -> Rebuilt:
    """Return what `rebuild(header, arrays)` makes of a file; safe for untrusted files."""
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            return rebuild(_read_header(archive), archive)
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except (FileFormatError, MissingDependencyError):
        raise
    except Exception as error:  # a damaged archive can fail in any way; all mean the same
        raise FileFormatError(
            f"a file written by {writer}",
            f"{os.fspath(path)!r}, which cannot be read as one ({type(error).__name__}: {error})",
            "Check the path, or save it again.",
        ) from error


def _read_header(archive: Any) -> dict[str, Any]:
    require(archive.zip.getinfo("header.npy").file_size < _HEADER_LIMIT, "header size")
    header = dict(json.loads(archive["header"].tobytes().decode()))
    found = (header.get("format"), header.get("version"))
    require(found == (FORMAT, VERSION), f"format and version {found}")
    return header
