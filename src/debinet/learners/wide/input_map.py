"""What a network sees of a row: standardized, weighted and possibly rotated features and jumps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.inputs import Moments
from debinet.learners.wide.jumps import Jumps
from debinet.learners.wide.products import Products
from debinet.learners.wide.rules import Rules
from debinet.learners.wide.smooths import Smooths
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class InputMap:
    """From features to encoded rows `(A' x / sqrt(l), 1, added columns)`.

    The l entries of x are the p standardized features, and one for every jump. The inner products
    of the added columns are added to the network's kernel.

    Attributes
    ----------
    moments : Moments
        Of the p features.
    matrix : FloatArray of shape (l, r), optional
        The matrix A; the identity if None.
    smooths : Smooths, optional
        Functions of single features.
    rules : Rules, optional
        Boxes of features.
    products : Products, optional
        Of two features.
    jumps : Jumps, optional
        Thresholds of features, with a matrix A.
    """

    moments: Moments
    matrix: FloatArray | None = None
    smooths: Smooths | None = None
    rules: Rules | None = None
    products: Products | None = None
    jumps: Jumps | None = None

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
        if self.jumps is not None:
            squares = squares[:p] + np.bincount(self.jumps.features, squares[p:], p)
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

    def inputs(self, Z: FloatArray) -> FloatArray:
        """Return standardized features and jumps (n, l) of rows (n, p)."""
        inputs = self.moments.standardize(Z)
        return inputs if self.jumps is None else np.hstack([inputs, self.jumps(Z)])

    def encode(self, Z: FloatArray) -> FloatArray:
        """Return encoded rows (n, r + 1 + added) of rows (n, p)."""
        n, r = len(Z), self.width
        encoded = np.empty((n, r + 1 + self.added))
        encoded[:, r] = 1.0
        if self.matrix is None and not self.added:
            inputs = encoded[:, :r]
            np.subtract(Z, self.moments.mean, out=inputs)
            inputs /= self.moments.sd
            inputs /= np.sqrt(r)
            return encoded
        inputs, end = self.inputs(Z), r + 1
        parts = ((self.smooths, inputs), (self.products, inputs), (self.rules, Z))
        for part, rows in parts:
            if part is not None:
                encoded[:, end : end + part.width] = part(rows)
                end += part.width
        size = np.sqrt(inputs.shape[1])
        if self.matrix is not None:
            inputs = inputs @ self.matrix
        np.divide(inputs, size, out=encoded[:, :r])
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
