"""The validated, centred and scaled linear regression that selectors and `DebiasedLasso` solve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from debinet.data.alignment import require_aligned
from debinet.data.checks import require_length, require_sound
from debinet.data.dataset import read_outcome
from debinet.data.outcome_columns import require_no_namesake
from debinet.data.tables import read_table, require_numbers
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class LinearProblem:
    """A centred regression, with what is needed to return to the user's scale.

    Attributes
    ----------
    X : FloatArray of shape (n, p)
        Centred columns, divided by `scale`; each is contiguous in memory.
    y : FloatArray of shape (n,)
        Centred outcome, in its own units.
    centre, scale : FloatArray of shape (p,)
        Means of the columns, and their standard deviations, or ones.
    mean : float
        Mean of the outcome.
    names : tuple of str
        Names of the p columns.
    outcome : str
        Name of y.
    """

    X: FloatArray
    y: FloatArray
    centre: FloatArray
    scale: FloatArray
    mean: float
    names: tuple[str, ...]
    outcome: str

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def p(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    def unscale(self, coefs: FloatArray) -> FloatArray:
        """Return coefficients (..., p) on the scale of the user's columns."""
        # + 0.0 turns -0.0 into 0.0
        return np.asarray(coefs / self.scale + 0.0)

    def intercept(self, coefs: FloatArray) -> FloatArray:
        """Return the intercepts (...) that belong to coefficients (..., p) of the user's scale."""
        return np.asarray(self.mean - coefs @ self.centre)

    def residual(self, coef: FloatArray) -> FloatArray:
        """Return `y - X coef` for coefficients (p,) on this scale, most of them zero."""
        used = np.flatnonzero(coef)
        return np.asarray(self.y - self.X[:, used] @ coef[used])


def read_problem(X: Any, y: Any, standardize: bool = True) -> LinearProblem:
    """Validate and centre the data; `standardize` divides columns by their standard deviations."""
    table = read_table(X)
    require_numbers(table)
    outcome, name = read_outcome(y)
    require_length(outcome.size, table.n, "y")
    require_aligned(X=X, y=y)
    require_no_namesake(name, table, outcome)
    require_sound(table.values, table.names, outcome)
    # one copy, always in the same memory order: sums round differently in another
    centred = np.array(table.values, order="F")
    centre, mean = centred.mean(axis=0), float(outcome.mean())
    centred -= centre
    scale = centred.std(axis=0) if standardize else np.ones(centre.size)
    centred /= scale
    return LinearProblem(centred, outcome - mean, centre, scale, mean, table.names, name or "y")
