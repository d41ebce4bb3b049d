"""Kernels: how much a neighbour at a given distance counts.

All are radial: they see the Euclidean distance between standardized rows in units of the bandwidth,
`u = |z - z_i| / h`. For the Gaussian that is the usual product over the features; products of the
others would weigh a neighbour by the direction in which it lies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from debinet.protocols import FloatArray

# Bandwidths of a grid per factor of 2. The Gaussian at h / sqrt(2) is the square of the one at h,
# so that of a whole grid only the first two take exponentials, which are 15 times as slow.
PER_OCTAVE = 4
_LEAPS = PER_OCTAVE // 2


def _gaussian(s: FloatArray) -> FloatArray:
    return np.exp(-0.5 * s)


def _uniform(s: FloatArray) -> FloatArray:
    return (s <= 1.0).astype(np.float64)


def _triangle(s: FloatArray) -> FloatArray:
    return np.maximum(1.0 - np.sqrt(s), 0.0)


def _epanechnikov(s: FloatArray) -> FloatArray:
    return np.maximum(1.0 - s, 0.0)


def _quadratic(s: FloatArray) -> FloatArray:
    return np.maximum(1.0 - s, 0.0) ** 2


def _cosine(s: FloatArray) -> FloatArray:
    # cos(pi / 2) is 6e-17, not 0: outside of the support it would look like a neighbour
    return np.where(s < 1.0, np.cos(0.5 * np.pi * np.sqrt(np.minimum(s, 1.0))), 0.0)


# Weight of a neighbour as a function of u^2.
KERNELS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "gaussian": _gaussian,
    "uniform": _uniform,
    "triangle": _triangle,
    "epanechnikov": _epanechnikov,
    "quadratic": _quadratic,
    "cosine": _cosine,
}


def kernel_weights(kernel: str, distance: FloatArray, h: float) -> FloatArray:
    """Return weights (r, n) of n neighbours of r points; every point has one that is not zero.

    Parameters
    ----------
    kernel : str
        A key of `KERNELS`.
    distance : FloatArray of shape (r, n)
        Squared distances; infinity for rows that may not be used, which get weight zero.
    h : float
        Bandwidth. Infinity gives all rows the same weight.
    """
    if np.isinf(h):
        return np.isfinite(distance).astype(np.float64)
    if kernel == "gaussian":
        # Only ratios of weights matter; relative to the nearest row they cannot all underflow.
        return _gaussian((distance - distance.min(axis=1, keepdims=True)) / h**2)
    weights = KERNELS[kernel](distance / h**2)
    lonely = ~weights.any(axis=1)
    if lonely.any():
        weights[lonely] = distance[lonely] == distance[lonely].min(axis=1, keepdims=True)
    return weights


def descend(kernel: str, distance: FloatArray, bandwidths: FloatArray) -> Iterator[FloatArray]:
    """Yield the weights for every bandwidth of a grid; each may be overwritten after the next.

    Parameters
    ----------
    kernel : str
        A key of `KERNELS`.
    distance : FloatArray of shape (r, n)
        As for `kernel_weights`.
    bandwidths : FloatArray of shape (b,)
        Infinity, then finite ones, each `2^(1 / PER_OCTAVE)` times as large as the next.
    """
    recent: list[FloatArray] = []
    for k, h in enumerate(bandwidths):
        if kernel != "gaussian" or k <= _LEAPS:
            weights = kernel_weights(kernel, distance, h)
            recent = [*recent, weights] if k > 0 else recent
        else:
            weights = recent[(k - 1) % _LEAPS]
            np.multiply(weights, weights, out=weights)
        yield weights
