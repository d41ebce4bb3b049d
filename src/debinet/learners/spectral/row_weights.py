"""The weights that a ridge regression gives its rows in the prediction of new ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve

from debinet.protocols import FloatArray


def ridge_row_weights(
    kernel: FloatArray, between: Callable[[FloatArray], FloatArray], penalty: float, w: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """Return a function from new rows (r, p) to weights (r, n): predictions are `weights @ y`.

    With `S = K + penalty W^-1` they are `P k(z) + S^-1 1 / (1'S^-1 1)`, P the inverse of S with the
    unpenalized intercept projected out. The fit without a block of rows is the one to all rows
    whose targets there are replaced by what it predicts for them. Its predictions are therefore
    those of the fit to all rows, less the weights of the block times its held-out residuals.

    Parameters
    ----------
    kernel : FloatArray of shape (n, n)
        Between the rows.
    between : callable
        From new rows (r, p) to the kernel (r, n) between them and the rows.
    penalty : float
        Infinite if nothing but the mean is learned.
    w : FloatArray of shape (n,)
        Weights, all positive.
    """
    if not np.isfinite(penalty):
        return lambda Z: np.tile(w / w.sum(), (len(Z), 1))
    inner = kernel + np.diag(penalty / w)
    inverse = solve(inner, np.eye(len(w)), assume_a="sym", overwrite_a=True)
    ones = inverse.sum(axis=1)
    level = ones / ones.sum()
    projected = inverse - np.outer(ones, level)
    return lambda Z: np.asarray(between(Z) @ projected + level)
