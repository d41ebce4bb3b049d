"""Random hidden units of the network, and the linear columns of its skip connection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet._random import named_generator
from debinet.learners.wide.inputs import Moments, encode
from debinet.learners.wide.kernels import row_chunks
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class FeatureMap:
    r"""Rows z as features `phi(z)`: hidden units, then linear columns.

    With :math:`\tilde z = (z / \sqrt p, 1)` of standardized z and `w_r` standard normal, the units
    are `relu(<w_r, z~>) / sqrt(width)`. Their inner products average `relu relu` over the normal
    distribution, the "second layer" of the wide network's kernel, with an error of order
    `1 / sqrt(width)`. The linear columns are `z / sqrt(p)`, to be multiplied by `sqrt(skip)`.

    Attributes
    ----------
    moments : Moments
        Of the columns of `Z`.
    directions : FloatArray of shape (p + 1, width)
        One column `w_r` per hidden unit.
    """

    moments: Moments
    directions: FloatArray

    @property
    def width(self) -> int:
        """Number of hidden units."""
        return int(self.directions.shape[1])

    @property
    def count(self) -> int:
        """Number of features, `width + p`."""
        return self.width + int(self.directions.shape[0]) - 1

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the features (n, width + p) of rows (n, p)."""
        encoded = encode(Z, self.moments)
        features = np.empty((Z.shape[0], self.count))
        for rows in row_chunks(*features.shape):
            units = features[rows, : self.width]
            np.maximum(encoded[rows] @ self.directions, 0.0, out=units)
            units /= np.sqrt(self.width)
        features[:, self.width :] = encoded[:, :-1]
        return features


def draw_directions(seed: int, p: int, width: int) -> FloatArray:
    """Return the (p + 1, width) incoming weights of the hidden units that belong to a seed.

    They are drawn unit by unit: the units of a narrow network are the first of a wider one.
    """
    rng = named_generator(seed, "tangent features")
    return np.ascontiguousarray(rng.standard_normal((width, p + 1)).T)
