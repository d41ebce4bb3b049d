"""Products of two features: interactions that a network which sees many features misses."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class Products:
    """Products of k pairs of standardized features, or squares of one.

    Attributes
    ----------
    pairs : IntArray of shape (k, 2)
    weight : float
        Variance of every product's coefficient, times k.
    """

    pairs: IntArray
    weight: float = 1.0

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.pairs)

    def weighted(self, weight: float) -> Products:
        """Return the same products with another weight."""
        return replace(self, weight=weight)

    def __contains__(self, pair: tuple[int, int]) -> bool:
        """Whether the product of a pair is among them."""
        return bool((self.pairs == pair).all(axis=1).any())

    def __call__(self, inputs: FloatArray) -> FloatArray:
        """Return the columns (n, k) of standardized rows (n, p)."""
        first, second = inputs[:, self.pairs[:, 0]], inputs[:, self.pairs[:, 1]]
        return np.asarray(np.sqrt(self.weight / self.width) * first * second)

    def variance(self, p: int) -> FloatArray:
        """Return the variance (p,) of the functions in which each feature takes part."""
        total = np.zeros(p)
        for pair in self.pairs:
            total[np.unique(pair)] += self.weight / self.width
        return total


def add_pair(products: Products | None, pair: tuple[int, int]) -> Products:
    """Return the products with one more."""
    before = np.empty((0, 2), dtype=np.int64) if products is None else products.pairs
    return Products(np.vstack([before, np.array([pair], dtype=np.int64)]))
