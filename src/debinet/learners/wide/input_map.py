"""What a network sees of a row: standardized, weighted and possibly rotated features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.inputs import Moments
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class InputMap:
    """From features z to encoded rows `(A' z / sqrt(p), 1)`, z standardized.

    Attributes
    ----------
    moments : Moments
        Of the p features.
    matrix : FloatArray of shape (p, r), optional
        The matrix A; the identity if None.
    """

    moments: Moments
    matrix: FloatArray | None = None

    @property
    def width(self) -> int:
        """Number r of columns before the constant."""
        return int(self.moments.mean.size if self.matrix is None else self.matrix.shape[1])

    @property
    def relevance(self) -> FloatArray:
        """Weight of every feature (p,): the length of its row in A."""
        if self.matrix is None:
            return np.ones(self.moments.mean.size)
        return np.asarray(np.linalg.norm(self.matrix, axis=1))

    def encode(self, Z: FloatArray) -> FloatArray:
        """Return encoded rows (n, r + 1) of rows (n, p)."""
        n, p = Z.shape
        encoded = np.empty((n, self.width + 1))
        inputs = self.moments.standardize(Z)
        if self.matrix is not None:
            inputs = inputs @ self.matrix
        np.divide(inputs, np.sqrt(p), out=encoded[:, :-1])
        encoded[:, -1] = 1.0
        return encoded
