"""From a user's X and y to standardized columns and their Gram matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from debinet.data.checks import require_sound
from debinet.data.dataset import read_outcome
from debinet.data.labels import require_length
from debinet.data.tables import read_table, require_numbers
from debinet.desparsified.memory import require_memory
from debinet.exceptions import CollinearError
from debinet.protocols import FloatArray

# Two columns whose correlation is this close to 1 in size are one column in two units.
SAME = 1 - 1e-10


@dataclass(frozen=True)
class Design:
    """Validated data, centred and with columns of unit variance.

    Attributes
    ----------
    X : FloatArray of shape (p, n)
        The standardized columns, as rows: one column is contiguous in memory.
    y : FloatArray of shape (n,)
        The outcome, centred, in its own units.
    mean : FloatArray of shape (p,)
        Means of the user's columns.
    scale : FloatArray of shape (p,)
        Their standard deviations.
    level : float
        Mean of the user's outcome.
    names : tuple of str
        Names of the p columns.
    outcome : str
        Name of y.
    """

    X: FloatArray
    y: FloatArray
    mean: FloatArray
    scale: FloatArray
    level: float
    names: tuple[str, ...]
    outcome: str

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[1])

    @property
    def p(self) -> int:
        """Number of columns."""
        return int(self.X.shape[0])

    @property
    def target(self) -> FloatArray:
        """`X'y / n`, of shape (p,)."""
        return np.asarray(self.X @ self.y) / self.n

    def residual(self, coef: FloatArray) -> FloatArray:
        """`y - X coef` for coefficients of the standardized columns, most of them zero."""
        support = np.flatnonzero(coef)
        return np.asarray(self.y - coef[support] @ self.X[support])


def read_design(X: Any, y: Any) -> Design:
    """Validate once at the door; raise a typed error or return a sound record."""
    table = read_table(X)
    outcome, name = read_outcome(y)
    require_length(outcome.size, table.n, "y")
    require_numbers(table)
    columns = table.values
    require_memory(*columns.shape)
    require_sound(columns, table.names, outcome)
    # One copy, with the columns as rows, is all that is made of the data.
    standardized = np.array(columns.T, order="C")
    mean = standardized.mean(axis=1)
    standardized -= mean[:, None]
    scale = np.sqrt(np.einsum("ij,ij->i", standardized, standardized) / table.n)
    standardized /= scale[:, None]
    level = float(outcome.mean())
    return Design(
        standardized, outcome - level, mean, scale, level, table.names, name if name else "y"
    )


def gram_matrix(design: Design) -> FloatArray:
    """Return `X'X / n`, the correlations of the columns, of shape (p, p)."""
    from debinet.desparsified.kernels import largest_correlation

    gram: FloatArray = design.X @ design.X.T
    gram /= design.n
    first, second, found = largest_correlation(gram)
    if found > SAME:
        raise CollinearError(
            "columns that differ in more than their units",
            f"{design.names[first]!r} and {design.names[second]!r} with correlation "
            f"{np.sign(gram[first, second]):+g}",
            "Drop one of them.",
        )
    return gram
