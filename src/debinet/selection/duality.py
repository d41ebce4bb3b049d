"""Duality gaps of penalized least squares."""

from __future__ import annotations

import numpy as np

from debinet.protocols import FloatArray
from debinet.selection.regularizer import Norm


def duality_gap(
    residual: float, aligned: float, penalized: float, dual_norm: float, penalty: float
) -> float:
    """Return primal minus dual objective at t, an upper bound on the remaining improvement.

    The dual of `|y - X t|^2 / (2 n) + penalty P(t)` is to maximize `y'u - n |u|^2 / 2` over u with
    `P*(X'u) <= penalty`. The residual `r = y - X t` over n, shrunk until it is feasible, is the u
    used here.

    Parameters
    ----------
    residual, aligned : float
        `|r|^2 / n` and `y'r / n`.
    penalized : float
        `penalty P(t)`.
    dual_norm : float
        `P*(X'r / n)`.
    penalty : float
    """
    primal = residual / 2 + penalized
    if residual <= 0:
        return primal
    largest = penalty / dual_norm if dual_norm > 0 else np.inf
    shrink = float(np.clip(aligned / residual, -largest, largest))
    dual = shrink * aligned - shrink**2 * residual / 2
    return max(primal - dual, 0.0)


def gradient_and_gap(
    X: FloatArray,
    y: FloatArray,
    coef: FloatArray,
    norm: Norm,
    *,
    penalty: float,
    ridge: float = 0.0,
) -> tuple[FloatArray, float]:
    """Return `X'r / n - ridge coef` (p,) and the duality gap of `penalty P + ridge |.|^2 / 2`.

    The squares count as p more rows of the data, whose residuals are `-sqrt(n ridge) coef`.
    """
    n = y.size
    used = np.flatnonzero(coef)
    r = y - X[:, used] @ coef[used]
    z = np.asarray(X.T @ r) / n - ridge * coef
    residual = float(r @ r) / n + ridge * float(coef @ coef)
    penalized = penalty * norm.value(coef)
    return z, duality_gap(residual, float(y @ r) / n, penalized, norm.dual(z), penalty)
