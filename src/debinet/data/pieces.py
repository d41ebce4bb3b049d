"""Data that are read piece by piece, several times, and never held whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from shutil import rmtree
from typing import Any, Protocol, Self

import narwhals as nw
import pandas as pd

from debinet.exceptions import (
    ColumnTypeError,
    DuplicateColumnError,
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
        """Place among the pieces, from 0, in the order of the data."""

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
        """Read the piece once more, holding about one batch at a time.

        Parameters
        ----------
        columns : sequence of str
            At least one name.
        size : int
            The most rows of a batch; there may be fewer in any of them.

        Yields
        ------
        start : int
            Row of this piece that is the first of the batch.
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
        In the order of the data; their rows add up to `rows`. None is empty.
    fingerprint : str
        Hexadecimal digest of what identifies the data. Of files: names, sizes, times of the last
        change, rows of every row group. Of spooled data: their content. Of data frames in memory
        only the shapes, names and types: other values in the same frame do not change it.
    label : str
        For reports, such as "12 Parquet files".
    temporary : Path, optional
        Folder that is removed by `close`. It is on this machine: workers elsewhere cannot read it.
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
        """Remove the temporary files; the pieces cannot be read any more if there were some."""
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
        require_distinct(names, where)
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
    """Say whether something is a table in memory; one with repeated names is, too."""
    if isinstance(data, pd.DataFrame) or _is_record_batch(data):
        return True  # narwhals refuses repeated names, and does not know record batches
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
    """Require the known columns, with types of the same kind; others are not looked at.

    Widths of numbers and units of times may differ. A type that tells nothing, as of a column
    that is null throughout, is replaced in the answer by one that does.
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
                f"column {name!r} to have one type everywhere, {first} as at the start of the data",
                f"{types[name]} in {where}",
                "Write it again with the same type.",
            )
    return merged


def _kind(dtype: nw.dtypes.DType) -> str:
    name = type(dtype).__name__
    if dtype.is_numeric() or name == "Boolean":
        return "number"
    groups = {"text": _TEXT, "time": _TIME, "anything": _ANYTHING}
    return next((kind for kind, members in groups.items() if name in members), name)


def missing_column(name: str, where: str) -> UnknownColumnError:
    """Return the error of a column that only some of the data have."""
    return UnknownColumnError(
        f"column {name!r} everywhere, since the data start with it",
        f"{where} without it",
        "Add the column there, or leave these data or the column out.",
    )


def require_distinct(names: Sequence[str], where: str) -> None:
    """Require that no two columns share a name."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DuplicateColumnError(
            f"every column of {where} to have its own name",
            f"repeated names {repeated[:5]}",
            "Rename or drop the repeated columns.",
        )


def require_rows(rows: int, columns: int, label: str) -> None:
    """Require data."""
    if not rows or not columns:
        raise EmptyInputError(
            f"rows and columns in {label}",
            f"{rows} rows and {columns} columns",
            "Check how the data were written or filtered.",
        )


def require_request(columns: Sequence[str], size: int) -> None:
    """Require at least one column and one row per batch."""
    if isinstance(columns, str) or not len(columns):
        raise OptionError("a list of at least one column to read", repr(columns), "Name some.")
    if size < 1:
        raise OptionError("batches of at least one row", repr(size), "Give a larger size.")


def require_known(columns: Sequence[str], names: Sequence[str], where: str) -> None:
    """Require that all columns that are asked for are there."""
    there = set(names)
    for name in columns:
        if name not in there:
            raise UnknownColumnError(
                f"the name of a column of {where}: {', '.join(map(repr, names[:10]))}",
                repr(name),
                "Check the spelling.",
            )


def digest(*parts: object) -> str:
    """Return the sha256 of plain values as text."""
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
