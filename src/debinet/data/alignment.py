"""Indexes of pandas objects: rows are matched by position, so their labels must not disagree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from debinet.exceptions import AlignmentError


def require_aligned(**parts: Any) -> None:
    """Require that all pandas objects among the inputs, given by role, have the same index.

    Inputs of another length are left to the check of lengths.
    """
    indexed = [
        (role, part.index)
        for role, value in parts.items()
        for part in _members(value)
        if isinstance(part, (pd.DataFrame, pd.Series))
    ]
    for role, index in indexed[1:]:
        first_role, first = indexed[0]
        if len(index) == len(first) and not index.equals(first):
            raise _disagreement(first_role, first, role, index)


def _members(value: Any) -> Iterator[Any]:
    """Yield the input, or the two vectors that two-way groups may be given as."""
    if isinstance(value, (list, tuple)):
        yield from value[:2]
    else:
        yield value


def _disagreement(first_role: str, first: pd.Index, role: str, index: pd.Index) -> AlignmentError:
    row = next(i for i, (a, b) in enumerate(zip(first, index, strict=True)) if not _same(a, b))
    labels = f"row {row} is {first[row]} in {first_role} and {index[row]} in {role}"
    if _reordered(first, index):
        came = f"the same labels in another order ({labels})"
        remedy = (
            f"Put {role} in the order of {first_role}, with {role}.loc[{first_role}.index]; if the "
            "rows already correspond, call reset_index(drop=True) on both."
        )
    else:
        came = f"different labels ({labels})"
        remedy = (
            "If the rows correspond, call reset_index(drop=True) on both; otherwise select the "
            f"same rows, for example {role}.loc[{first_role}.index]."
        )
    return AlignmentError(f"{first_role} and {role} to have the same index", came, remedy)


def _same(a: Any, b: Any) -> bool:
    return a is b or bool(a == b)


def _reordered(first: pd.Index, index: pd.Index) -> bool:
    return first.is_unique and index.is_unique and bool(index.isin(first).all())
