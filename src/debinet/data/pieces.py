"""Data that are read piece by piece, several times, and never held whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from shutil import rmtree
from typing import Any, Protocol, Self

import narwhals as nw
import pandas as pd

from debinet.data.tables import require_distinct_names
from debinet.exceptions import (
    ColumnTypeError,
    EmptyInputError,
    MissingDependencyError,
    OptionError,
    UnknownColumnError,
)

_TEXT = {"String", "Categorical", "Enum"}
_TIME = {"Datetime", "Date"}
_ANYTHING = {"Object", "Unknown"}  # pandas objects; arrow columns that are null throughout


class Piece(Protocol):
    """Consecutive rows of the data that are read together; can be pickled and sent to a worker."""

    @property
    def number(self) -> int:
        """Position among the pieces, from 0, in the order of the data."""

    @property
    def offset(self) -> int:
        """Number of rows of the whole data before this piece."""

    @property
    def rows(self) -> int:
        """Number of rows of this piece, at least 1."""

    @property
    def where(self) -> str:
        """Name for errors, such as "part-3.parquet, row group 2"; groups count from 0."""

    def batches(self, columns: Sequence[str], size: int) -> Iterator[tuple[int, Any]]:
        """Read the piece, holding about one batch in memory at a time.

        Parameters
        ----------
        columns : sequence of str
            At least one name.
        size : int
            Largest number of rows of a batch.

        Yields
        ------
        start : int
            First row of the batch, counted within this piece.
        frame : pyarrow.Table or pandas.DataFrame of shape (at most size, len(columns))
            Exactly these columns, in this order.
        """


@dataclass(frozen=True)
class Source:
    """Data of any size as a sequence of pieces; `with` removes temporary files at the end.

    Attributes
    ----------
    names : tuple of str, of length p
        The columns, in order.
    pieces : tuple of Piece
        In the order of the data. None is empty.
    fingerprint : str
        Digest that identifies the data: of files by name, size, time of the last change and rows
        of every row group; of spooled data by content; of data frames in memory by shape and
        names only. Empty for data that cannot be identified.
    label : str
        For reports, such as "12 Parquet files".
    temporary : Path, optional
        Folder on this machine that `close` removes.
    """

    names: tuple[str, ...]
    pieces: tuple[Piece, ...]
    fingerprint: str
    label: str
    temporary: Path | None = None

    @property
    def rows(self) -> int:
        """Number of rows of the whole data."""
        return sum(piece.rows for piece in self.pieces)

    def close(self) -> None:
        """Remove the temporary files, if any; their pieces cannot be read afterwards."""
        if self.temporary is not None:
            rmtree(self.temporary, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


@dataclass(frozen=True, eq=False)
class FramePiece:
    """A data frame in memory; see `Piece`.

    Attributes
    ----------
    names : tuple of str, of length p
        Columns of the frame as strings, by position.
    frame : pandas, polars or arrow table of shape (rows, p)
        Pickled whole.
    """

    number: int
    offset: int
    rows: int
    where: str
    names: tuple[str, ...]
    frame: Any

    def batches(self, columns: Sequence[str], size: int) -> Iterator[tuple[int, Any]]:
        """Cut the frame; see `Piece.batches`."""
        require_request(columns, size)
        require_known(columns, self.names, self.where)
        at = {name: j for j, name in enumerate(self.names)}
        for start in range(0, self.rows, size):
            if isinstance(self.frame, pd.DataFrame):
                cut = self.frame.iloc[start : start + size, [at[name] for name in columns]]
                yield start, cut.set_axis(list(columns), axis=1)
            else:
                import_arrow("pyarrow")
                eager = nw.from_native(self.frame, eager_only=True)
                yield start, eager[start : start + size].to_arrow().select(list(columns))


def frames_source(frames: Sequence[Any], label: str) -> Source:
    """Return one piece per data frame in memory, leaving out those without rows."""
    pieces: list[FramePiece] = []
    kinds: dict[str, nw.dtypes.DType] = {}
    offset = 0
    for i, given in enumerate(frames):
        where = f"data frame {i}"
        names = tuple(str(name) for name in frame_names(given))
        require_distinct_names(names, where)
        batch = _is_record_batch(given)
        frame = import_arrow("pyarrow").Table.from_batches([given]) if batch else given
        eager = nw.from_native(frame, eager_only=True)
        if not len(eager):
            continue
        types = dict(zip(names, eager.schema.values(), strict=True))
        kinds = same_kinds(kinds, types, where) if kinds else types
        pieces.append(FramePiece(len(pieces), offset, len(eager), where, names, frame))
        offset += len(eager)
    require_rows(offset, len(kinds), label)
    shapes = [(piece.rows, piece.names) for piece in pieces]
    return Source(tuple(kinds), tuple(pieces), digest(shapes, kinds), label)


def is_frame(data: Any) -> bool:
    """Return whether `data` is a table in memory."""
    if isinstance(data, pd.DataFrame) or _is_record_batch(data):
        return True  # narwhals refuses repeated names and does not know record batches
    return isinstance(nw.from_native(data, pass_through=True), nw.DataFrame)


def _is_record_batch(data: Any) -> bool:
    return type(data).__name__ == "RecordBatch" and hasattr(data, "column_names")


def frame_names(frame: Any) -> list[Any]:
    """Return the column labels of a data frame, repeated ones too."""
    if isinstance(frame, pd.DataFrame) or not hasattr(frame, "column_names"):
        return list(frame.columns)
    return list(frame.column_names)


def same_kinds(
    known: Mapping[str, nw.dtypes.DType], types: Mapping[str, nw.dtypes.DType], where: str
) -> dict[str, nw.dtypes.DType]:
    """Require the known columns, with types of the same kind, and ignore others.

    Widths of numbers and units of times may differ. A column of nulls matches any type; the
    returned mapping has the first more specific type.
    """
    merged = dict(known)
    for name, first in known.items():
        if name not in types:
            raise missing_column(name, where)
        kind, other = _kind(first), _kind(types[name])
        if kind == "anything":
            merged[name] = types[name]
        elif other not in {kind, "anything"}:
            raise ColumnTypeError(
                f"column {name!r} to have the same type everywhere, {first} as at the start",
                f"{types[name]} in {where}",
                "Write the column with one type.",
            )
    return merged


def _kind(dtype: nw.dtypes.DType) -> str:
    name = type(dtype).__name__
    if dtype.is_numeric() or name == "Boolean":
        return "number"
    groups = {"text": _TEXT, "time": _TIME, "anything": _ANYTHING}
    return next((kind for kind, members in groups.items() if name in members), name)


def missing_column(name: str, where: str) -> UnknownColumnError:
    """Return the error for a column that is not in a part of the data."""
    return UnknownColumnError(
        f"column {name!r} in all of the data",
        f"{where} without it",
        "Add the column there, or leave out the column or this part of the data.",
    )


def require_rows(rows: int, columns: int, label: str) -> None:
    """Require at least one row and one column."""
    if not rows or not columns:
        raise EmptyInputError(
            f"rows and columns in {label}",
            f"{rows} rows and {columns} columns",
            "Check how the data were written or filtered.",
        )


def require_request(columns: Sequence[str], size: int) -> None:
    """Require at least one column and one row per batch."""
    if isinstance(columns, str) or not len(columns):
        raise OptionError("a list of columns to read", repr(columns), "Name at least one column.")
    if size < 1:
        raise OptionError("batches of at least one row", repr(size), "Give a larger size.")


def require_known(columns: Sequence[str], names: Sequence[str], where: str) -> None:
    """Require that all requested columns are there."""
    there = set(names)
    for name in columns:
        if name not in there:
            raise missing_column(name, where)


def digest(*parts: object) -> str:
    """Return the SHA-256 of plain values as text."""
    return sha256(repr(parts).encode()).hexdigest()


def import_arrow(module: str) -> Any:
    """Return pyarrow or a module of it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            "the package pyarrow, which reads and writes Parquet files",
            f"a Python without it ({error})",
            "Install it with pip install 'debinet[stream]'.",
        ) from error
