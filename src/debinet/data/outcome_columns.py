"""The outcome among the columns of X: under its name, in other units, as a function of itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from debinet.exceptions import OutcomeColumnError
from debinet.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from debinet.data.tables import Table

# A column is a linear function of the outcome when it stays this close to a line, relative to its
# range: also when one of the two was stored in single precision.
SAME_LINE = 1e-6

# With fewer rows no column is taken for the outcome by its values: two columns of two values each
# may then be linear functions of each other by chance, and scikit-learn's check_estimator fits
# y = X[:, 0] to ten rows.
OUTCOME_ROWS = 30

# Two variables of the same name are the same one when their ranks are correlated as closely.
SAME_RANKS = 0.95
# Columns that these rows exclude need not be looked at in the others.
_FIRST_ROWS = 32


def require_not_outcome(columns: FloatArray, names: Sequence[str], outcome: FloatArray) -> None:
    """Require that no column is the outcome, in its own or in other units."""
    found = _linear_in(outcome, columns) if outcome.size >= OUTCOME_ROWS else np.zeros(0, int)
    if found.size:
        j = int(found[0])
        equal = np.array_equal(columns[:, j], outcome)
        how = "equal to y" if equal else "a linear function of y (correlation 1 or -1)"
        raise OutcomeColumnError(
            "columns of X other than the outcome",
            f"{names[j]!r}, which is {how} in every row",
            "Drop it from X: the outcome can be neither a treatment nor a control of itself.",
        )


def find_namesake(outcome: str | None, table: Table) -> int | None:
    """Return the column of X that has the name of the outcome, if both have names."""
    if outcome is None or table.labels is None or outcome not in table.labels:
        return None
    return table.labels.index(outcome)


def require_no_namesake(name: str | None, table: Table, outcome: FloatArray) -> None:
    """Require that no column of X is the outcome by its name and, nearly, its values.

    Others may have its name by chance: pandas gives `X["d"] + noise` the name of d.
    """
    j = find_namesake(name, table)
    if j is None or j in table.text or not _is_close(table.values[:, j], outcome):
        return
    raise OutcomeColumnError(
        "an outcome that is not a column of X",
        f"y with the name {name!r}, which is a column of X with nearly the same order of rows",
        "Drop the column from X (a function of y, such as its logarithm, keeps the name), or "
        "rename y if it is another variable.",
    )


def _is_close(column: FloatArray, outcome: FloatArray) -> bool:
    """Return whether one is a monotone function of the other, or their ranks agree closely."""
    if np.ptp(column) == 0 or np.ptp(outcome) == 0:
        return False  # refused elsewhere
    for sign in (1, -1):
        order = np.lexsort((sign * outcome, column))
        if (np.diff(sign * outcome[order]) >= 0).all():
            return True
    return bool(abs(np.corrcoef(rankdata(column), rankdata(outcome))[0, 1]) >= SAME_RANKS)


def columns_in_order(table: Table, outcome: FloatArray) -> list[int]:
    """Return columns of numbers that rise, or fall, where y rises, and only there."""
    numbers = np.array([j for j in range(len(table.names)) if j not in table.text], dtype=np.int64)
    if outcome.size < OUTCOME_ROWS:
        return []
    for rows in (slice(_FIRST_ROWS), slice(None)):
        order = np.argsort(outcome[rows])
        if not numbers.size:
            break
        rise = np.diff(outcome[rows][order]) > 0
        steps = np.diff(table.values[rows][:, numbers][order], axis=0)
        signs = np.sign(steps) * rise[:, None]
        together = ((steps != 0) == rise[:, None]).all(axis=0)
        numbers = numbers[together & ((signs >= 0).all(axis=0) | (signs <= 0).all(axis=0))]
    return [int(j) for j in numbers]


def _linear_in(outcome: FloatArray, columns: FloatArray) -> IntArray:
    """Return the positions of the columns that are linear functions of the outcome.

    The line through the outcome's least and largest value must meet a few rows, and then all.
    """
    low, high = int(outcome.argmin()), int(outcome.argmax())
    share = (outcome - outcome[low]) / (outcome[high] - outcome[low])
    found = np.arange(columns.shape[1])
    for rows in (slice(_FIRST_ROWS), slice(None)):
        start, end = columns[low, found], columns[high, found]
        line = start + share[rows, None] * (end - start)
        close = np.abs(columns[rows][:, found] - line) <= SAME_LINE * np.abs(end - start)
        found = found[close.all(axis=0) & (start != end)]
    return found
