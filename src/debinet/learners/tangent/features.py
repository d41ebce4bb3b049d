"""Random hidden units of the network, and the linear columns of its skip connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from debinet._random import named_generator
from debinet.data.free_memory import row_chunks
from debinet.learners.wide.input_map import InputMap
from debinet.protocols import FloatArray


class FeatureMap(Protocol):
    """Rows z as features: `width` that are penalized as they are, then linear columns."""

    @property
    def width(self) -> int:
        """Number of features before the linear ones."""

    @property
    def count(self) -> int:
        """Number of features."""

    def __call__(self, Z: FloatArray) -> FloatArray:
        """Return the features (n, count) of rows (n, p)."""


class NetworkFeatures(FeatureMap, Protocol):
    """Features of a network."""

    @property
    def inputs(self) -> InputMap:
        """What the network sees of a row."""


@dataclass(frozen=True)
class HiddenUnits:
    r"""Rows z as features `phi(z)`: hidden units, then linear columns.

    With :math:`\tilde z = (z / \sqrt p, 1)` of standardized z and `w_r` standard normal, in pairs
    for z and -z, the units are `relu(<w_r, z~>) / sqrt(width)`. Their inner products average
    `relu relu` over the normal distribution, the "second layer" of the wide network's kernel, with
    an error of order `1 / sqrt(width)`. The linear columns are `z / sqrt(p)`, to be multiplied by
    `sqrt(skip)`.

    Attributes
    ----------
    inputs : InputMap
        From p features to r inputs.
    directions : FloatArray of shape (r + 1, width)
        One column `w_r` per hidden unit.
    """

    inputs: InputMap
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
        encoded = self.inputs.encode(Z)
        features = np.empty((Z.shape[0], self.count))
        for rows in row_chunks(*features.shape):
            units = features[rows, : self.width]
            np.maximum(encoded[rows] @ self.directions, 0.0, out=units)
            units /= np.sqrt(self.width)
        features[:, self.width :] = encoded[:, :-1]
        return features


def draw_directions(seed: int, p: int, width: int) -> FloatArray:
    """Return the (p + 1, width) incoming weights of the hidden units that belong to a seed.

    They are drawn pair by pair: the units of a narrow network are the first of a wider one. The
    second of a pair is applied to -z, so that even and odd functions stay apart as in the limit
    (docs/decisions/0015).
    """
    rng = named_generator(seed, "tangent features")
    drawn = rng.standard_normal(((width + 1) // 2, p + 1))
    mirrored = drawn * np.append(-np.ones(p), 1.0)
    pairs = np.stack([drawn, mirrored], axis=1).reshape(-1, p + 1)
    return np.ascontiguousarray(pairs[:width].T)
