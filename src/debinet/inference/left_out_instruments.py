"""Fitted treatments of a first stage that leaves out the row itself: jackknife instruments.

Angrist, Imbens and Krueger (1999), Jackknife instrumental variables estimation, Journal of Applied
Econometrics 14: with many instruments the fitted treatment of two-stage least squares contains the
row's own noise, which biases the estimate towards least squares. A fit to the other rows does not.
"""

from __future__ import annotations

import numpy as np

from debinet.exceptions import CollinearError
from debinet.protocols import BoolArray, FloatArray

# A row that alone determines a coefficient of the first stage cannot be left out.
_LEVERAGE_LIMIT = 1 - 1e-10


def left_out_fit(
    D: FloatArray, W: FloatArray, endogenous: BoolArray, weights: FloatArray
) -> FloatArray:
    """Return what the other rows predict of the endogenous treatments, (n, endogenous).

    Parameters
    ----------
    D : FloatArray of shape (n, q)
        Residuals of the treatments; the exogenous ones are regressors of the first stage, too.
    W : FloatArray of shape (n, k)
        Residuals of the instruments.
    endogenous : BoolArray of shape (q,)
    weights : FloatArray of shape (n,)
        Positive.
    """
    root = np.sqrt(weights)[:, None]
    Q = np.linalg.qr(root * np.hstack([D[:, ~endogenous], W]))[0]
    X = root * D[:, endogenous]
    share = (Q**2).sum(axis=1)[:, None]
    if share.max() > _LEVERAGE_LIMIT:
        raise CollinearError(
            "a first stage in which no row alone determines a coefficient, for method='jive'",
            f"row {int(share.argmax())}, which does",
            "Drop that row or instrument, or use method='liml'.",
        )
    return np.asarray((Q @ (Q.T @ X) - share * X) / (1 - share) / root)
