"""Validated rows before it is known which columns are treatments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from debinet.data.alignment import require_aligned
from debinet.data.categories import read_levels
from debinet.data.checks import (
    find_copies,
    require_independent,
    require_length,
    require_sound,
    require_varying_outcome,
)
from debinet.data.column_notes import ColumnNote, note_columns
from debinet.data.dataset import Dataset, read_outcome, read_weights
from debinet.data.labels import read_groups
from debinet.data.outcome_columns import require_no_namesake
from debinet.data.schema import Schema
from debinet.data.tables import Table, read_table
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


@dataclass(frozen=True)
class CandidateRows:
    """Rows whose columns a selector may choose from.

    Attributes
    ----------
    candidates : Candidates
    X : FloatArray of shape (n, P)
        All columns, coded.
    y : FloatArray of shape (n,)
    outcome : str
        Name of y.
    groups : IntArray of shape (n, ways), optional
    weights : FloatArray of shape (n,), optional
    column_notes : tuple of ColumnNote
        Remarks on columns, for the summary if they become controls.
    """

    candidates: Candidates
    X: FloatArray
    y: FloatArray
    outcome: str
    groups: IntArray | None
    weights: FloatArray | None
    column_notes: tuple[ColumnNote, ...] = ()

    def of(self, rows: IntArray) -> CandidateRows:
        """Return some of the rows."""
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            groups=None if self.groups is None else self.groups[rows],
            weights=None if self.weights is None else self.weights[rows],
        )

    def frame(self, columns: BoolArray) -> pd.DataFrame:
        """Return some of the columns by name."""
        return pd.DataFrame(self.X[:, columns], columns=list(self._names(columns)))

    def dataset(self, treatments: BoolArray, kept: BoolArray) -> Dataset:
        """Return the data of a model with some of the columns, of which some are treatments."""
        D, names = self.X[:, treatments], self._names(treatments)
        require_varying_outcome(self.y)
        require_independent(D, names)
        groups = self.groups
        if groups is not None:  # coded from 0 among these rows
            groups = read_groups(list(groups.T), self.y.size)
        schema = Schema(self._names(kept), tuple(np.flatnonzero(treatments[kept]).tolist()), {})
        # Rows in one piece, as `Schema.split` has them: products are then the same to the bit.
        Z = np.ascontiguousarray(self.X[:, kept & ~treatments])
        notes = self._notes(kept & ~treatments)
        return Dataset(self.y, D, Z, schema, self.outcome, groups, self.weights, notes)

    def columns_of(self, chosen: BoolArray) -> tuple[str, ...]:
        """Return the columns of X that some of the coded columns (P,) come from."""
        source = dict.fromkeys(self.candidates.source[chosen].tolist())
        return tuple(self.candidates.schema.names[j] for j in source)

    def _notes(self, controls: BoolArray) -> tuple[str, ...]:
        source = set(self.candidates.source[controls].tolist())
        return tuple(note.text for note in self.column_notes if note.column in source)

    def _names(self, columns: BoolArray) -> tuple[str, ...]:
        return tuple(self.candidates.names[j] for j in np.flatnonzero(columns))


def read_candidate_rows(
    X: Any, y: Any, groups: Any = None, sample_weight: Any = None
) -> CandidateRows:
    """Validate the data; raise a typed error or return a valid record."""
    table = read_table(X)
    outcome, name = read_outcome(y)
    require_length(outcome.size, table.n, "y")
    require_aligned(X=X, y=y, groups=groups, sample_weight=sample_weight)
    require_no_namesake(name, table, outcome)
    candidates = make_candidates(table)
    values = candidates.read(table)
    require_sound(values, candidates.names, outcome)
    codes = None if groups is None else read_groups(groups, table.n)
    return CandidateRows(
        candidates,
        values,
        outcome,
        name or "y",
        codes,
        None if sample_weight is None else read_weights(sample_weight, table.n),
        note_columns(table, outcome, name, codes),
    )
