"""Groups of rows with neighbouring values."""

from __future__ import annotations

import numpy as np

from debinet.protocols import FloatArray, IntArray


def value_groups(column: FloatArray, count: int) -> IntArray:
    """Return the group (n,) of every value, of at most `count`: equal values are in one group."""
    edges = np.unique(np.quantile(column, np.arange(1, count) / count))
    code = np.searchsorted(edges, column, side="right")
    return np.asarray(np.unique(code, return_inverse=True)[1], np.int64)
