"""The columns of X as numbers, and which of them a selector may choose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.data.checks import find_copies
from debinet.data.schema import Schema, read_levels
from debinet.data.tables import Table
from debinet.protocols import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Candidates:
    """Columns to select from.

    Attributes
    ----------
    schema : Schema
        How text columns were coded; there are no treatments yet.
    names : tuple of str
        Names of the P columns after coding.
    source : IntArray of shape (P,)
        Position in X of the column that each came from.
    selectable : BoolArray of shape (P,)
        False for columns that code a text column: a category is determined by the others.
    """

    schema: Schema
    names: tuple[str, ...]
    source: IntArray
    selectable: BoolArray

    def read(self, table: Table) -> FloatArray:
        """Return the columns (n, P) of a table."""
        return self.schema.split(table)[1]


def make_candidates(table: Table) -> Candidates:
    """Code the text columns of a table; every numeric column may be chosen."""
    schema = Schema(table.names, (), {j: read_levels(table, j) for j in table.text})
    source = np.array([j for j, _ in schema.control_columns], dtype=np.int64)
    selectable = ~np.isin(source, list(table.text))
    return Candidates(schema, schema.control_names, source, selectable)


def usable_columns(X: FloatArray) -> BoolArray:
    """Return which columns vary and are not copies of an earlier one."""
    usable = np.ptp(X, axis=0) > 0
    usable[list(find_copies(X))] = False
    return np.asarray(usable, dtype=np.bool_)
