"""P-values adjusted for the number of hypotheses."""

from __future__ import annotations

from typing import Any

import numpy as np

from debinet.data.options import one_of
from debinet.protocols import FloatArray


def adjusted(method: Any, pvalues: FloatArray) -> FloatArray:
    """Adjust by the method of that name."""
    one_of("method", method, [*_METHODS, "romano-wolf"], "Use 'holm' if in doubt.")
    return _METHODS[method](pvalues)


def holm(pvalues: FloatArray) -> FloatArray:
    """Holm (1979): controls the family-wise error rate under any dependence."""
    m = pvalues.size
    order = np.argsort(pvalues, kind="stable")
    adjusted = np.empty(m)
    adjusted[order] = np.maximum.accumulate(pvalues[order] * np.arange(m, 0, -1))
    return np.minimum(adjusted, 1.0)


def benjamini_hochberg(pvalues: FloatArray) -> FloatArray:
    """Benjamini and Hochberg (1995): controls the false discovery rate."""
    m = pvalues.size
    order = np.argsort(pvalues, kind="stable")[::-1]
    adjusted = np.empty(m)
    adjusted[order] = np.minimum.accumulate(pvalues[order] * m / np.arange(m, 0, -1))
    return np.minimum(adjusted, 1.0)


_METHODS = {"holm": holm, "bh": benjamini_hochberg}
