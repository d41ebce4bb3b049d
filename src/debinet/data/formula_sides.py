"""The sides of a formula: which columns they use, and what they may have in common."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import pandas as pd

from debinet.data.formula_checks import names_in, summed_columns
from debinet.data.schema import unknown_column
from debinet.exceptions import FormulaError


def used_columns(frame: pd.DataFrame, sides: Iterable[Any]) -> list[str]:
    """Return the columns that the sides of a formula use, in the order of the data."""
    used = {name for side in sides for name in variables(side)}
    return [name for name in frame.columns if name in used]


def expressions(sides: Iterable[Any]) -> list[str]:
    """Return the Python expressions in the sides of a formula."""
    return [
        factor.expr
        for side in sides
        for term in side
        for factor in term.factors
        if factor.eval_method.value == "python"
    ]


def variables(side: Any) -> set[str]:
    """Return the names that a side of a formula uses.

    formulaic's own `required_variables` finds none in `bs(x, df=4)`, and `a` in a column "a.b".
    """
    found: set[str] = set()
    for term in side:
        for factor in term.factors:
            if factor.eval_method.value == "python":
                found |= names_in(factor.expr)
            elif factor.eval_method.value == "lookup":
                found.add(str(factor.expr))
    return found


def require_columns(sides: Iterable[Any], columns: Collection[str]) -> None:
    """Require that plain names are columns, and suggest the nearest ones."""
    for side in sides:
        for term in side:
            for factor in term.factors:
                if factor.eval_method.value == "lookup" and factor.expr not in columns:
                    raise unknown_column(
                        str(factor.expr), columns, "columns of the data in the formula"
                    )


def require_apart(outcome: Any, treatments: Any, controls: Any) -> None:
    """Require that no term is on two sides, where it would silently count on one only."""
    of_y, of_D, of_Z = (set(side) - {"1"} for side in (outcome, treatments, controls))
    both = sorted(map(str, of_D & of_Z))
    if both:
        raise on_both_sides(both)
    again = sorted(map(str, of_y & (of_D | of_Z)))
    if again:
        raise FormulaError(
            "the outcome left of '~' only",
            f"{again[0]!r} on the right, too",
            "Remove it there: it would explain itself.",
        )


def require_instruments_apart(
    formula: str,
    treatments: Iterable[str],
    columns: Iterable[str],
    endogenous: Iterable[str],
    instruments: Iterable[str],
) -> None:
    """Require endogenous columns that are treatments, and instruments that are nothing else.

    `columns` are those of the treatments and of the controls.
    """
    own, known, within, W = (list(part) for part in (treatments, columns, endogenous, instruments))
    both = [name for name in W if name in known]
    other = [name for name in within if name not in own]
    if not both and not other:
        return
    raise FormulaError(
        "instruments that are neither treatments nor controls"
        if both
        else "endogenous variables that are written as among the treatments",
        f"{(both or other)[0]!r} in {formula!r}, read as treatments {own}, controls "
        f"{[name for name in known if name not in own]}, endogenous {within} and instruments {W}",
        "Name every variable in one of these parts; endogenous ones may be among the treatments.",
    )


def on_both_sides(names: Sequence[str]) -> FormulaError:
    """Return the error for terms, or their columns, on both sides of the bar."""
    return FormulaError(
        "every term on one side of '|'",
        f"{', '.join(map(repr, names[:5]))} on both",
        "Leave it among the treatments if you want its coefficient, otherwise among the controls.",
    )


def with_exact_numbers(frame: pd.DataFrame, sides: Iterable[Any]) -> pd.DataFrame:
    """Return the data with floating-point numbers where a formula does arithmetic.

    Products and powers of whole numbers could overflow, and sums of booleans are not sums.
    """
    whole = [
        name
        for name in summed_columns(expressions(sides))
        if name in frame.columns and frame[name].dtype.kind in "biu"
    ]
    return frame.astype(dict.fromkeys(whole, "float64")) if whole else frame
