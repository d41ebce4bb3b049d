"""Rows as the wide network sees them."""

from __future__ import annotations

import numpy as np

from debinet.learners.moments import Moments
from debinet.protocols import FloatArray


def encode(Z: FloatArray, moments: Moments) -> FloatArray:
    """Return the rows `(z / sqrt(p), 1)` of standardized features."""
    n, p = Z.shape
    encoded = np.empty((n, p + 1))
    np.divide(moments.standardize(Z), np.sqrt(p), out=encoded[:, :p])
    encoded[:, p] = 1.0
    return encoded
