"""New rows for `predict`, which must have the columns of `fit`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import validate_data

from debinet.data.tables import Table, read_table
from debinet.exceptions import InputError


def read_same_columns(estimator: Any, X: Any, names: Sequence[str]) -> Table:
    """Read X, which must have the columns `names` that the estimator was fitted to, in order."""
    table = read_table(X)
    try:
        validate_data(estimator, X, reset=False, skip_check_array=True)
    except ValueError as error:
        raise _other_columns(str(error)) from error
    if table.labels is not None and table.names != tuple(names):
        raise _other_columns(f"{list(table.names)[:8]}")
    return table


def _other_columns(came: str) -> InputError:
    return InputError(
        "the columns of fit, in the same order", came, "Select and order the columns as in fit."
    )
