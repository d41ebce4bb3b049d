"""Files of plain arrays and a JSON header in one zip archive; never pickle."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from debinet.data.arrays import require
from debinet.data.atomic_write import write_atomically
from debinet.data.free_memory import require_free
from debinet.exceptions import FileFormatError, MemoryLimitError, MissingDependencyError

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
            header = _read_header(archive)
            return rebuild(header, _Arrays(archive))
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except (FileFormatError, MissingDependencyError, MemoryLimitError):
        raise
    except Exception as error:  # a damaged archive can fail in any way; all mean the same
        raise FileFormatError(
            f"a file written by {writer}",
            f"{os.fspath(path)!r}, which cannot be read as one ({type(error).__name__}: {error})",
            "Check the path, or save it again.",
        ) from error


class _Arrays:
    """The arrays of an archive, each checked before any memory is taken for it, and read once.

    A few kilobytes can hold an array of zeros that fills the memory.
    """

    def __init__(self, archive: Any) -> None:
        self._archive, self._read = archive, dict[str, Any]()

    def __getitem__(self, name: str) -> Any:
        if name not in self._read:
            member = self._archive.zip.getinfo(f"{name}.npy")
            with self._archive.zip.open(member) as stream:
                needed = _size(stream)
                start = stream.tell()
            require(member.file_size - start == needed, f"size of {name}")
            require_free(needed, f"for an array in the file, {name}", "Check who made the file.")
            self._read[name] = self._archive[name]
        return self._read[name]


def _size(stream: Any) -> int:
    """Return the number of bytes of the numbers or texts that an array's own header announces."""
    version = np.lib.format.read_magic(stream)
    require(version in _HEADERS, "version of an array")
    shape, _, kind = _HEADERS[version](stream)
    require(kind.kind in "biufU" and all(length >= 0 for length in shape), "kind of array")
    return int(math.prod(shape) * kind.itemsize)


_HEADERS: dict[tuple[int, int], Callable[[Any], Any]] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def _read_header(archive: Any) -> dict[str, Any]:
    require(archive.zip.getinfo("header.npy").file_size < _HEADER_LIMIT, "header size")
    header = dict(json.loads(archive["header"].tobytes().decode()))
    found = (header.get("format"), header.get("version"))
    require(found == (FORMAT, VERSION), f"format and version {found}")
    return header
