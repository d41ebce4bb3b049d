"""Inner products of columns, each computed once."""

from __future__ import annotations

import numpy as np

from debinet.protocols import FloatArray, IntArray


class GramCache:
    """Inner products, over n, of those columns that were ever asked for.

    Parameters
    ----------
    X : FloatArray of shape (n, p)
    """

    def __init__(self, X: FloatArray) -> None:
        self._X = X
        self._place = np.full(X.shape[1], -1)
        self._known = np.empty(0, dtype=np.int64)
        self._products = np.empty((0, 0))

    def block(self, columns: IntArray) -> FloatArray:
        """Return the inner products (k, k) among k columns."""
        missing = columns[self._place[columns] < 0]
        if missing.size:
            self._add(missing)
        places = self._place[columns]
        return np.asarray(self._products[np.ix_(places, places)])

    def _add(self, missing: IntArray) -> None:
        old = self._known.size
        known = np.concatenate([self._known, missing])
        if known.size > self._products.shape[0]:
            room = min(2 * known.size, self._place.size)
            grown = np.empty((room, room))
            grown[:old, :old] = self._products[:old, :old]
            self._products = grown
        cross = self._X[:, known].T @ self._X[:, missing] / self._X.shape[0]
        self._products[: known.size, old : known.size] = cross
        self._products[old : known.size, :old] = cross[:old].T
        self._place[missing] = np.arange(old, known.size)
        self._known = known
