"""Rows and targets of the theory: finite numbers, rows of unit length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from debinet.data.free_memory import require_free
from debinet.data.tables import Table, read_table, read_vector
from debinet.exceptions import ColumnTypeError, InputError, LengthError
from debinet.protocols import FloatArray

# Rows that were normalized in single precision count as of unit length.
_UNIT = 1e-6


@dataclass(frozen=True)
class Targets:
    """The outputs that a network is trained on.

    Attributes
    ----------
    values : FloatArray of shape (n, outputs)
    names : tuple of str
        One per output; `output 0, output 1, ...` when the data had none.
    """

    values: FloatArray
    names: tuple[str, ...]


def read_rows(Z: Any) -> FloatArray:
    """Return the (n, p) rows of Z, which must be finite numbers."""
    return _numbers(read_table(Z), "Z")


def read_targets(M: Any, n: int) -> Targets:
    """Return M as (n, outputs), a vector being one output."""
    if _is_vector(M):
        vector, name = read_vector(M, "M")
        targets = Targets(vector[:, None], (name or "output 0",))
    else:
        table = read_table(M)
        values = _numbers(table, "M")
        counted = tuple(f"output {s}" for s in range(values.shape[1]))
        targets = Targets(values, counted if table.labels is None else table.names)
    if len(targets.values) != n:
        raise LengthError(
            f"M to have one row for each of the {n} rows of Z",
            f"{len(targets.values)} rows",
            "Take Z and M from the same rows of the data.",
        )
    return targets


def normalize_rows(Z: Any) -> FloatArray:
    """Return the rows of Z divided by their Euclidean lengths.

    Parameters
    ----------
    Z : array or data frame of shape (n, p)
        Finite numbers; no row may be all zeros.

    Returns
    -------
    FloatArray of shape (n, p)

    Examples
    --------
    >>> normalize_rows([[3.0, 4.0], [0.0, -2.0]])
    array([[ 0.6,  0.8],
           [ 0. , -1. ]])
    """
    rows = read_rows(Z)
    # relative to the largest entry, so that squares neither overflow nor underflow
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if not largest.all():
        raise InputError(
            "rows that have a direction",
            f"only zeros in row {int(np.argmin(largest))}",
            "Drop that row, or add a column of ones before normalizing.",
        )
    scaled = rows / largest
    unit: FloatArray = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return unit


def require_unit_rows(Z: FloatArray) -> None:
    """Require rows of length 1, as Theorem 1 does."""
    away = np.abs(np.linalg.norm(Z, axis=1) - 1.0)
    worst = int(np.argmax(away))
    if not away[worst] <= _UNIT:
        raise InputError(
            "rows of unit length",
            f"length {np.linalg.norm(Z[worst]):.6g} in row {worst}",
            "Pass normalize_rows(Z) in place of Z.",
        )


def require_memory(floats: int, what: str, remedy: str) -> None:
    """Require memory for so many numbers in double precision."""
    require_free(8 * floats, f"for {what}", remedy)


def _is_vector(M: Any) -> bool:
    try:
        return np.ndim(M) == 1
    except ValueError:  # rows of different lengths, which read_table refuses
        return False


def _numbers(table: Table, role: str) -> FloatArray:
    if table.text:
        name = table.names[next(iter(table.text))]
        raise ColumnTypeError(
            f"{role} to have columns of numbers only",
            f"text in {name!r}",
            "Code its categories as 0-1 columns first, for example with pandas.get_dummies.",
        )
    return np.ascontiguousarray(table.values)
