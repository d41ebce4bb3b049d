"""The kernel of the erf network between rows and landmarks, with its derivatives.

With inner products `g = <x, p>`, `q = 1 + 2 |x|^2` and the ratio `c = 2 g / sqrt(q q')`, the layer
averages are `value = (2 / pi) arcsin(c)` and `slope = (4 / pi) / sqrt(q q' (1 - c^2))`, and the
kernel is `g slope`, plus `value` if all layers are trained. Its derivative by g is
`slope (1 + c^2 / (1 - c^2))`, plus `slope`; that by |x|^2 is the same times `-g / q`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class ErfPairs:
    """Pairs of rows and landmarks.

    Attributes
    ----------
    X, P : FloatArray of shapes (n, d), (m, d)
        Encoded rows and landmarks.
    ratio, kernel : FloatArray of shape (n, m)
        The ratios c, and the kernel.
    bend : FloatArray of shape (n, m)
        The kernel's derivative by the inner products, times `sqrt(q q')`.
    """

    X: FloatArray
    P: FloatArray
    ratio: FloatArray
    kernel: FloatArray
    bend: FloatArray

    def of(self, rows: IntArray) -> ErfPairs:
        """Return the pairs of some of the rows."""
        return ErfPairs(self.X[rows], self.P, self.ratio[rows], self.kernel[rows], self.bend[rows])

    def by_scale(self, weights: FloatArray) -> FloatArray:
        """Return the derivatives (d,) of `sum weights * kernel` by the logarithms of all scales."""
        H = weights * self.bend
        across = 2.0 * np.einsum("ij,ij->j", _shortened(self.X), H @ _shortened(self.P))
        along = [
            (np.einsum(f"ij,ij->{axis}", H, self.ratio) / _length(rows)) @ rows**2
            for axis, rows in (("i", self.X), ("j", self.P))
        ]
        return np.asarray(across - along[0] - along[1])

    def gradients(self, weights: FloatArray) -> FloatArray:
        """Return the gradients (n, d) by x, at every row, of `f(x) = sum_k weights_k K(x, p_k)`."""
        H, q = self.bend * weights, _length(self.X)[:, None]
        along = np.einsum("ij,ij->i", H, self.ratio)[:, None]
        return np.asarray((H @ _shortened(self.P)) / np.sqrt(q) - along / q * self.X)


def erf_pairs(X: FloatArray, P: FloatArray, *, train: str) -> ErfPairs:
    """Compute the kernel of the network with one hidden layer between rows (n, d) and (m, d)."""
    ratio: FloatArray = 2.0 * _shortened(X) @ _shortened(P).T
    square = ratio * ratio
    rest = 1.0 - square
    # 1 - c^2 >= 1 / q up to rounding
    np.maximum(rest, 1.0 / _length(X).max(), out=rest)
    square /= rest
    square += 2.0 if train == "all" else 1.0
    np.sqrt(rest, out=rest)
    kernel = ratio / rest
    if train == "all":
        kernel += np.arcsin(ratio)
    kernel *= 2 / np.pi
    square /= rest
    square *= 4 / np.pi
    return ErfPairs(X, P, ratio, kernel, bend=square)


def _shortened(rows: FloatArray) -> FloatArray:
    return np.asarray(rows / np.sqrt(_length(rows))[:, None])


def _length(rows: FloatArray) -> FloatArray:
    return np.asarray(1.0 + 2.0 * np.einsum("ij,ij->i", rows, rows))
