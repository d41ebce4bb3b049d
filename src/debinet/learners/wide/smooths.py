"""Smooth functions of single features: networks that see one input each.

A network of all features spends its rows on interactions. Where the targets are sums of functions
of single features, as they often are, a sum of networks with one input each learns them from far
fewer rows. Its kernel is `sum_j a_j k(z_j, z_j')`, with k that of the erf network of one input. As
that one has rapidly falling eigenvalues, few knots for each feature are enough: with
`k(knots, knots) = E diag(l) E'`, the columns `sqrt(a_j) k(z_j, knots) E diag(l)^-1/2` have it as
their inner products.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from debinet.data.free_memory import row_chunks
from debinet.learners.wide.activations import ACTIVATIONS
from debinet.protocols import BoolArray, FloatArray, IntArray

# Columns for each feature, and the share of the largest eigenvalue below which there is none.
KNOTS = 12
_ROUNDING = 1e-10
# A function of fewer different values than this is left to the network and its linear part.
_FEWEST_VALUES = 5
# Functions whose variance is below this share of the largest are left out in the end.
_IDLE = 1e-4


@dataclass(frozen=True)
class Smooths:
    """Functions of s of the p features, k columns for each.

    Attributes
    ----------
    features : IntArray of shape (s,)
        Which features.
    knots : FloatArray of shape (s, k)
        In standardized units.
    roots : FloatArray of shape (s, k, k)
        `E diag(l)^-1/2`; columns of zeros where there are fewer than k eigenvalues.
    weights : FloatArray of shape (s,)
        The variances a_j.
    """

    features: IntArray
    knots: FloatArray
    roots: FloatArray
    weights: FloatArray

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.knots.size)

    def weighted(self, weights: FloatArray) -> Smooths | None:
        """Return the functions with other weights (s,), those of next to no weight left out."""
        kept = weights > _IDLE * weights.max(initial=0.0)
        if not kept.any():
            return None
        return replace(self, weights=weights).of(kept)

    def of(self, kept: BoolArray) -> Smooths:
        """Return some of the functions."""
        return Smooths(self.features[kept], self.knots[kept], self.roots[kept], self.weights[kept])

    def __call__(self, inputs: FloatArray) -> FloatArray:
        """Return the columns (n, s k) of standardized rows (n, p)."""
        n, (s, k) = len(inputs), self.knots.shape
        roots = np.sqrt(self.weights)[:, None, None] * self.roots
        columns = np.empty((n, s, k))
        for rows in row_chunks(n, s * k):
            kernel = _kernels(inputs[rows, self.features].T, self.knots)
            np.matmul(kernel, roots, out=columns[rows].transpose(1, 0, 2))
        return columns.reshape(n, self.width)


def place_smooths(inputs: FloatArray, alone: BoolArray, count: int = KNOTS) -> Smooths:
    """Place knots at quantiles of the standardized rows (n, p), both extremes among them.

    Parameters
    ----------
    inputs : FloatArray of shape (n, p)
    alone : BoolArray of shape (p,)
        Features that are not one of several columns of a category.
    count : int
        Of the knots.
    """
    counts = np.array([np.unique(column).size for column in inputs.T])
    features = np.flatnonzero((counts >= _FEWEST_VALUES) & alone)
    # more of them at both ends, the outermost values included, where functions are extrapolated
    levels = (1 - np.cos(np.pi * np.arange(count) / (count - 1))) / 2
    knots = np.quantile(inputs[:, features], levels, axis=0).T
    roots = np.zeros((features.size, count, count))
    knots = np.ascontiguousarray(knots)
    spectra = np.linalg.eigh(_kernels(knots, knots))
    for root, w, E in zip(roots, *spectra, strict=True):
        kept = w > _ROUNDING * w[-1]
        root[:, kept] = E[:, kept] / np.sqrt(w[kept])
    return Smooths(features, knots, roots, np.ones(features.size))


def _kernels(values: FloatArray, knots: FloatArray) -> FloatArray:
    """Return the kernels (s, n, k) of networks of one input between values (s, n) and knots (s, k).

    The same as `kernel_matrix` of the encoded values, for all features at once.
    """
    g = values[:, :, None] * knots[:, None, :] + 1.0
    moments = ACTIVATIONS["erf"].moments(g, values**2 + 1.0, knots**2 + 1.0)
    g *= moments.slope
    g += moments.value
    return g
