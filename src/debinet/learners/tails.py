"""Columns whose far values were moved nearer, for choices that a few rows should not make."""

from __future__ import annotations

import numpy as np

from debinet.protocols import FloatArray

# Standard deviations shrink as tails are cut, so cutting is repeated.
_TIMES = 5


def cut_tails(X: FloatArray, far: float) -> FloatArray:
    """Return columns (n, m) of which no value is more than `far` standard deviations out.

    Columns without such values are returned as they are, and binary ones stay binary.
    """
    for _ in range(_TIMES):
        mean, reach = X.mean(axis=0), far * X.std(axis=0)
        cut = np.clip(X, mean - reach, mean + reach)
        if np.array_equal(cut, X):
            break
        X = cut
    return X
