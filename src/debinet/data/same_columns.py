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
    named = table.labels is not None
    try:
        validate_data(estimator, X, reset=False, skip_check_array=True)
    except ValueError as error:
        raise _other_columns(names, table.names if named else None, str(error)) from error
    if named and table.names != tuple(names):
        raise _other_columns(names, table.names)
    return table


def _other_columns(names: Sequence[str], came: Sequence[str] | None, said: str = "") -> InputError:
    """Return the error for other columns; it contains what scikit-learn says, if it saw them."""
    if came is None:
        return InputError(
            "the columns of fit, in the same order", said, "Select and order them as in fit."
        )
    missing = [name for name in names if name not in came]
    added = [name for name in came if name not in names]
    found = []
    if missing:
        found.append(f"a table without {_some(missing)}")
    if added:
        found.append(f"{'' if missing else 'a table '}with {_some(added)}, which fit did not have")
    remedy = "Pass X[list(model.feature_names_in_)], which selects and orders the columns of fit."
    if missing:
        remedy = f"Add what is missing, with the names of fit. {remedy}"
    return InputError(
        "the columns of fit, in the same order",
        " and ".join(found) or "the same columns in another order",
        f"{remedy}\n{said}" if said else remedy,
    )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(map(repr, names[:5])) + more
