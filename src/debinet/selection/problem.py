"""What every selector works on: a centred, scaled, validated linear regression problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from debinet.data.checks import require_sound
from debinet.data.dataset import read_outcome
from debinet.data.labels import require_length
from debinet.data.tables import read_table, require_numbers
from debinet.exceptions import TooFewRowsError
from debinet.protocols import FloatArray

LEAST_ROWS = 3


@dataclass(frozen=True)
class Problem:
    """Rows and columns to choose from, with all that leads back to the user's scale.

    Attributes
    ----------
    X : FloatArray of shape (n, p)
        Centred columns, divided by `scale`; in column order, which coordinate descent wants.
    y : FloatArray of shape (n,)
        Centred outcome.
    centre, scale : FloatArray of shape (p,)
        Means of the columns, and their standard deviations, or ones.
    mean : float
        Mean of the outcome.
    names : tuple of str
        Names of the p columns.
    """

    X: FloatArray
    y: FloatArray
    centre: FloatArray
    scale: FloatArray
    mean: float
    names: tuple[str, ...]

    def unscale(self, coefs: FloatArray) -> FloatArray:
        """Return coefficients (..., p) on the scale of the user's columns."""
        # + 0.0 turns -0.0 into 0.0
        return np.asarray(coefs / self.scale + 0.0)

    def intercept(self, coefs: FloatArray) -> FloatArray:
        """Return the intercepts (...) that belong to coefficients (..., p) of the user's scale."""
        return np.asarray(self.mean - coefs @ self.centre)


def read_problem(X: Any, y: Any, standardize: bool) -> Problem:
    """Validate the data and centre them; `standardize` divides columns by their deviation."""
    table = read_table(X)
    require_numbers(table)
    outcome, _ = read_outcome(y)
    require_length(outcome.size, table.n, "y")
    if table.n < LEAST_ROWS:
        rows = "1 sample" if table.n == 1 else f"{table.n} rows"
        raise TooFewRowsError(
            f"at least {LEAST_ROWS} rows", f"{rows} (n_samples = {table.n})", "Pass more rows."
        )
    require_sound(table.values, table.names, outcome)
    # in one order of memory, whatever came: sums round differently in another
    values = np.asfortranarray(table.values)
    centre, mean = values.mean(axis=0), float(outcome.mean())
    centred = values - centre
    scale = centred.std(axis=0) if standardize else np.ones(centre.size)
    centred /= scale
    return Problem(centred, outcome - mean, centre, scale, mean, table.names)
