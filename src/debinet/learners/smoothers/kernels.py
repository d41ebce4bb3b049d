"""Kernels: the weight of a neighbour at a given distance.

All are radial: they depend on the Euclidean distance between standardized rows in units of the
bandwidth, `u = |z - z_i| / h`. For the Gaussian that is the usual product over the features;
products of the others would give weights that depend on the direction of the neighbour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from debinet.protocols import FloatArray

# Bandwidths of a grid, each over the next. The Gaussian at h / sqrt(2) is the square of that at h,
# so that of a whole grid only the first `_LEAPS` take exponentials, 15 times as slow as squares.
# The reach of the others ends at h, so that more depends on it.
_LEAPS = 2
GRID_RATIO = {"gaussian": 2.0 ** (0.5 / _LEAPS), "compact": 2.0**0.125}


def _gaussian(s: FloatArray) -> FloatArray:
    s *= -0.5
    return np.exp(s, out=s)


def _uniform(s: FloatArray) -> FloatArray:
    return np.less_equal(s, 1.0, out=s)


def _triangle(s: FloatArray) -> FloatArray:
    return _epanechnikov(np.sqrt(s, out=s))


def _epanechnikov(s: FloatArray) -> FloatArray:
    np.subtract(1.0, s, out=s)
    return np.maximum(s, 0.0, out=s)


def _quadratic(s: FloatArray) -> FloatArray:
    return np.square(_epanechnikov(s), out=s)


def _cosine(s: FloatArray) -> FloatArray:
    # cos(pi / 2) is 6e-17, not 0: outside of the support it would look like a neighbour
    outside = s >= 1.0
    s[outside] = 0.0
    np.sqrt(s, out=s)
    s *= 0.5 * np.pi
    np.cos(s, out=s)
    s[outside] = 0.0
    return s


# Weight of a neighbour as a function of u^2, which may be overwritten.
KERNELS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "gaussian": _gaussian,
    "uniform": _uniform,
    "triangle": _triangle,
    "epanechnikov": _epanechnikov,
    "quadratic": _quadratic,
    "cosine": _cosine,
}


def kernel_weights(
    kernel: str, distance: FloatArray, h: float, out: FloatArray | None = None
) -> FloatArray:
    """Return weights (r, n) of n neighbours of r points; every point has one that is not zero.

    Parameters
    ----------
    kernel : str
        A key of `KERNELS`.
    distance : FloatArray of shape (r, n)
        Squared distances; infinity for rows that may not be used, which get weight zero.
    h : float
        Bandwidth. Infinity gives all rows the same weight.
    out : FloatArray of shape (r, n), optional
        Where to put the weights; may be `distance`. New memory costs more than the weights.
    """
    if np.isinf(h):
        return np.isfinite(distance, out=np.empty_like(distance) if out is None else out)
    nearest = distance.min(axis=1, keepdims=True)
    if kernel == "gaussian":
        # Only ratios of weights matter; relative to the nearest row they cannot all underflow.
        weights = np.subtract(distance, nearest, out=out)
        weights *= 1.0 / h**2
        return _gaussian(weights)
    lonely = KERNELS[kernel](nearest / h**2)[:, 0] == 0.0
    instead = distance[lonely] == nearest[lonely]
    weights = KERNELS[kernel](np.multiply(distance, 1.0 / h**2, out=out))
    weights[lonely] = instead
    return weights


def rough_weights(kernel: str, distance: FloatArray) -> FloatArray:
    """Overwrite distances, in bandwidths, by weights of seven digits, twice as fast."""
    if kernel != "gaussian":
        return kernel_weights(kernel, distance, 1.0, out=distance)
    distance -= distance.min(axis=1, keepdims=True)
    distance *= -0.5
    return np.exp(distance, out=distance, dtype=np.float32, casting="unsafe")


def descend(kernel: str, distance: FloatArray, bandwidths: FloatArray) -> Iterator[FloatArray]:
    """Yield the weights for every bandwidth of a grid, each in memory that the next ones reuse.

    Parameters
    ----------
    kernel : str
        A key of `KERNELS`.
    distance : FloatArray of shape (r, n)
        As for `kernel_weights`.
    bandwidths : FloatArray of shape (b,)
        Infinity, then finite ones, each `GRID_RATIO` times as large as the next.
    """
    memory = [np.empty_like(distance) for _ in range(_LEAPS)]
    yield kernel_weights(kernel, distance, float(bandwidths[0]), memory[0])
    for k, h in enumerate(bandwidths[1:]):
        weights = memory[k % _LEAPS]
        if kernel == "gaussian" and k >= _LEAPS:
            np.multiply(weights, weights, out=weights)
        else:
            kernel_weights(kernel, distance, float(h), weights)
        yield weights
