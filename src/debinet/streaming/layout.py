"""The roles of the columns, and blocks of rows as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from debinet.data.checks import LARGEST
from debinet.data.pieces import Piece
from debinet.data.schema import Schema, unknown_column
from debinet.data.tables import Table, read_table, read_vector
from debinet.exceptions import DebiNetError, InputError, MissingValueError, OptionError
from debinet.protocols import FloatArray, IntArray
from debinet.streaming.hashing import Hashes, hash_labels, hash_rows


@dataclass(frozen=True)
class Layout:
    """Roles of the columns.

    Attributes
    ----------
    outcome : str
    features : tuple of str
        Treatments, then controls: the columns of X.
    treatments : int
        How many of them are treatments.
    groups : str, optional
        Column of clusters; a cluster is never split between folds.
    weight : str, optional
        Column of sample weights.
    folds : int
        Number of folds.
    seed : int
        Seed of the folds.
    """

    outcome: str
    features: tuple[str, ...]
    treatments: int
    groups: str | None
    weight: str | None
    folds: int
    seed: int

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns to be read."""
        extra = (self.groups, self.weight)
        wanted = (self.outcome, *self.features, *(name for name in extra if name is not None))
        return tuple(dict.fromkeys(wanted))


@dataclass(frozen=True)
class RawRows:
    """Rows of positive weight, as they were read.

    Attributes
    ----------
    table : Table
        The columns of X (n, p), with text not coded yet.
    y, weight : FloatArray of shape (n,)
    fold : IntArray of shape (n,)
    number : IntArray of shape (n,)
        Row numbers in the whole data.
    labels : uint64 array of shape (n,), optional
        Hashes of the clusters.
    """

    table: Table
    y: FloatArray
    weight: FloatArray
    fold: IntArray
    number: IntArray
    labels: Hashes | None


@dataclass(frozen=True)
class RowBlock:
    """Rows as numbers; `weight`, `fold`, `number` and `labels` are those of `RawRows`.

    Attributes
    ----------
    Z : FloatArray of shape (n, p)
        Controls, coded.
    M : FloatArray of shape (n, 1 + q)
        Outcome and treatments.
    """

    Z: FloatArray
    M: FloatArray
    weight: FloatArray
    fold: IntArray
    number: IntArray
    labels: Hashes | None

    def of(self, rows: IntArray | slice) -> RowBlock:
        """Return some of the rows."""
        labels = None if self.labels is None else self.labels[rows]
        weight, fold, number = self.weight[rows], self.fold[rows], self.number[rows]
        return RowBlock(self.Z[rows], self.M[rows], weight, fold, number, labels)


def make_block(rows: RawRows, schema: Schema) -> RowBlock:
    """Code text columns and put outcome and treatments side by side."""
    D, Z = schema.split(rows.table)
    M = np.column_stack([rows.y, D])
    return RowBlock(Z, M, rows.weight, rows.fold, rows.number, rows.labels)


def read_rows(layout: Layout, frame: Any, piece: Piece, first: int) -> RawRows:
    """Read a batch of a piece, or raise an error that names the place in the data."""
    try:
        return _read(layout, frame, piece.offset + first)
    except DebiNetError as error:
        raise _located(error, layout, frame, piece, first) from error


def _read(layout: Layout, frame: Any, start: int) -> RawRows:
    table = read_table(_select(frame, layout.features))
    y = _vector(frame, layout.outcome)
    number = np.arange(start, start + table.n)
    weight = np.ones(table.n) if layout.weight is None else _vector(frame, layout.weight)
    wrong = weight[(weight < 0) | (weight > LARGEST)]
    if wrong.size:
        raise InputError(
            f"weights between 0 and {LARGEST:g}", f"{wrong[0]:g}", f"Check {layout.weight!r}."
        )
    labels = None if layout.groups is None else hash_labels(_series(frame, layout.groups))
    hashes = hash_rows(number if labels is None else labels, layout.seed)
    fold = (hashes % np.uint64(layout.folds)).astype(np.int64)
    kept = weight > 0
    if kept.all():
        return RawRows(table, y, weight, fold, number, labels)
    text = {j: column[kept] for j, column in table.text.items()}
    table = replace(table, values=table.values[kept], text=text)
    labels = None if labels is None else labels[kept]
    return RawRows(table, y[kept], weight[kept], fold[kept], number[kept], labels)


def _select(frame: Any, names: Sequence[str]) -> Any:
    return frame.select(list(names)) if hasattr(frame, "select") else frame[list(names)]


def _series(frame: Any, name: str) -> pd.Series:
    column = frame[name]
    return pd.Series(column.to_pandas() if hasattr(column, "to_pandas") else column)


def _vector(frame: Any, name: str) -> FloatArray:
    return read_vector(_series(frame, name).to_numpy(), f"column {name!r}")[0]


def _located(
    error: DebiNetError, layout: Layout, frame: Any, piece: Piece, first: int
) -> DebiNetError:
    """Return the error with its place in the data."""
    if isinstance(error, MissingValueError):
        found = _first_missing(layout, frame)
        if found is not None:
            row, name = found
            return MissingValueError(
                "finite values in all columns that are used",
                f"NaN or infinity in column {name!r}, row {piece.offset + first + row} "
                f"({piece.where}, row {first + row} there)",
                "Drop or impute such rows first; nothing is dropped silently.",
            )
    return type(error)(error.expected, f"{error.came}, in {piece.where}", error.remedy)


def _first_missing(layout: Layout, frame: Any) -> tuple[int, str] | None:
    found = []
    for name in layout.columns:
        column = _series(frame, name)
        numbers = getattr(column.dtype, "kind", "") == "f"
        bad = ~np.isfinite(column.to_numpy(float)) if numbers else column.isna().to_numpy()
        if bad.any():
            found.append((int(bad.argmax()), name))
    return min(found, default=None)


def require_roles(layout: Layout, names: Sequence[str]) -> None:
    """Require that all columns exist and none has two roles."""
    for name in layout.columns:
        if name not in names:
            raise unknown_column(name, names)
    used = [layout.outcome, *layout.features]
    if layout.weight is not None:
        used.append(layout.weight)
    # A control may also be the column of clusters.
    if layout.groups is not None and layout.groups in {layout.outcome, layout.weight}:
        used.append(layout.groups)
    double = sorted({name for name in used if used.count(name) > 1})
    if double:
        raise OptionError(
            "one role per column", f"{double[:5]} in two roles", "Choose one of them."
        )
