"""Natural cubic splines by their values at the knots."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

from debinet.protocols import FloatArray


def natural_spline(x: FloatArray, knots: FloatArray) -> FloatArray:
    """Return the cardinal functions of natural cubic splines, of shape (n, k).

    Function j is 1 at knot j and 0 at all others, so coefficients are values at the knots, and the
    functions sum to 1. Beyond the outer knots they are straight lines. With two knots all are.

    Parameters
    ----------
    x : FloatArray of shape (n,)
    knots : FloatArray of shape (k,)
        Increasing, at least two.
    """
    values = np.eye(knots.size)
    if knots.size == 2:
        share = (x - knots[0]) / (knots[1] - knots[0])
        return np.column_stack([1.0 - share, share])
    curves = CubicSpline(knots, values, bc_type="natural")
    inside = np.clip(x, knots[0], knots[-1])
    return np.asarray(curves(inside) + (x - inside)[:, None] * curves(inside, 1))
