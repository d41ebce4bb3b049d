"""What one infinitely wide layer does to inner products: Gaussian averages of an activation.

For `(u, v)` normal with mean 0, variances `va`, `vb` and covariance `g`, every activation has
`value = E[a(u) a(v)]`, `slope = E[a'(u) a'(v)]` and, on the diagonal, `energy = E[a(u)^2]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np

from debinet.learners.wide.hermite import hermite_coefficients, mehler_sum
from debinet.protocols import FloatArray

LEAKY_SLOPE = 0.01  # that of torch.nn.LeakyReLU
# The rounding of an inner product of unit vectors. Closer to 1 than this, the angle cannot be told
# from 0; calling it 0 makes equal rows exactly equal (arccos would turn 1e-16 into 1e-8).
_SAME = 1.0 - 16 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class LayerMoments:
    """Averages over one layer for all pairs of rows.

    Attributes
    ----------
    value : FloatArray of shape (r, n)
        `E[a(u) a(v)]`: the covariance after the layer.
    slope : FloatArray of shape (r, n)
        `E[a'(u) a'(v)]`: what the layer does to the gradients of the weights below.
    """

    value: FloatArray
    slope: FloatArray


@dataclass(frozen=True)
class Activation:
    """An activation, by its Gaussian averages.

    Attributes
    ----------
    moments : callable
        Maps covariances (r, n) and variances (r,), (n,) to `LayerMoments`.
    energy : callable
        Maps variances to `E[a(u)^2]`.
    """

    moments: Callable[[FloatArray, FloatArray, FloatArray], LayerMoments]
    energy: Callable[[FloatArray], FloatArray]


def _rectifier_moments(g: FloatArray, va: FloatArray, vb: FloatArray, slope: float) -> LayerMoments:
    # a(u) = (1 - slope) relu(u) + slope u, and E[relu(u) v] = g / 2, so everything follows from
    # the two arc-cosine kernels of ReLU (Cho & Saul 2009).
    norms = np.sqrt(va)[:, None] * np.sqrt(vb)
    cosine = np.divide(g, norms, out=np.ones_like(g), where=norms > 0)
    np.clip(cosine, -1.0, 1.0, out=cosine)
    cosine[cosine > _SAME] = 1.0
    # from here `open_angle` is (pi - theta) / 2 pi and `value` grows from sin(theta)
    open_angle = np.arccos(cosine)
    np.subtract(np.pi, open_angle, out=open_angle)
    open_angle /= 2 * np.pi
    value = np.sqrt((1.0 - cosine) * (1.0 + cosine))
    value /= 2 * np.pi
    cosine *= open_angle
    value += cosine
    value *= norms
    if slope:
        value *= (1 - slope) ** 2
        value += slope * g
        open_angle *= (1 - slope) ** 2
        open_angle += slope
    return LayerMoments(value, open_angle)


def _rectifier_energy(v: FloatArray, slope: float) -> FloatArray:
    return 0.5 * (1 + slope**2) * v


def _erf_moments(g: FloatArray, va: FloatArray, vb: FloatArray) -> LayerMoments:
    # Williams (1997), equation 11, and its derivative with respect to g; stacks of pairs, too
    left, right = (1 + 2 * va)[..., :, None], (2 * vb)[..., None, :]
    product = left * (1 + right)
    ratio = 2 * g
    # g^2 <= va vb up to rounding, which could leave nothing
    rest = ratio * ratio
    np.subtract(product, rest, out=rest)
    np.maximum(rest, left + right, out=rest)
    ratio /= np.sqrt(product, out=product)
    np.clip(ratio, -1.0, 1.0, out=ratio)
    value = np.arcsin(ratio, out=ratio)
    value *= 2 / np.pi
    np.sqrt(rest, out=rest)
    return LayerMoments(value, np.divide(4 / np.pi, rest, out=rest))


def _erf_energy(v: FloatArray) -> FloatArray:
    energy: FloatArray = 2 / np.pi * np.arcsin(2 * v / (1 + 2 * v))
    return energy


def _tanh_slope(x: FloatArray) -> FloatArray:
    slope: FloatArray = 1.0 - np.tanh(x) ** 2
    return slope


def _tanh_moments(g: FloatArray, va: FloatArray, vb: FloatArray) -> LayerMoments:
    norms = np.sqrt(va)[:, None] * np.sqrt(vb)
    cosine = np.clip(np.divide(g, norms, out=np.ones_like(g), where=norms > 0), -1.0, 1.0)
    value, slope = (
        mehler_sum(
            cosine,
            hermite_coefficients(function, np.sqrt(va)),
            hermite_coefficients(function, np.sqrt(vb)),
        )
        for function in (np.tanh, _tanh_slope)
    )
    return LayerMoments(value, slope)


def _tanh_energy(v: FloatArray) -> FloatArray:
    energy: FloatArray = (hermite_coefficients(np.tanh, np.sqrt(v)) ** 2).sum(axis=0)
    return energy


ACTIVATIONS: Mapping[str, Activation] = MappingProxyType(
    {
        "relu": Activation(
            partial(_rectifier_moments, slope=0.0), partial(_rectifier_energy, slope=0.0)
        ),
        "leaky_relu": Activation(
            partial(_rectifier_moments, slope=LEAKY_SLOPE),
            partial(_rectifier_energy, slope=LEAKY_SLOPE),
        ),
        "erf": Activation(_erf_moments, _erf_energy),
        "tanh": Activation(_tanh_moments, _tanh_energy),
    }
)
