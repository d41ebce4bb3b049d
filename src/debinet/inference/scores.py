"""Scores: three ways from held-out residuals to coefficients.

All are linear, `psi = psi_b - psi_a coef` with `psi_a = w R_D R_D'` and `psi_b = w R_D R_y`, and
differ in what is averaged. The `structured` method makes its residuals first
(`debinet.models.structured`) and then solves as `robinson` does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from debinet.exceptions import FoldError
from debinet.inference.regression import ResidualRegression, regress
from debinet.protocols import FloatArray, IntArray

# The structured method goes from coefficients to g and back: twice.
ROUNDS = 2


def pooled(
    R_y: FloatArray, R_D: FloatArray, weights: FloatArray | None = None
) -> ResidualRegression:
    """Solve over all rows at once: `robinson` (the paper's Algorithms 1 and 2) and `dml2`."""
    return ResidualRegression(R_y, R_D, regress(R_y, R_D, weights), weights)


def fold_averaged(
    R_y: FloatArray,
    R_D: FloatArray,
    blocks: Sequence[IntArray],
    weights: FloatArray | None = None,
) -> ResidualRegression:
    """Solve within each fold and average the coefficients: `dml1`, the paper's Algorithm 4."""
    q = R_D.shape[1]
    smallest = min(block.size for block in blocks)
    if smallest <= q:
        raise FoldError(
            f"folds of more than {q} rows, as method='dml1' solves for {q} coefficient(s) in each",
            f"a fold of {smallest} row(s)",
            "Use fewer folds, or method='dml2'.",
        )
    coefs = [
        regress(R_y[block], R_D[block], None if weights is None else weights[block])
        for block in blocks
    ]
    return ResidualRegression(R_y, R_D, np.mean(coefs, axis=0), weights)
