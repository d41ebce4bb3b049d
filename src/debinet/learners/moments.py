"""Means and standard deviations of columns, by which learners standardize."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.protocols import FloatArray

# A spread below this share of a column's size is the rounding of a constant.
_ROUNDING = 10 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Moments:
    """Weighted mean and standard deviation of columns.

    Attributes
    ----------
    mean, sd : FloatArray of shape (p,)
        Where the column is constant, `sd` is 1 and `mean` its first value, so that it
        standardizes to exact zeros.
    """

    mean: FloatArray
    sd: FloatArray

    def standardize(self, X: FloatArray) -> FloatArray:
        """Return `(X - mean) / sd`."""
        return (X - self.mean) / self.sd


def column_moments(X: FloatArray, weight: FloatArray) -> Moments:
    """Return the moments of the columns of `X` under row weights."""
    share = weight / weight.sum()
    size = np.abs(X).max(axis=0)
    mean = share @ X
    # in units of the largest entry, so that the squares of tiny numbers do not vanish
    unit = np.where(size > 0, size, 1.0)
    sd = unit * np.sqrt(share @ ((X - mean) / unit) ** 2)
    constant = sd <= _ROUNDING * size
    return Moments(np.where(constant, X[0], mean), np.where(constant, 1.0, sd))
