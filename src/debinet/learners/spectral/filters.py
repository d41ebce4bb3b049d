"""Spectral filters: how much of each eigen-direction a stopped network has learned.

Stopping time `t` and eigenvalue `w` enter through `x = w t`. Ridge leaves the share `1 / (1 + x)`
of a direction in the residual (its penalty is `1 / t`), gradient flow `exp(-x)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from debinet.protocols import FloatArray

# Points of the contour; 24 reach 2e-14 on all of [0, inf), more lose to rounding what they win.
_CONTOUR_POINTS = 24


@dataclass(frozen=True)
class SpectralFilter:
    """A filter, and the same filter as a mixture of ridge filters.

    Attributes
    ----------
    residual : callable
        `r(x)`, the share of a direction that stays in the residual.
    log_residual : callable
        `log r(x)`, without underflow.
    dual : callable
        `(1 - r(x)) / x`: the coefficient of a direction in the span of the kernel is `t` times it.
    weight, stretch : arrays of shape (k,), real or complex
        `r(x) = Re sum_k weight_k / (1 + stretch_k x)`. Closed forms that hold for ridge at any
        complex penalty hold, summed, for the filter.
    """

    residual: Callable[[FloatArray], FloatArray]
    log_residual: Callable[[FloatArray], FloatArray]
    dual: Callable[[FloatArray], FloatArray]
    weight: npt.NDArray[Any]
    stretch: npt.NDArray[Any]


def _ridge_residual(x: FloatArray) -> FloatArray:
    return 1.0 / (1.0 + x)


def _ridge_log_residual(x: FloatArray) -> FloatArray:
    return -np.log1p(x)


def _flow_residual(x: FloatArray) -> FloatArray:
    return np.exp(-x)


def _flow_dual(x: FloatArray) -> FloatArray:
    return np.divide(-np.expm1(-x), x, out=np.ones_like(x), where=x > 0)


def _flow_mixture() -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return `exp(-x)` as a sum of resolvents.

    `exp(-x)` is the integral of `exp(z) / (z + x) dz / (2 pi i)` over a contour around the
    negative axis; the midpoint rule on the cotangent contour of Trefethen, Weideman & Schmelzer
    (2006), equation 3.1, converges like 3.9^-points. Points come in conjugate pairs: the upper
    half with double weights, of which the real part is taken. The weights are scaled to sum to
    one exactly, so that nothing is learned at time 0.
    """
    angle = (2 * np.arange(1, _CONTOUR_POINTS // 2 + 1) - 1) * np.pi / _CONTOUR_POINTS
    tangent = np.tan(0.6407 * angle)
    sine = np.sin(0.6407 * angle)
    z = _CONTOUR_POINTS * (0.5017 * angle / tangent - 0.6122 + 0.2645j * angle)
    slope = 0.5017 / tangent - 0.5017 * 0.6407 * angle / sine**2 + 0.2645j
    weight = 2 * np.exp(z) * slope / (1j * z)
    return weight / weight.real.sum(), 1.0 / z


RIDGE = SpectralFilter(
    _ridge_residual, _ridge_log_residual, _ridge_residual, np.ones(1), np.ones(1)
)
FLOW = SpectralFilter(_flow_residual, np.negative, _flow_dual, *_flow_mixture())
FILTERS: Mapping[str, SpectralFilter] = MappingProxyType({"ridge": RIDGE, "flow": FLOW})
