"""What a model leaves of y, row by row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from debinet.inference.regression import Regression
from debinet.protocols import FloatArray


def outcome_residuals(regressions: Sequence[Regression], coef: FloatArray) -> FloatArray:
    """Return y less its prediction at `coef` (q,), averaged over repetitions, of shape (n,)."""
    left = []
    for regression in regressions:
        rows = regression.all_rows("the residuals")
        effects = rows.R_D if rows.regressors is None else rows.regressors
        left.append(rows.residuals + effects @ (rows.coef - coef))
    return np.asarray(np.mean(left, axis=0))
