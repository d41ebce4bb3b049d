"""Group labels of any type as integer codes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from debinet.data.checks import require_length
from debinet.exceptions import InputError, MissingValueError
from debinet.protocols import IntArray


def read_groups(groups: Any, n: int) -> IntArray:
    """Code one or two columns of group labels as integers from 0, of shape (n, ways)."""
    try:
        columns = _columns(groups)
    except (TypeError, ValueError):
        columns = []
    if not 1 <= len(columns) <= 2 or any(np.ndim(column) != 1 for column in columns):
        raise InputError(
            "groups to be one column of labels, or two for two-way clusters",
            f"{type(groups).__name__} of shape {_shape(groups)}",
            "Pass a vector, or a frame with two columns.",
        )
    return np.column_stack([_codes(column, n) for column in columns])


def _columns(groups: Any) -> list[Any]:
    if hasattr(groups, "columns") and hasattr(groups, "to_numpy"):  # pandas, polars
        return [groups[name].to_numpy() for name in groups.columns]
    if hasattr(groups, "column_names"):  # arrow
        return [groups[name].to_numpy() for name in groups.column_names]
    if isinstance(groups, (list, tuple)):
        nested = [np.ndim(label) == 1 and not isinstance(label, str) for label in groups]
        # As objects: numpy would turn a missing label among texts into the text "nan".
        return list(groups) if nested and all(nested) else [pd.Series(groups, dtype=object)]
    if isinstance(groups, np.ndarray) or np.iterable(groups):
        array = groups if isinstance(groups, np.ndarray) else np.asarray(groups)
        return list(array.T) if array.ndim == 2 else [array]
    return [np.asarray(groups)]


def _codes(column: Any, n: int) -> IntArray:
    require_length(len(column), n, "groups")
    if np.ma.isMaskedArray(column):
        column = np.ma.filled(column.astype(object), None)
    try:
        codes, levels = pd.factorize(np.asarray(column))
    except (TypeError, ValueError) as error:
        raise InputError(
            "group labels that are numbers or text", str(error), "Convert the labels to text."
        ) from error
    if (codes < 0).any():
        raise MissingValueError(
            "a group for every row", "missing groups (NaN or None)", "Drop those rows."
        )
    if len(levels) < 2:
        raise InputError(
            "at least two groups", "one group only", "Leave groups out if rows are independent."
        )
    return np.asarray(codes, dtype=np.int64)


def _shape(groups: Any) -> str:
    try:
        return str(np.shape(groups))
    except ValueError:
        return "that varies from row to row"
