"""A random sample of the rows, drawn in the first pass: networks learn their inputs from it.

The rows with the smallest hashes are kept, so the sample does not depend on how rows are read, nor
on the order in which parts of the data are added up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from debinet.data.schema import Schema
from debinet.data.tables import Table
from debinet.exceptions import DuplicateColumnError
from debinet.protocols import FloatArray, IntArray
from debinet.streaming.hashing import Hashes, hash_rows
from debinet.streaming.layout import RawRows
from debinet.streaming.moments import ColumnSums, column_sums

# Two columns whose correlation is this close to 1 in size are one column.
_SAME = 1 - 1e-12


@dataclass(frozen=True)
class DrawnRows:
    """At most `most` rows, those with the smallest hashes, in ascending order of them.

    Attributes
    ----------
    names : tuple of str
        Columns of X.
    most : int
    hashes : uint64 array of shape (r,)
    number : IntArray of shape (r,)
        Row numbers in the whole data.
    values : FloatArray of shape (r, p + 2)
        The columns of X, zeros for text, then y and the weights.
    text : mapping from int to tuple of str
        The columns of text, by position.
    """

    names: tuple[str, ...]
    most: int
    hashes: Hashes
    number: IntArray
    values: FloatArray
    text: Mapping[int, tuple[str, ...]]

    def __add__(self, other: DrawnRows) -> DrawnRows:
        """Merge; columns of text are known only where there are rows."""
        if not self.hashes.size or not other.hashes.size:
            return self if self.hashes.size else other
        both = DrawnRows(
            self.names,
            self.most,
            np.concatenate([self.hashes, other.hashes]),
            np.concatenate([self.number, other.number]),
            np.concatenate([self.values, other.values]),
            {j: (*self.text[j], *other.text[j]) for j in self.text},
        )
        return both.of(np.argsort(both.hashes)[: self.most])

    def of(self, rows: IntArray) -> DrawnRows:
        """Return some of the rows."""
        text = {j: tuple(column[i] for i in rows) for j, column in self.text.items()}
        hashes, number, values = self.hashes[rows], self.number[rows], self.values[rows]
        return DrawnRows(self.names, self.most, hashes, number, values, text)

    def read(self, schema: Schema) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return controls (r, p), outcome and treatments (r, 1 + q), and weights (r,).

        In the order of the data: a sample of all rows is what a fit in memory is given.
        """
        rows = self.of(np.argsort(self.number))
        text = {j: np.array(column, dtype=object) for j, column in rows.text.items()}
        D, Z = schema.split(Table(rows.names, rows.values[:, :-2], text))
        return Z, np.column_stack([rows.values[:, -2], D]), rows.values[:, -1]


@dataclass(frozen=True)
class FirstPass:
    """What the first pass takes from the rows.

    Attributes
    ----------
    columns : ColumnSums
    drawn : DrawnRows
    """

    columns: ColumnSums
    drawn: DrawnRows

    def __add__(self, other: FirstPass) -> FirstPass:
        """Add up."""
        return FirstPass(self.columns + other.columns, self.drawn + other.drawn)


def first_pass(rows: RawRows, most: int, seed: int) -> FirstPass:
    """Return the sums of a block of rows, and a sample of them."""
    table, hashes = rows.table, hash_rows(rows.number, seed)
    values = np.column_stack([table.values, rows.y, rows.weight])
    kept = np.argsort(hashes)[:most]
    text = {j: tuple(map(str, column[kept])) for j, column in table.text.items()}
    drawn = DrawnRows(table.names, most, hashes[kept], rows.number[kept], values[kept], text)
    return FirstPass(column_sums(rows), drawn)


def require_distinct(X: FloatArray, names: tuple[str, ...]) -> None:
    """Require that no two columns of the sampled rows (r, p) are the same."""
    centred = X - X.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    unit = centred / np.where(length > 0, length, 1.0)
    same = np.triu(np.abs(unit.T @ unit) > _SAME, k=1)
    if same.any():
        i, j = np.argwhere(same)[0]
        raise DuplicateColumnError(
            "columns with different values",
            f"{names[i]!r} and {names[j]!r}, of which each determines the other",
            "Drop one of them.",
        )
