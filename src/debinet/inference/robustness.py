"""How strong a confounder must be to take an estimate, or the end of its interval, to a value.

The robustness value RV is the share of the variance of both the outcome and the treatment that a
confounder must explain (`cf_y = cf_d = RV`). If the bias has the largest size `scale` at strength
1, the strength that is needed is `f = |estimate - null| / scale`, and `RV^2 / (1 - RV) = f^2`. The
extreme robustness value is the share of the treatment alone that suffices if the confounder
explains all that is left of the outcome, `f^2 / (1 + f^2)` (Cinelli and Hazlett 2020, 2025).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from debinet.inference.omitted_bias import OmittedBias
from debinet.protocols import FloatArray


def bias_strength(cf_y: FloatArray, cf_d: FloatArray, rho: float) -> FloatArray:
    """Return `|rho| sqrt(cf_y cf_d / (1 - cf_d))`; infinite if `cf_d` is 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.where(cf_d < 1, np.divide(cf_d, 1 - np.minimum(cf_d, 1)), np.inf)
        return np.asarray(abs(rho) * np.sqrt(np.where(cf_y > 0, cf_y * odds, 0.0)))


def robustness_value(f2: FloatArray) -> FloatArray:
    """Return the solution of `RV^2 / (1 - RV) = f2`."""
    # Not `(sqrt(f2^2 + 4 f2) - f2) / 2`, which loses all digits where f2 is large.
    with np.errstate(invalid="ignore", divide="ignore"):
        found = 2 / (1 + np.sqrt(1 + 4 / np.asarray(f2)))
    return np.asarray(np.where(np.isinf(f2), 1.0, found))


def extreme_robustness_value(f2: FloatArray) -> FloatArray:
    """Return the solution of `XRV / (1 - XRV) = f2`."""
    with np.errstate(invalid="ignore"):
        found = np.asarray(f2) / (1 + np.asarray(f2))
    return np.asarray(np.where(np.isinf(f2), 1.0, found))


def squared_strength(strength: FloatArray, rho: float) -> FloatArray:
    """Return `f2` of a confounder whose bias has this strength at correlation `rho`."""
    if rho == 0:
        return np.where(strength > 0, np.inf, 0.0)
    return np.asarray((strength / rho) ** 2)


def breaking_strengths(bias: OmittedBias, null: FloatArray, quantile: float = 0.0) -> FloatArray:
    """Return the strengths (m,) at which bounds reach `null`.

    Parameters
    ----------
    bias : OmittedBias
        Of m combinations.
    null : FloatArray of shape (m,)
    quantile : float
        Of the bounds' distribution: 0 for the bounds themselves, more for their intervals.
    """
    return np.array([_breaking(bias.pick(j), value, quantile) for j, value in enumerate(null)])


def _breaking(bias: OmittedBias, null: float, quantile: float) -> float:
    side = -1.0 if float(np.median(bias.estimate)) > null else 1.0

    def beyond(strength: float, z: float = quantile) -> float:
        """Return how far the bound is from the null, on the estimate's side."""
        at = np.array([[strength]])
        bound = bias.bounds(at, side)
        if z:
            bound = bound + side * z * bias.errors(at, side)
        return -side * float(bound[0, 0] - null)

    if beyond(0.0) <= 0:
        return 0.0
    least = float(bias.scale.min())
    if least <= 0:
        return float("inf")
    # Each repetition's bound has reached the null there, so their median and its interval have.
    highest = float(np.abs(bias.estimate - null).max()) / least
    return float(brentq(beyond, 0.0, highest * (1 + 1e-9), xtol=1e-15, rtol=1e-14))
