"""Categories of columns: their levels, and the level that others are compared with."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from debinet.data.number_text import require_no_number_text
from debinet.data.tables import Table
from debinet.exceptions import ColumnTypeError, ConstantColumnError, InputError, OptionError


def read_levels(table: Table, j: int) -> tuple[str, ...]:
    """Return the categories of a text column, in alphabetical order."""
    levels = tuple(sorted(set(table.text[j])))
    if j not in table.declared:
        require_no_number_text(levels, f"column {table.names[j]!r}")
    require_repeats(levels, table.n, table.names[j])
    return levels


def treatment_levels(table: Table, j: int, reference: str | None) -> tuple[str, ...]:
    """Return the categories of a treatment, the reference first.

    Without one, it is the first category: as declared, or else in the order of the alphabet, or of
    whole numbers.
    """
    name = table.names[j]
    if j not in table.text:
        found = set(read_categories(table, j, whole=True))
        levels = tuple(sorted(found, key=int))
        require_repeats(levels, table.n, name)
    else:
        levels = read_levels(table, j)
        declared = [level for level in table.declared.get(j, ()) if level in levels]
        levels = tuple(declared) or levels
    if len(levels) < 2:
        raise ConstantColumnError(
            "columns that vary", f"only one category in the treatment {name!r}", "Drop it."
        )
    first = levels[0] if reference is None else find_reference(reference, levels, name)
    return (first, *(level for level in levels if level != first))


def find_reference(reference: str, levels: Sequence[str], name: str) -> str:
    """Return the reference, which must be one of the categories."""
    if reference not in levels:
        shown = ", ".join(map(repr, levels[:8])) + (", ..." if len(levels) > 8 else "")
        raise OptionError(
            f"the reference of {name!r} to be one of its categories, {shown}",
            repr(reference),
            "Check its spelling.",
        )
    return reference


def read_categories(table: Table, j: int, whole: bool) -> npt.NDArray[np.object_]:
    """Return a column as text (n,); `whole` says that it holds whole numbers that are codes."""
    if not whole:
        if j not in table.text:
            raise ColumnTypeError(
                f"text in column {table.names[j]!r}, as in the data of fit",
                "numbers",
                "Convert the column as it was converted for fit.",
            )
        return table.text[j]
    values = table.values[:, j]
    broken = values[values != np.round(values)]
    if broken.size:
        raise ColumnTypeError(
            f"whole numbers, which can be categories, in {table.names[j]!r}",
            f"{broken[0]:g}",
            "Leave it out of ref, or convert it to text.",
        )
    return np.array([str(int(value)) for value in values], dtype=object)


def read_references(ref: Any, treatments: Sequence[str]) -> dict[str, str]:
    """Return the reference categories by treatment, as text.

    `ref` is a mapping, or a category if there is one treatment, or None.
    """
    if ref is None:
        return {}
    if not isinstance(ref, Mapping):
        if len(treatments) != 1 or np.ndim(ref) > 0:
            raise OptionError(
                "ref to be a mapping from treatments to their reference categories",
                repr(ref),
                "For example ref={'arm': 'control'}.",
            )
        ref = {treatments[0]: ref}
    unknown = [name for name in ref if name not in treatments]
    if unknown:
        raise OptionError(
            f"ref for treatments, {', '.join(map(repr, treatments[:8]))}",
            repr(unknown[0]),
            "Controls need no reference: each of their categories has a column.",
        )
    return {str(name): category_text(level) for name, level in ref.items()}


def category_text(level: Any) -> str:
    """Return a category as it is called: whole numbers and truth values as whole numbers."""
    if isinstance(level, (bool, np.bool_)):
        return str(int(level))
    if isinstance(level, (float, np.floating)) and level == np.round(level):
        return str(int(level))
    return str(level)


def require_repeats(levels: Collection[str], n: int, name: str) -> None:
    """Require that not every row has a category of its own."""
    if len(levels) == n > 2:
        raise InputError(
            f"categories that repeat in column {name!r}",
            f"a different text in each of the {n} rows",
            "It looks like an identifier: drop the column.",
        )
