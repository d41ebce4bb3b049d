"""Data frames as parts that files can hold: numbers, texts, and categories with their order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from debinet.exceptions import StorageError


def frame_parts(frame: pd.DataFrame) -> dict[str, Any]:
    """Return names, columns and, for categories, their levels."""
    columns: list[Any] = []
    levels: dict[str, Any] = {}
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            levels[name] = {
                "levels": _values(column.cat.categories, name),
                "ordered": bool(column.cat.ordered),
            }
            columns.append(column.cat.codes.to_numpy())
        else:
            columns.append(_values(column, name))
    return {"names": list(frame.columns), "columns": columns, "categories": levels}


def make_frame(parts: dict[str, Any]) -> pd.DataFrame:
    """Return the frame of `frame_parts`."""
    made: dict[str, Any] = {}
    for name, column in zip(parts["names"], parts["columns"], strict=True):
        if name in parts["categories"]:
            kind = parts["categories"][name]
            made[name] = pd.Categorical.from_codes(
                column, categories=kind["levels"], ordered=kind["ordered"]
            )
        else:
            made[name] = column
    return pd.DataFrame(made)


def _values(column: Any, name: str) -> Any:
    values = np.asarray(column)
    if values.dtype.kind in "biuf":
        return values
    if values.dtype.kind in "OU" and all(isinstance(value, str) for value in values):
        return values.astype(object)
    raise StorageError(
        "columns of numbers, texts or categories",
        f"column {name!r} of {column.dtype}",
        "Convert the column before the fit.",
    )
