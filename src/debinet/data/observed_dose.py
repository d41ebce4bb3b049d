"""A dose as it was in a fit: its columns and the values of all rows, which results keep, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from debinet.data.arrays import freeze_arrays
from debinet.data.dose import SUPPORTED
from debinet.data.dose_basis import DoseBasis
from debinet.protocols import FloatArray

# The share of the supported range that a grid goes beyond it, and its number of doses.
_BEYOND = 0.1
_POINTS = 101


@dataclass(frozen=True, eq=False)
class ObservedDose:
    """A dose of a fit.

    Attributes
    ----------
    basis : DoseBasis
        Its columns.
    values : FloatArray of shape (n,)
        The dose of every row.
    weights : FloatArray of shape (n,), optional
        Sample weights.
    """

    basis: DoseBasis
    values: FloatArray
    weights: FloatArray | None = None

    def __post_init__(self) -> None:
        freeze_arrays(self, values="n", weights="n")

    @property
    def shares(self) -> FloatArray:
        """The share of every row in the weight of all, of shape (n,)."""
        if self.weights is None:
            return np.full(self.values.size, 1 / self.values.size)
        return np.asarray(self.weights / self.weights.sum())

    @property
    def counted(self) -> FloatArray:
        """The doses of the rows that have weight."""
        return self.values if self.weights is None else self.values[self.weights > 0]

    @property
    def supported(self) -> tuple[float, float]:
        """The 1 % and the 99 % quantile."""
        low, high = self.quantiles(SUPPORTED)
        return float(low), float(high)

    def quantiles(self, levels: Sequence[float]) -> FloatArray:
        """Return quantiles that are doses of the data."""
        found = np.quantile(self.values, levels, weights=self.weights, method="inverted_cdf")
        return np.asarray(found, dtype=np.float64)

    def grid(self) -> FloatArray:
        """Return doses for a curve: those of the data, or evenly spaced ones if these are many.

        They go a tenth beyond the 1 % and the 99 % quantile, so that outliers do not take the place
        of the others.
        """
        low, high = self.supported
        beyond = _BEYOND * (high - low)
        doses = np.unique(self.counted)
        doses = doses[(doses >= low - beyond) & (doses <= high + beyond)]
        return doses if doses.size <= _POINTS else np.linspace(doses[0], doses[-1], _POINTS)
