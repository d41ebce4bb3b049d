"""Which columns of a formula's controls belong to a variable."""

from __future__ import annotations

from debinet.data.formula import INTERCEPT, FormulaDesign
from debinet.data.schema import unknown_column


def control_terms(design: FormulaDesign, name: str) -> tuple[str, ...]:
    """Return the columns that a variable of the controls is part of, or the column of that name."""
    spec = design.specs[1]
    if name in spec.variable_indices:
        return tuple(spec.column_names[k] for k in spec.variable_indices[name])
    columns = [column for column in spec.column_names if column != INTERCEPT]
    if name in columns:
        return (name,)
    known = [*map(str, spec.variables_by_source.get("data", ())), *columns]
    raise unknown_column(name, known, "controls that are variables of the formula")
