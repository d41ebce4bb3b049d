"""The results so far, on disk: one line per cell, only appended to.

A line is the checksum of its JSON text, a space, the text and a newline, written by one call and
flushed to the disk. A process that dies leaves at most one line whose checksum is wrong; such a
line is skipped, and the next record starts a new one.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from zlib import crc32

from debinet.exceptions import FileFormatError


@dataclass(frozen=True)
class Record:
    """A finished cell.

    Attributes
    ----------
    key : str
        Of the cell.
    design, method : str
        Names.
    replication : int
    values : dict or None
        Values by name; None if the method failed.
    failure : str or None
        Why it failed.
    seconds : float
        Time the method took.
    warnings : list of str
        Warnings, each text once.
    """

    key: str
    design: str
    method: str
    replication: int
    values: dict[str, float] | None
    failure: str | None
    seconds: float
    warnings: list[str]


@dataclass(frozen=True)
class StoredRecords:
    """What a store holds.

    Attributes
    ----------
    records : dict from str to Record
        By key: the first record of a key that is not a failure, or its last failure.
    broken : int
        Lines that could not be read.
    """

    records: dict[str, Record]
    broken: int


def read(path: Path) -> StoredRecords:
    """Read all whole lines of a store; a store that is not there is empty."""
    records: dict[str, Record] = {}
    broken = 0
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return StoredRecords({}, 0)
    except OSError as error:
        raise FileFormatError(
            f"{path} to be a readable file of results",
            str(error),
            "Choose another folder for the results.",
        ) from error
    for line in content.split(b"\n"):
        record = _parse(line)
        if record is None:
            broken += bool(line)
        elif record.key not in records or records[record.key].failure is not None:
            records[record.key] = record
    return StoredRecords(records, broken)


def _parse(line: bytes) -> Record | None:
    checksum, _, text = line.partition(b" ")
    if checksum != _checksum(text):
        return None
    return Record(**json.loads(text))


def _checksum(text: bytes) -> bytes:
    return f"{crc32(text):08x}".encode()


class Appending:
    """The store open for adding records; a context manager."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        size = os.fstat(self._descriptor).st_size
        if size and os.pread(self._descriptor, 1, size - 1) != b"\n":
            os.write(self._descriptor, b"\n")  # ends the line that a dying process left

    def __enter__(self) -> Appending:
        return self

    def __exit__(self, *raised: object) -> None:
        os.close(self._descriptor)

    def add(self, record: Record) -> None:
        """Add a record; when this returns, it is on the disk."""
        text = json.dumps(asdict(record), separators=(",", ":")).encode()
        line = memoryview(_checksum(text) + b" " + text + b"\n")
        while line:
            line = line[os.write(self._descriptor, line) :]
        os.fsync(self._descriptor)
