"""The validated data that all models work with."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from debinet.data.alignment import require_aligned
from debinet.data.arrays import require
from debinet.data.checks import (
    require_enough_rows,
    require_independent,
    require_length,
    require_sound,
)
from debinet.data.column_notes import note_columns
from debinet.data.instruments import Instruments, read_instruments, separate
from debinet.data.labels import read_groups
from debinet.data.observed_dose import ObservedDose
from debinet.data.outcome_columns import require_no_namesake
from debinet.data.schema import Schema, Treatments, make_schema
from debinet.data.tables import read_table, read_vector
from debinet.exceptions import InputError
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class Dataset:
    """Validated data of a partially linear model.

    Attributes
    ----------
    y : FloatArray of shape (n,)
        Outcome.
    D : FloatArray of shape (n, q)
        Treatments.
    Z : FloatArray of shape (n, p - q), or wider when text columns were coded
        Controls.
    schema : Schema
        How X was split and coded, to be repeated for new rows.
    outcome : str
        Name of y.
    groups : IntArray of shape (n, ways), optional
        Clusters, coded from 0.
    weights : FloatArray of shape (n,), optional
        Sample weights.
    notes : tuple of str
        What was done to the columns, and what is remarkable about controls, for the summary.
    instruments : Instruments, optional
        For treatments that are endogenous.
    """

    y: FloatArray
    D: FloatArray
    Z: FloatArray
    schema: Schema
    outcome: str
    groups: IntArray | None
    weights: FloatArray | None
    notes: tuple[str, ...] = ()
    instruments: Instruments | None = None

    def __post_init__(self) -> None:
        lengths = {len(part) for part in (self.y, self.D, self.Z)}
        lengths |= {len(part) for part in (self.groups, self.weights) if part is not None}
        require(len(lengths) == 1, f"numbers of rows {sorted(lengths)}")

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.y.size

    @property
    def M(self) -> FloatArray:
        """Targets of the learner, `[y, D]` (n, 1 + q), or `[y, D, W]` with instruments W."""
        W = () if self.instruments is None else (self.instruments.values,)
        return np.column_stack([self.y, self.D, *W])

    @property
    def doses(self) -> tuple[ObservedDose, ...]:
        """The treatments that are doses."""
        names = self.schema.treatment_names
        return tuple(
            ObservedDose(basis, self.D[:, names.index(basis.name)], self.weights)
            for basis in self.schema.doses.values()
        )

    @classmethod
    def from_any(
        cls,
        X: Any,
        y: Any,
        treatments: Treatments,
        *,
        ref: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        instruments: Any = None,
        endogenous: Any = None,
    ) -> Dataset:
        """Validate the data; raise a typed error or return a valid record.

        Parameters
        ----------
        X : array or data frame of shape (n, p)
            numpy, pandas, polars or arrow. Numeric and boolean columns are taken as numbers;
            categorical and text columns outside of `treatments` are one-hot encoded.
        y : array or series of shape (n,)
            Outcome.
        treatments : str, int, Dose or sequence of them
            Columns of D, by name or position. Text and categories are coded against a reference.
        ref : mapping from str to category, or category, optional
            The references of treatments; whole numbers that it names are categories, too.
        groups : array or series of shape (n,), or two columns, optional
            Clusters: rows of one group are never split between training and held-out rows.
        sample_weight : array or series of shape (n,), optional
            Non-negative weights.
        instruments, endogenous : str, int or sequence of them, optional
            Columns of X that are instruments, and the treatments that are not exogenous; None for
            all.
        """
        table = read_table(X, copy=False)  # D and Z will be copies
        parts = None
        if instruments is not None:
            parts = separate(table, treatments, instruments, ref)
            table, treatments, ref = parts.table, parts.treatments, parts.references
        outcome, name = read_outcome(y)
        require_length(outcome.size, table.n, "y")
        require_aligned(X=X, y=y, groups=groups, sample_weight=sample_weight)
        require_no_namesake(name, table, outcome)
        weights = None if sample_weight is None else read_weights(sample_weight, table.n)
        schema = make_schema(table, treatments, ref, weights)
        D, Z = schema.split(table)
        counted = table.n if weights is None else int(np.count_nonzero(weights))
        require_enough_rows(counted, D.shape[1])
        if schema.levels:
            names = (*schema.treatment_names, *schema.control_names)
            require_sound(np.hstack([D, Z]), names, outcome)
        else:
            require_sound(table.values, table.names, outcome)
        require_independent(D, schema.treatment_names)
        found = None
        if parts is not None:
            found = read_instruments(parts, endogenous, schema, D, outcome)
            require_enough_rows(counted, D.shape[1] + found.values.shape[1])
        codes = None if groups is None else read_groups(groups, table.n)
        notes = note_columns(table, outcome, name, codes)
        remarks = [note.text for note in notes if note.column not in schema.treatments]
        return cls(
            y=outcome,
            D=D,
            Z=Z,
            schema=schema,
            outcome=name or "y",
            groups=codes,
            weights=weights,
            notes=(*schema.notes, *(() if found is None else found.notes), *remarks),
            instruments=found,
        )


def read_outcome(y: Any) -> tuple[FloatArray, str | None]:
    """Read y and its name."""
    if y is None:
        raise InputError(
            "an outcome",
            "y = None: the model requires y to be passed, but the target y is None",
            "Pass the outcome as the second argument of fit.",
        )
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected.",
            DataConversionWarning,
            stacklevel=4,
        )
        y = y[:, 0]
    return read_vector(y, "y")


def read_weights(sample_weight: Any, n: int) -> FloatArray:
    """Read non-negative weights."""
    weights, _ = read_vector(sample_weight, "sample_weight")
    require_length(weights.size, n, "sample_weight")
    if (weights < 0).any() or (weights > 0).sum() < 2:
        raise InputError(
            "weights that are not negative, at least two of them not zero",
            f"sample_weight with minimum {weights.min():g} and "
            f"{int((weights == 0).sum())} of {n} weights zero",
            "Check sample_weight.",
        )
    return weights
