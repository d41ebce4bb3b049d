"""Duality gaps of penalized least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Moments:
    """Inner products of outcome and residual, each divided by n.

    Attributes
    ----------
    residual : float
        `|r|^2 / n` with `r = y - X t`.
    aligned : float
        `y'r / n`.
    """

    residual: float
    aligned: float


def duality_gap(moments: Moments, penalized: float, dual_norm: float, penalty: float) -> float:
    """Return primal minus dual objective at t, an upper bound of what is left to gain.

    The dual of `|y - X t|^2 / (2 n) + penalty P(t)` is to maximize `y'u - n |u|^2 / 2` over u with
    `P*(X'u) <= penalty`. The residual over n, shrunk until it is feasible, is the u used here.

    Parameters
    ----------
    moments : Moments
    penalized : float
        `penalty P(t)`.
    dual_norm : float
        `P*(X'r / n)`.
    penalty : float
    """
    primal = moments.residual / 2 + penalized
    if moments.residual <= 0:
        return primal
    largest = penalty / dual_norm if dual_norm > 0 else np.inf
    shrink = float(np.clip(moments.aligned / moments.residual, -largest, largest))
    dual = shrink * moments.aligned - shrink**2 * moments.residual / 2
    return max(primal - dual, 0.0)
