"""Instruments: columns of X that move treatments, and the outcome through these only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from debinet.data.arrays import freeze_arrays
from debinet.data.checks import require_distinct, require_independent, require_varying
from debinet.data.dose import name_treatments
from debinet.data.outcome_columns import require_not_outcome
from debinet.data.schema import Schema, find_columns, make_schema
from debinet.data.tables import Table
from debinet.exceptions import CollinearError, DuplicateColumnError, OptionError
from debinet.protocols import BoolArray, FloatArray


@dataclass(frozen=True)
class Instruments:
    """Excluded instruments of a model, and the treatments that they are for.

    Attributes
    ----------
    values : FloatArray of shape (n, k)
    names : tuple of str
        Of the k columns.
    endogenous : BoolArray of shape (q,)
        Which columns of D are endogenous. The others are their own instruments.
    notes : tuple of str
        How text columns were coded.
    """

    values: FloatArray
    names: tuple[str, ...]
    endogenous: BoolArray
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        freeze_arrays(self, values="n k", endogenous="q")


@dataclass(frozen=True)
class Separated:
    """A table without its instruments.

    Attributes
    ----------
    table : Table
        Treatments and controls.
    instruments : Table
    treatments : sequence of int or labels
        The treatments, as they are found in `table`.
    references : mapping, optional
        The part of `ref` that is about treatments.
    of_instruments : mapping, optional
        The other part.
    """

    table: Table
    instruments: Table
    treatments: Any
    references: Any
    of_instruments: Any


def separate(table: Table, treatments: Any, instruments: Any, ref: Any = None) -> Separated:
    """Take the instruments out of a table.

    Parameters
    ----------
    table : Table
    treatments, instruments : str, int or sequence of them
        Names or positions in the whole table.
    ref : mapping, optional
        Reference categories of either.
    """
    positions = find_columns(table.names, instruments, table.labels, "instruments")
    named = name_treatments(treatments)
    own = find_columns(table.names, named.columns, table.labels)
    both = [table.names[j] for j in own if j in positions]
    if both:
        raise DuplicateColumnError(
            "instruments that are not treatments",
            f"{both[0]!r} as both",
            "Drop it from one of them. A treatment that is not endogenous is its own instrument: "
            "name the others in endogenous=[...].",
        )
    rest = [j for j in range(len(table.names)) if j not in positions]
    names = {table.names[j] for j in positions}
    references, of_instruments = ref, None
    if isinstance(ref, Mapping):
        references = {k: v for k, v in ref.items() if str(k) not in names} or None
        of_instruments = {k: v for k, v in ref.items() if str(k) in names} or None
    return Separated(
        table=take_columns(table, rest),
        instruments=take_columns(table, positions),
        treatments=[
            replace(named.doses[k], column=label) if k in named.doses else label
            for k, label in enumerate(_relabelled(table, rest, own))
        ],
        references=references,
        of_instruments=of_instruments,
    )


def take_columns(table: Table, positions: Sequence[int]) -> Table:
    """Return some columns of a table."""
    return replace(
        table,
        names=tuple(table.names[j] for j in positions),
        values=table.values[:, list(positions)],
        text={new: table.text[j] for new, j in enumerate(positions) if j in table.text},
        labels=None if table.labels is None else tuple(table.labels[j] for j in positions),
        declared={new: table.declared[j] for new, j in enumerate(positions) if j in table.declared},
    )


def read_instruments(
    parts: Separated, endogenous: Any, schema: Schema, D: FloatArray, outcome: FloatArray
) -> Instruments:
    """Code the instruments and check them.

    Parameters
    ----------
    parts : Separated
    endogenous : str, int or sequence of them, optional
        The endogenous treatments by name, or by position among the treatments; None for all.
    schema : Schema
        Of the rest of the table.
    D : FloatArray of shape (n, q)
    outcome : FloatArray of shape (n,)
    """
    table = parts.instruments
    own = range(len(table.names)) if table.labels is None else table.labels
    coding = make_schema(table, list(own), parts.of_instruments)
    W, _ = coding.split(table)
    names = coding.treatment_names
    require_varying(W, names)
    require_distinct(np.hstack([D, W]), (*schema.treatment_names, *names))
    require_not_outcome(W, names, outcome)
    try:
        require_independent(W, names)
    except CollinearError as error:
        raise CollinearError(
            "instruments that are linearly independent",
            error.came,
            "Drop them, for example one category of a full set of dummies.",
        ) from error
    chosen = _endogenous(endogenous, schema)
    if W.shape[1] < chosen.sum():
        raise OptionError(
            f"at least as many instruments as endogenous treatments ({int(chosen.sum())})",
            f"{W.shape[1]}: {', '.join(names)}",
            "Add instruments, or name fewer treatments in endogenous=[...]; the others are then "
            "taken as exogenous.",
        )
    notes = tuple(
        f"the instrument {one.name!r} is categorical: compared with {one.reference!r}"
        for one in coding.coded_treatments
    )
    return Instruments(W, names, chosen, notes)


def _endogenous(endogenous: Any, schema: Schema) -> BoolArray:
    """Return which columns of D are endogenous (q,)."""
    columns = [
        j
        for j, _ in schema.treatment_columns
        for _ in (schema.doses[j].terms if j in schema.doses else (j,))
    ]
    if endogenous is None:
        return np.ones(len(columns), dtype=np.bool_)
    names = [schema.names[j] for j in schema.treatments]
    found = find_columns(names, endogenous, None, "endogenous treatments")
    wanted = {schema.treatments[k] for k in found}
    return np.array([j in wanted for j in columns], dtype=np.bool_)


def _relabelled(table: Table, rest: Sequence[int], own: Sequence[int]) -> list[Any]:
    """Return treatments as `find_columns` finds them in the rest of the table."""
    labels = table.labels
    if labels is not None and not all(isinstance(label, str) for label in labels):
        return [labels[j] for j in own]
    return [rest.index(j) for j in own]
