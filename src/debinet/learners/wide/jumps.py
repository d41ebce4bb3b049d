"""Jumps: thresholds of single features at which the targets change at once.

A smooth network learns a jump slowly, however many rows there are: it is wrong next to it, for the
outcome and the treatments alike. A threshold becomes one more input of the network, 1 above it and
0 elsewhere, so that the network can also learn what depends on the side a row is on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from debinet.protocols import BoolArray, FloatArray, IntArray

# Shares of the rows in the windows on both sides of a threshold, and rows in one at least.
_WINDOWS, _FEWEST = (0.01, 0.025, 0.06, 0.12), 15
# Features with fewer different values need no thresholds: the network tells their values apart.
_FEWEST_VALUES = 20
# Features with at most so many values set parts of the rows apart, of at least this share of them,
# in so many ways at most.
_MOST_SIDES, _SMALLEST_PART, _MOST_SPLITS = 12, 0.1, 8
# A candidate has at most this p-value, times the number of windows next to each other. The
# likelihood decides: it keeps one in about 3 of 100 data sets without a jump.
_CANDIDATE = 0.2
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Jumps:
    """Indicators of k thresholds.

    Attributes
    ----------
    features : IntArray of shape (k,)
        Which feature each threshold belongs to.
    thresholds : FloatArray of shape (k,)
        In its own units: a row is above if its value is larger.
    share : FloatArray of shape (k,)
        Of the rows that are above.
    """

    features: IntArray
    thresholds: FloatArray
    share: FloatArray

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.features)

    def above(self, Z: FloatArray) -> FloatArray:
        """Return 1 or 0 (n, k) for rows (n, p)."""
        return np.asarray(Z[:, self.features] > self.thresholds, dtype=np.float64)

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the standardized columns (n, k) of rows (n, p)."""
        spread = np.sqrt(self.share * (1 - self.share))
        return np.asarray((self.above(Z) - self.share) / np.where(spread > 0, spread, 1.0))


def add_jump(jumps: Jumps | None, feature: int, threshold: float, Z: FloatArray) -> Jumps:
    """Return the jumps with one more, of which rows (n, p) give the share."""
    share = float((Z[:, feature] > threshold).mean())
    if jumps is None:
        return Jumps(np.array([feature], np.int64), np.array([threshold]), np.array([share]))
    return Jumps(
        np.append(jumps.features, feature),
        np.append(jumps.thresholds, threshold),
        np.append(jumps.share, share),
    )


@dataclass(frozen=True)
class _Best:
    """The largest statistic so far, and where it was found."""

    statistic: float = 0.0
    where: tuple[int, float] | None = None


def find_jump(
    Z: FloatArray, residual: FloatArray, root_weight: FloatArray
) -> tuple[int, float] | None:
    """Return the feature and threshold at which the means of the residuals differ most.

    Among all rows, or among those that a feature with few values sets apart.

    Parameters
    ----------
    Z : FloatArray of shape (n, p)
    residual : FloatArray of shape (n, m)
        Weighted residuals of m targets, held out.
    root_weight : FloatArray of shape (n,)

    Returns
    -------
    tuple of int and float, or None
        By tests of the difference of two neighbouring windows, of all features, thresholds, widths
        and parts of the rows, robust to heteroskedasticity; None if all are likely by chance.
    """
    r = root_weight[:, None] * residual
    rough = [j for j, column in enumerate(Z.T) if np.unique(column).size >= _FEWEST_VALUES]
    orders = {j: np.argsort(Z[:, j], kind="stable") for j in rough}
    best, tests = _Best(), 0.0
    for part in _parts(Z):
        widths = sorted({max(_FEWEST, round(share * part.sum())) for share in _WINDOWS})
        tests += len(rough) * sum(part.sum() / width for width in widths)
        for j in rough:
            order = orders[j][part[orders[j]]]
            best = _largest_step(Z[order, j], r[order], widths, j, best)
    found = chi2.sf(best.statistic, residual.shape[1]) * tests < _CANDIDATE
    return best.where if found else None


def _parts(Z: FloatArray) -> list[BoolArray]:
    """Return all rows, and both sides of the most even values of features with few of them."""
    splits = []
    for column in Z.T:
        values = np.unique(column)
        if values.size <= _MOST_SIDES:
            splits += [column > value for value in values[:-1]]
    splits.sort(key=lambda above: abs(above.mean() - 0.5))
    sides = [side for above in splits[:_MOST_SPLITS] for side in (above, ~above)]
    every = np.ones(len(Z), dtype=np.bool_)
    return [every, *(side for side in sides if side.sum() >= _SMALLEST_PART * len(Z))]


def _largest_step(
    values: FloatArray, r: FloatArray, widths: list[int], feature: int, best: _Best
) -> _Best:
    """Compare neighbouring windows of rows in the order of a feature's values (n,)."""
    n = len(values)
    change = np.flatnonzero(values[1:] > values[:-1]) + 1
    sums, squares = (
        np.concatenate([np.zeros((1, r.shape[1])), np.cumsum(one, axis=0)]) for one in (r, r**2)
    )
    for width in widths:
        at = change[(change >= width) & (change <= n - width)]
        if not at.size:
            continue
        step = sums[at + width] - 2 * sums[at] + sums[at - width]
        spread = np.maximum(squares[at + width] - squares[at - width], _TINY)
        statistic = (step**2 / spread).sum(axis=1)
        k = int(statistic.argmax())
        if statistic[k] > best.statistic:
            where = (feature, float(values[at[k] - 1 : at[k] + 1].mean()))
            best = _Best(float(statistic[k]), where)
    return best
