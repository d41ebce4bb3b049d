"""Sums of the passes in a file, from which an interrupted fit is resumed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any

import pandas as pd

from debinet.data.archive import Kind, read_archive, write_archive
from debinet.data.pieces import FramePiece, Source
from debinet.data.records import Known, known_record, pack, unpack
from debinet.exceptions import FileFormatError, OptionError
from debinet.streaming import grams, moments, scoring

KIND = Kind("debinet-sums", 1, "a streamed fit")
# Seconds between two writes.
_EVERY = 30.0
_CLASSES = {
    "columns": moments.ColumnSums,
    "grams": grams.FoldGrams,
    "scores": scoring.ScoreSums,
    "clusters": scoring.Clusters,
    "sample": scoring.RowSample,
}


class Checkpoint:
    """One file for one fit: the sums of finished passes and of the current one.

    Parameters
    ----------
    path : Path
    fingerprint : str
        Digest of the data and of all options on which the sums depend.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self._path, self._fingerprint = path, fingerprint
        self._passes: dict[str, tuple[Any, int]] = self._read()
        self._written, self._changed = monotonic(), False

    def load(self, name: str) -> tuple[Any, int]:
        """Return the sums of a pass and how many of its pieces they contain."""
        return self._passes.get(name, (None, 0))

    def keep(self, name: str, sums: Any, done: int) -> None:
        """Keep the sums; write them from time to time."""
        self._passes[name] = (sums, done)
        self._changed = True
        if monotonic() - self._written > _EVERY:
            self.flush()

    def flush(self) -> None:
        """Write the sums that were kept, atomically."""
        if not self._changed:
            return
        arrays: dict[str, Any] = {}
        passes = {
            name: {"done": done, "sums": pack(sums, _REGISTRY, arrays)}
            for name, (sums, done) in self._passes.items()
        }
        write_archive(
            self._path, KIND, {"fingerprint": self._fingerprint, "passes": passes}, arrays
        )
        self._written, self._changed = monotonic(), False

    def remove(self) -> None:
        """Remove the file."""
        self._path.unlink(missing_ok=True)

    def _read(self) -> dict[str, tuple[Any, int]]:
        if not self._path.exists():
            return {}

        def rebuild(header: dict[str, Any], archive: Any) -> dict[str, tuple[Any, int]]:
            if header["fingerprint"] != self._fingerprint:
                raise OptionError(
                    "a checkpoint of these data and options",
                    f"{self._path}, which belongs to another fit",
                    "Give another path, or remove the file.",
                )
            return {
                str(name): (unpack(part["sums"], _REGISTRY, archive), int(part["done"]))
                for name, part in header["passes"].items()
            }

        return read_archive(self._path, KIND, rebuild)


def frames_digest(source: Source, columns: Sequence[str]) -> str:
    """Return a digest of the values of data frames, whose fingerprint has only their shapes."""
    content = sha256()
    for piece in source.pieces:
        if isinstance(piece, FramePiece):
            for _, frame in piece.batches(columns, piece.rows):
                values = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
                with suppress(TypeError):  # columns that no fit can use
                    hashes = pd.util.hash_pandas_object(values, index=False)
                    content.update(hashes.to_numpy().tobytes())
    return content.hexdigest()


class _Registry:
    """The sums of the three passes."""

    def of(self, value: Any) -> Known:
        for name, kind in _CLASSES.items():
            if type(value) is kind:
                return self.named(name)
        raise FileFormatError("sums of a pass", type(value).__name__, "Report this as a bug.")

    def named(self, name: str) -> Known:
        return known_record(name, _CLASSES[name])


_REGISTRY = _Registry()
