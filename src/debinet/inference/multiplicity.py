"""P-values adjusted for the number of hypotheses."""

from __future__ import annotations

import numpy as np

from debinet.protocols import FloatArray


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
