"""What a network sees of a row: standardized, weighted and possibly rotated features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.inputs import Moments
from debinet.learners.wide.products import Products
from debinet.learners.wide.rules import Rules
from debinet.learners.wide.smooths import Smooths
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class InputMap:
    """From features z to encoded rows `(A' z / sqrt(p), 1, added columns)`, z standardized.

    The inner products of the added columns are added to the network's kernel.

    Attributes
    ----------
    moments : Moments
        Of the p features.
    matrix : FloatArray of shape (p, r), optional
        The matrix A; the identity if None.
    smooths : Smooths, optional
        Functions of single features.
    rules : Rules, optional
        Boxes of features.
    products : Products, optional
        Of two features.
    """

    moments: Moments
    matrix: FloatArray | None = None
    smooths: Smooths | None = None
    rules: Rules | None = None
    products: Products | None = None

    @property
    def width(self) -> int:
        """Number r of columns before the constant."""
        return int(self.moments.mean.size if self.matrix is None else self.matrix.shape[1])

    @property
    def added(self) -> int:
        """Number of columns after the constant."""
        parts = (self.smooths, self.products, self.rules)
        return sum(part.width for part in parts if part is not None)

    @property
    def relevance(self) -> FloatArray:
        """Weight of every feature (p,): the length of its row in A, and what is added to it.

        A smooth, product or rule of variance a counts as an input of scale `sqrt(a p)`, which has
        the same variance.
        """
        p = self.moments.mean.size
        squares = np.ones(p) if self.matrix is None else (self.matrix**2).sum(axis=1)
        if self.smooths is not None:
            squares[self.smooths.features] += p * self.smooths.weights
        for part in (self.products, self.rules):
            if part is not None:
                squares += p * part.variance(p)
        return np.asarray(np.sqrt(squares))

    def interactions(self, Z: FloatArray) -> FloatArray | None:
        """Return the columns (n, k) of products and rules of rows (n, p), if there are any."""
        parts = ((self.products, self.moments.standardize(Z)), (self.rules, Z))
        columns = [part(rows) for part, rows in parts if part is not None]
        return np.hstack(columns) if columns else None

    def encode(self, Z: FloatArray) -> FloatArray:
        """Return encoded rows (n, r + 1 + added) of rows (n, p)."""
        (n, p), r = Z.shape, self.width
        encoded = np.empty((n, r + 1 + self.added))
        encoded[:, r] = 1.0
        if self.matrix is None and not self.added:
            inputs = encoded[:, :r]
            np.subtract(Z, self.moments.mean, out=inputs)
            inputs /= self.moments.sd
            inputs /= np.sqrt(p)
            return encoded
        inputs, end = self.moments.standardize(Z), r + 1
        parts = ((self.smooths, inputs), (self.products, inputs), (self.rules, Z))
        for part, rows in parts:
            if part is not None:
                encoded[:, end : end + part.width] = part(rows)
                end += part.width
        if self.matrix is not None:
            inputs = inputs @ self.matrix
        np.divide(inputs, np.sqrt(p), out=encoded[:, :r])
        return encoded


@dataclass(frozen=True)
class NetworkInputs:
    """Inputs of a network.

    Attributes
    ----------
    map_ : InputMap
    skip : float, optional
        Weight of the linear part, where it was learned with the weights of the features.
    """

    map_: InputMap
    skip: float | None = None
