"""Rows to learn the scales of the inputs from, and what the parameters of a search mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from debinet._random import named_generator
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.smooths import Smooths
from debinet.protocols import FloatArray, IntArray

TINY = np.finfo(np.float64).tiny
# Sum of the weights of smooths at which a search starts; the network's own kernel is about 1.
_SMOOTH_START = 0.3


@dataclass(frozen=True)
class ScaleProblem:
    """Rows to learn scales from.

    Attributes
    ----------
    Z : FloatArray of shape (n, p)
        Standardized features.
    M : FloatArray of shape (n, m)
        Targets times `root_weight`.
    root_weight : FloatArray of shape (n,)
        Square roots of positive weights.
    groups : IntArray of shape (p,)
        Which scale each feature has, counted from 0.
    architecture : Architecture
        One whose gradient is known.
    smooths : Smooths, optional
        Functions of single features with weights to be learned too.
    columns : FloatArray of shape (n, s, k), optional
        Their columns at weights of 1.
    fixed : FloatArray of shape (n, c), optional
        Further columns whose inner products are added to the kernel as they are.
    landmarks : IntArray of shape (m,), optional
        Rows that stand for all of them in the kernel of a smooth network.
    """

    Z: FloatArray
    M: FloatArray
    root_weight: FloatArray
    groups: IntArray
    architecture: Architecture
    smooths: Smooths | None = None
    columns: FloatArray | None = None
    fixed: FloatArray | None = None
    landmarks: IntArray | None = None

    @property
    def size(self) -> int:
        """Number of parameters: logarithms of scales, of the skip weight, and of smooths."""
        return self.n_scales + 1 + (0 if self.smooths is None else self.smooths.weights.size)

    @property
    def n_scales(self) -> int:
        """Number of scales, the first parameters."""
        return int(self.groups.max()) + 1

    def scales(self, theta: FloatArray) -> tuple[FloatArray, float]:
        """Return the scales (p,) of the features, and the skip weight."""
        return np.exp(theta[: self.n_scales])[self.groups], float(np.exp(theta[self.n_scales]))

    def smooth_weights(self, theta: FloatArray) -> FloatArray:
        """Return the weights of the smooths."""
        start = _SMOOTH_START / self.Z.shape[1]
        return np.asarray(start * np.exp(2.0 * theta[self.n_scales + 1 :]))

    def with_smooths(self, smooths: Smooths) -> ScaleProblem:
        """Return the problem with functions of single features, as Z has them now."""
        columns = smooths(self.Z).reshape(len(self.Z), *smooths.knots.shape)
        return replace(self, smooths=smooths, columns=columns)

    def of(self, rows: IntArray) -> ScaleProblem:
        """Return the problem of some rows, targets centred and of one size."""
        root = self.root_weight[rows]
        columns = None if self.columns is None else self.columns[rows]
        fixed = None if self.fixed is None else self.fixed[rows]
        M = centred(self.M[rows], root)
        return replace(self, Z=self.Z[rows], M=M, root_weight=root, columns=columns, fixed=fixed)

    def on_landmarks(self, count: int) -> ScaleProblem:
        """Return the problem with so many landmarks, drawn at random among the rows."""
        order = named_generator(0, "landmarks of a search").permutation(len(self.Z))
        return replace(self, landmarks=np.sort(order[:count]))

    def encoded(self, scale: FloatArray) -> FloatArray:
        """Return the rows (n, p + 1) as a network with these scales (p,) sees them."""
        n, p = self.Z.shape
        return np.column_stack([self.Z * (scale / np.sqrt(p)), np.ones(n)])

    def weighted_smooths(self, theta: FloatArray) -> Smooths | None:
        """Return the functions of single features with their weights."""
        return None if self.smooths is None else self.smooths.weighted(self.smooth_weights(theta))


def centred(M: FloatArray, root_weight: FloatArray) -> FloatArray:
    """Return weighted targets (n, m) without their weighted mean, of squared length n."""
    u = root_weight / np.linalg.norm(root_weight)
    M = M - np.outer(u, u @ M)
    return np.asarray(M * np.sqrt(len(M)) / np.maximum(np.linalg.norm(M, axis=0), TINY))


class ScalePoint(Protocol):
    """The criterion at one point of a search."""

    @property
    def theta(self) -> FloatArray:
        """Logarithms of scales, skip weight and weights of smooths."""

    @property
    def value(self) -> float:
        """The criterion."""

    @property
    def residual(self) -> FloatArray:
        """What the network leaves of the weighted targets (n, m)."""

    @property
    def problem(self) -> ScaleProblem:
        """The rows."""

    def gradient(self) -> FloatArray:
        """Return the derivatives by all parameters."""

    def heldout_errors(self, M: FloatArray) -> FloatArray:
        """Return the mean squared leave-one-out residuals of any weighted targets (n, m)."""
