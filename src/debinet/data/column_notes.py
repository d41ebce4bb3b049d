"""Controls that a reader should know of: row numbers, the clusters' variable, functions of y."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

from debinet.data.outcome_columns import columns_in_order, find_namesake
from debinet.data.tables import Table
from debinet.protocols import FloatArray, IntArray

# Names of row numbers and identifiers; the first is that of pandas for a column without a name.
_NUMBERED = re.compile(r"Unnamed: \d+|index|level_0|__index_level_0__|id", re.IGNORECASE)
# Columns that these rows exclude need not be looked at in the others.
_FIRST_ROWS = 32


@dataclass(frozen=True)
class ColumnNote:
    """A remark on a column, in case it is a control.

    Attributes
    ----------
    column : int
        Its position in X.
    text : str
    """

    column: int
    text: str


def note_columns(
    table: Table, outcome: FloatArray, name: str | None = None, groups: IntArray | None = None
) -> tuple[ColumnNote, ...]:
    """Return remarks on the columns of a table, given y (n,), its name and clusters (n, ways)."""
    notes = [
        ColumnNote(
            j,
            f"the control {table.names[j]!r} looks like a row number or an identifier: if it is "
            "one, leave it out of X",
        )
        for j in _row_numbers(table)
    ]
    notes += [
        ColumnNote(
            j,
            f"the control {table.names[j]!r} is the variable of the clusters: leave it out of X, "
            "unless it should explain y beside the treatments",
        )
        for j in _cluster_columns(table, groups)
    ]
    notes += [
        ColumnNote(
            j,
            f"the control {table.names[j]!r} orders the rows exactly as y does: if it is a "
            "function of y, such as its logarithm, leave it out of X",
        )
        for j in columns_in_order(table, outcome)
    ]
    namesake = find_namesake(name, table)
    if namesake is not None:
        text = (
            f"y has the name of the control {name!r}: if they are one variable, leave it out of X"
        )
        notes.append(ColumnNote(namesake, text))
    return tuple(notes)


def _row_numbers(table: Table) -> list[int]:
    """Return columns without a name, or with whole numbers that all differ, in order."""
    named = [j for j, name in enumerate(table.names) if _NUMBERED.fullmatch(name)]
    numbers = np.array([j for j in range(len(table.names)) if j not in table.text], dtype=np.int64)
    for rows in (slice(_FIRST_ROWS), slice(None)):
        part = table.values[rows][:, numbers]
        steps = np.diff(part, axis=0)
        ordered = (steps > 0).all(axis=0) | (steps < 0).all(axis=0)
        numbers = numbers[ordered & (part == np.round(part)).all(axis=0)]
    return sorted({*named, *numbers.tolist()})


def _cluster_columns(table: Table, groups: IntArray | None) -> list[int]:
    """Return columns with one value in each cluster and another in every other cluster."""
    found = []
    for codes in () if groups is None else groups.T:
        same = codes[1:_FIRST_ROWS] == codes[: min(_FIRST_ROWS, codes.size) - 1]
        start = table.values[:_FIRST_ROWS]
        possible = ((start[1:] == start[:-1]) == same[:, None]).all(axis=0)
        for j in range(len(table.names)):
            column = table.text.get(j)
            if column is None and not possible[j]:
                continue
            values = table.values[:, j] if column is None else column
            if np.array_equal(pd.factorize(values)[0], codes):
                found.append(j)
    return sorted(set(found))
