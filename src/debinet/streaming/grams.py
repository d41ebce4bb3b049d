"""Pass 1: Gram matrices of the features and the targets, one per fold.

A row is `r = sqrt(weight) (phi(z), 1, y, d)`: hidden units and linear columns, the intercept, and
the standardized targets. All that cross-fitted ridge regression needs is `sum r r'` of every fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from debinet.learners.inputs import Moments
from debinet.learners.tangent.features import NetworkFeatures
from debinet.protocols import FloatArray
from debinet.streaming.layout import RowBlock

# Rows whose features are worked on at a time: they stay in the cache.
CHUNK = 1024


@dataclass(frozen=True)
class RowMap:
    """From rows of data to augmented rows r of length s.

    Attributes
    ----------
    units : NetworkFeatures
        The features, of `units.count` columns, as a network sees rows.
    targets : Moments
        Of y and D, 1 + q columns.
    """

    units: NetworkFeatures
    targets: Moments

    @property
    def features(self) -> int:
        """Number of features, without the intercept."""
        return self.units.count

    @property
    def size(self) -> int:
        """Length s of a row: features, intercept, targets."""
        return self.features + 1 + self.targets.mean.size

    def __call__(self, block: RowBlock) -> FloatArray:
        """Return the augmented rows (n, s) of a block."""
        m = self.features
        rows = np.empty((len(block.Z), self.size))
        rows[:, :m] = self.units(block.Z)
        rows[:, m] = 1.0
        rows[:, m + 1 :] = self.targets.standardize(block.M)
        if (block.weight != 1.0).any():
            rows *= np.sqrt(block.weight)[:, None]
        return rows


@dataclass(frozen=True)
class FoldGrams:
    """Gram matrices.

    Attributes
    ----------
    n : int
        Rows of positive weight.
    G : FloatArray of shape (folds, s, s)
    """

    n: int
    G: FloatArray

    def __add__(self, other: FoldGrams) -> FoldGrams:
        """Add up."""
        return FoldGrams(self.n + other.n, self.G + other.G)


def fold_grams(block: RowBlock, row_map: RowMap, folds: int) -> FoldGrams:
    """Return the Gram matrices of a block of rows."""
    G = np.zeros((folds, row_map.size, row_map.size))
    for k, part in fold_chunks(block, folds):
        rows = row_map(part)
        # `A.T @ A` goes through syrk, which is half the work and exactly symmetric
        G[k] += rows.T @ rows
    return FoldGrams(len(block.Z), G)


def fold_chunks(block: RowBlock, folds: int) -> Iterator[tuple[int, RowBlock]]:
    """Yield the rows of each fold, a few at a time."""
    ordered = block.of(np.argsort(block.fold, kind="stable"))
    ends = np.searchsorted(ordered.fold, np.arange(folds + 1))
    for k in range(folds):
        for start in range(ends[k], ends[k + 1], CHUNK):
            yield k, ordered.of(slice(start, min(start + CHUNK, ends[k + 1])))
