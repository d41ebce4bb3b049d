"""The kernel of the erf network between rows and landmarks, with its derivatives.

With inner products `g = <x, p>`, `q = 1 + 2 |x|^2` and `R = q q' - 4 g^2`, the layer averages are
`value = (2 / pi) arcsin(2 g / sqrt(q q'))` and `slope = (4 / pi) / sqrt(R)`, and the kernel is
`g slope`, plus `value` if all layers are trained. Its derivative by g is `slope (1 + 4 g^2 / R)`,
plus `slope`; that by |x|^2 is the same times `-g / q`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.wide.activations import ACTIVATIONS
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class ErfPairs:
    """Pairs of rows and landmarks.

    Attributes
    ----------
    X, P : FloatArray of shapes (n, d), (m, d)
        Encoded rows and landmarks.
    g, kernel, by_g : FloatArray of shape (n, m)
        Inner products, the kernel, and its derivative by the inner products.
    """

    X: FloatArray
    P: FloatArray
    g: FloatArray
    kernel: FloatArray
    by_g: FloatArray

    def by_scale(self, weights: FloatArray) -> FloatArray:
        """Return the derivatives (d,) of `sum weights * kernel` by the logarithms of all scales."""
        H = weights * self.by_g
        bent = H * self.g
        across = 2.0 * np.einsum("ij,ij->j", self.X, H @ self.P)
        along = [
            (2.0 * bent.sum(axis=axis) / _length(rows)) @ rows**2
            for axis, rows in ((1, self.X), (0, self.P))
        ]
        return np.asarray(across - along[0] - along[1])

    def gradients(self, weights: FloatArray) -> FloatArray:
        """Return the gradients (n, d) by x, at every row, of `f(x) = sum_k weights_k K(x, p_k)`."""
        H = self.by_g * weights
        along = 2.0 * np.einsum("ij,ij->i", H, self.g) / _length(self.X)
        return np.asarray(H @ self.P - along[:, None] * self.X)


def erf_pairs(X: FloatArray, P: FloatArray, *, train: str) -> ErfPairs:
    """Compute the kernel of the network with one hidden layer between rows (n, d) and (m, d)."""
    g = X @ P.T
    moments = ACTIVATIONS["erf"].moments(g, (X**2).sum(axis=1), (P**2).sum(axis=1))
    slope = moments.slope
    kernel, by_g = g * slope, (np.pi / 2.0 * g * slope) ** 2  # 4 g^2 / R
    by_g += 1.0
    if train == "all":
        kernel += moments.value
        by_g += 1.0
    by_g *= slope
    return ErfPairs(X, P, g, kernel, by_g)


def _length(rows: FloatArray) -> FloatArray:
    return np.asarray(1.0 + 2.0 * (rows**2).sum(axis=1))
