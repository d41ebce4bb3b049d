"""Sums of the passes in a file, from which an interrupted fit is resumed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any

import pandas as pd

from debinet.data.archive import read_archive
from debinet.data.arrays import require
from debinet.data.atomic_write import remove_drafts
from debinet.data.pieces import FramePiece, Source
from debinet.data.records import save_object, unpack
from debinet.exceptions import OptionError

# Seconds between two writes.
_EVERY = 30.0


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
        # A checkpoint belongs to one fit: what another process left half written, it left for good.
        remove_drafts(path)
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
        save_object({"fingerprint": self._fingerprint, "passes": self._passes}, self._path)
        self._written, self._changed = monotonic(), False

    def remove(self) -> None:
        """Remove the file."""
        self._path.unlink(missing_ok=True)

    def _read(self) -> dict[str, tuple[Any, int]]:
        if not self._path.exists():
            return {}
        content = read_archive(self._path, _unpack_checkpoint, "a streamed fit")
        if content["fingerprint"] != self._fingerprint:
            raise OptionError(
                "a checkpoint of these data and options",
                f"{self._path}, which belongs to another fit",
                "Give another path, or remove the file.",
            )
        passes: dict[str, tuple[Any, int]] = content["passes"]
        return passes


def _unpack_checkpoint(header: dict[str, Any], arrays: Any) -> dict[str, Any]:
    content = unpack(header, arrays)
    require(isinstance(content, dict) and set(content) == {"fingerprint", "passes"}, "content")
    return dict(content)


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
