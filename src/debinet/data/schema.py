"""How the columns of X become D and Z, at fit and again at predict."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from debinet.data.categories import (
    read_categories,
    read_levels,
    read_references,
    treatment_levels,
)
from debinet.data.coded_treatment import CodedTreatment
from debinet.data.dose import Dose, name_treatments
from debinet.data.dose_basis import DoseBasis
from debinet.data.dose_knots import make_basis
from debinet.data.tables import Table
from debinet.exceptions import (
    ColumnTypeError,
    DuplicateColumnError,
    EmptyInputError,
    InputError,
    OptionError,
    UnknownColumnError,
)
from debinet.protocols import FloatArray

# What separates columns in files; found in a name, they were not separated.
_JOINTS = re.compile(r"[;,|\t]|\s+")

Treatments: TypeAlias = str | int | Dose | Sequence[str | int | Dose]


@dataclass(frozen=True)
class Schema:
    """Which columns are treatments, and how text columns are coded.

    Attributes
    ----------
    names : tuple of str
        All columns of X, in order.
    treatments : tuple of int
        Positions of the columns of D.
    levels : mapping from int to tuple of str
        For every text column, its categories in order. Of a control, two categories become one
        column (the second against the first), more become one column each. Of a treatment, all but
        the first, the reference, become one column each.
    codes : tuple of int
        Positions of treatments in `levels` that are whole numbers, not text.
    doses : mapping from int to DoseBasis
        The columns of treatments that are doses, by position.
    """

    names: tuple[str, ...]
    treatments: tuple[int, ...]
    levels: Mapping[int, tuple[str, ...]]
    codes: tuple[int, ...] = ()
    doses: Mapping[int, DoseBasis] = field(default_factory=dict)

    @cached_property
    def treatment_columns(self) -> tuple[tuple[int, str | None], ...]:
        """Treatments after coding: position in X, and the category or None for numbers."""
        return tuple(
            (j, level)
            for j in self.treatments
            for level in (self.levels[j][1:] if j in self.levels else (None,))
        )

    @property
    def treatment_names(self) -> tuple[str, ...]:
        """Names of the columns of D after coding."""
        return tuple(
            term
            for j, level in self.treatment_columns
            for term in (self.doses[j].terms if j in self.doses else (_term(self.names[j], level),))
        )

    @property
    def coded_treatments(self) -> tuple[CodedTreatment, ...]:
        """The treatments that are categories."""
        return tuple(
            CodedTreatment(name, first, tuple(_term(name, level) for level in others))
            for name, (first, *others) in (
                (self.names[j], self.levels[j]) for j in self.treatments if j in self.levels
            )
        )

    @cached_property
    def control_columns(self) -> tuple[tuple[int, str | None], ...]:
        """Columns of Z after coding: position in X, and the category or None for numbers."""
        return tuple(
            (j, level)
            for j in range(len(self.names))
            if j not in self.treatments
            for level in (_coded(self.levels[j]) if j in self.levels else (None,))
        )

    @property
    def control_names(self) -> tuple[str, ...]:
        """Names of the columns of Z after coding."""
        return tuple(
            self.names[j] if level is None else f"{self.names[j]}={level}"
            for j, level in self.control_columns
        )

    @property
    def control_column_names(self) -> tuple[str, ...]:
        """Names of the columns of X that Z is made of, before coding."""
        return tuple(name for j, name in enumerate(self.names) if j not in self.treatments)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the columns, for the summary."""
        controls = (
            f"{self.names[j]!r} is categorical: one-hot encoded, {len(levels)} categories"
            for j, levels in self.levels.items()
            if j not in self.treatments
        )
        treatments = (
            f"{one.name!r} is categorical: coefficients compare with {one.reference!r}"
            for one in self.coded_treatments
        )
        doses = (
            f"{one.name!r} is a dose: a natural cubic spline with knots at "
            f"{', '.join(f'{knot:.4g}' for knot in one.knots)}; its curve is "
            f"result.dose({one.name!r})"
            for one in self.doses.values()
        )
        return (*doses, *treatments, *controls)

    def split(self, table: Table) -> tuple[FloatArray, FloatArray]:
        """Return the coded D and Z of a table with the same columns."""
        unexpected = [table.names[j] for j in table.text if j not in self.levels or j in self.codes]
        if unexpected:
            raise ColumnTypeError(
                f"numbers in column {unexpected[0]!r}, as in the data of fit",
                "text",
                "Convert the column as it was converted for fit.",
            )
        text = {j: read_categories(table, j, j in self.codes) for j in self.levels}
        for j, levels in self.levels.items():
            _require_levels(text[j], table.names[j], levels)
        D = self._expand(_coded_columns(table, text, self.treatment_columns))
        if not self.levels:
            # one order in memory, so that sums have the same last digits wherever rows come from
            return D, np.ascontiguousarray(np.delete(table.values, self.treatments, axis=1))
        return D, _coded_columns(table, text, self.control_columns)

    def _expand(self, D: FloatArray) -> FloatArray:
        """Return D with all columns of the doses."""
        if not self.doses:
            return D
        parts = zip(self.treatment_columns, D.T, strict=True)
        return np.column_stack(
            [self.doses[j].columns(part) if j in self.doses else part for (j, _), part in parts]
        )


def _term(name: str, level: str | None) -> str:
    return name if level is None else f"{name}[{level}]"


def _coded_columns(
    table: Table,
    text: Mapping[int, npt.NDArray[np.object_]],
    columns: Sequence[tuple[int, str | None]],
) -> FloatArray:
    """Return columns of a table (n, k): numbers, or 1 where a category is the one given."""
    if all(level is None for _, level in columns):
        return table.values[:, [j for j, _ in columns]]
    coded = np.empty((table.n, len(columns)))
    for k, (j, level) in enumerate(columns):
        coded[:, k] = table.values[:, j] if level is None else text[j] == level
    return coded


def make_schema(
    table: Table, treatments: Treatments, ref: Any = None, weights: FloatArray | None = None
) -> Schema:
    """Find the treatments among the columns and the categories of the text columns.

    `ref` has the reference categories of treatments by name; treatments of whole numbers that it
    names are categories, too. The columns of doses depend on the weights (n,) of the rows.
    """
    named = name_treatments(treatments)
    positions = find_columns(table.names, named.columns, table.labels)
    references = read_references(ref, [table.names[j] for j in positions])
    doses = {positions[k]: dose for k, dose in named.doses.items()}
    for j in doses:
        require_no_reference(table.names[j], references)
    levels = {j: read_levels(table, j) for j in table.text if j not in positions}
    for j in positions:
        name = table.names[j]
        if j not in doses and (j in table.text or name in references):
            levels[j] = treatment_levels(table, j, references.get(name))
    codes = tuple(j for j in positions if j in levels and j not in table.text)
    bases = {j: make_basis(table, j, dose, weights) for j, dose in doses.items()}
    return Schema(table.names, positions, dict(sorted(levels.items())), codes, bases)


def require_no_reference(dose: str, references: Collection[str]) -> None:
    """Require that a dose is no category."""
    if dose in references:
        raise OptionError(
            f"{dose!r} to be a dose or a category",
            "both: a dose with a reference category",
            f"Leave it out of ref, or name {dose!r} itself among the treatments.",
        )


def require_numeric(
    names: Sequence[str], treatments: Sequence[int], text: Mapping[int, Iterable[str]]
) -> None:
    """Require that no treatment is a text column; `text` has their values by position."""
    for j in treatments:
        if j in text:
            raise ColumnTypeError(
                f"the treatment {names[j]!r} to be numeric",
                f"text such as {next(iter(text[j]))!r}",
                "Convert the column if it holds numbers (a numpy array has one type for all, a "
                "data frame has not); make 0/1 columns of categories (pandas.get_dummies with "
                "drop_first=True) and name those as treatments, or use fit, which codes them.",
            )


def find_columns(
    names: Sequence[str],
    wanted: Any,
    labels: Sequence[Any] | None = None,
    role: str = "treatments",
) -> tuple[int, ...]:
    """Turn names, labels or positions into positions, or raise an error for one that is missing.

    Integers are positions, unless the columns have labels that are not text: then they are labels,
    as in pandas. Errors call the columns by their role, a plural.
    """
    single = isinstance(wanted, (str, int, np.integer, tuple)) and not (
        isinstance(wanted, tuple) and (labels is None or wanted not in labels)
    )
    if not single and (isinstance(wanted, (set, frozenset, dict)) or not np.iterable(wanted)):
        raise _no_label(wanted, role)
    chosen = [wanted] if single else list(wanted)
    if not chosen:
        raise EmptyInputError(
            f"at least one {role[:-1]}", "none", f"Name one or more of the columns {_some(names)}."
        )
    own = None if labels is None or all(isinstance(v, str) for v in labels) else list(labels)
    positions = tuple(_find_column(names, label, own, role) for label in chosen)
    repeated = sorted({names[j] for j in positions if positions.count(j) > 1})
    if repeated:
        raise DuplicateColumnError(
            f"each {role[:-1]} to be named once", f"{repeated} repeated", "Drop the repetition."
        )
    return positions


def _no_label(label: Any, role: str) -> OptionError:
    option = role.split(maxsplit=1)[0]
    return OptionError(
        f"{role} to be a column name or position, or a list of them",
        repr(label),
        f"For example {option}=['educ'] or {option}=[0].",
    )


def _find_column(names: Sequence[str], label: Any, own: list[Any] | None, role: str) -> int:
    if own is not None and not isinstance(label, bool) and label in own:
        return own.index(label)
    if isinstance(label, bool) or not isinstance(label, (str, int, np.integer)):
        raise _no_label(label, role)
    if isinstance(label, str) or own is not None:
        if label in names:
            return list(names).index(str(label))
        raise unknown_column(str(label), names, f"{role} that are columns of X")
    p = len(names)
    if not -p <= label < p:
        raise UnknownColumnError(
            f"{role[:-1]} positions between 0 and {p - 1}, as X has {p} feature(s)",
            str(label),
            f"The columns are {_some(names)}.",
        )
    return int(label) % p


def unknown_column(
    name: str, columns: Collection[str], expected: str = "columns of the data"
) -> UnknownColumnError:
    """Return the error for a name that the data do not have; it suggests the nearest name."""
    names = [str(column) for column in columns]
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    joined = next((one for one in names if name in _JOINTS.split(one) and name != one), None)
    if joined is not None:
        hint = (
            f"The column {joined[:40]!r} looks like several: read the file with its separator "
            "(sep=';' of pandas.read_csv, --sep on the command line)."
        )
    else:
        hint = f"Did you mean {near[0]!r}?" if near else f"The columns are {_some(names)}."
    return UnknownColumnError(expected, repr(name), hint)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:8])
    return shown + (", ..." if len(names) > 8 else "")


def _coded(levels: tuple[str, ...]) -> tuple[str, ...]:
    return levels[1:] if len(levels) == 2 else levels


def _require_levels(column: npt.NDArray[np.object_], name: str, levels: tuple[str, ...]) -> None:
    """Require a text column without categories that are new."""
    unknown = set(column) - set(levels)
    if unknown:
        raise InputError(
            f"the categories seen in fit in column {name!r}",
            f"{sorted(unknown)[:3]}",
            "Merge rare categories before fit, or drop those rows.",
        )
