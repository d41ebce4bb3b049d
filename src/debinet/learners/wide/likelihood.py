"""The restricted likelihood of all targets together, as a function of the scales of the inputs.

The criterion is the sum, over the targets, of twice the negative restricted log-likelihood, each at
its own best penalty, so that targets of pure noise have no influence. Its derivative by the kernel
is the matrix `B = sum_j Q_j - (n - 1) a_j a_j' / (m_j' a_j)`, with `a_j = Q_j m_j`; the kernel's
derivatives then give those by the scales.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from debinet.learners.spectral.full import FullSpectrum, decompose, leave_one_out
from debinet.learners.spectral.spectrum import RIDGE, Projected, Stopped
from debinet.learners.spectral.tuning import Tuned, reml, time_grid, tune
from debinet.learners.wide.kernel_gradient import Forward, forward, pull_back
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.smooths import Smooths
from debinet.protocols import FloatArray, IntArray

_TINY = np.finfo(np.float64).tiny
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
    precision : type
        Of kernels and eigenvectors, single or double.
    """

    Z: FloatArray
    M: FloatArray
    root_weight: FloatArray
    groups: IntArray
    architecture: Architecture
    smooths: Smooths | None = None
    columns: FloatArray | None = None
    fixed: FloatArray | None = None
    precision: type[np.floating[Any]] = np.float64

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
        columns = columns.astype(self.precision)
        return replace(self, smooths=smooths, columns=columns)

    def of(self, rows: IntArray) -> ScaleProblem:
        """Return the problem of some rows, targets centred and of one size."""
        root = self.root_weight[rows]
        columns = None if self.columns is None else self.columns[rows]
        fixed = None if self.fixed is None else self.fixed[rows].astype(self.precision)
        M = centred(self.M[rows], root)
        return replace(self, Z=self.Z[rows], M=M, root_weight=root, columns=columns, fixed=fixed)


def centred(M: FloatArray, root_weight: FloatArray) -> FloatArray:
    """Return weighted targets (n, m) without their weighted mean, of squared length n."""
    u = root_weight / np.linalg.norm(root_weight)
    M = M - np.outer(u, u @ M)
    return np.asarray(M * np.sqrt(len(M)) / np.maximum(np.linalg.norm(M, axis=0), _TINY))


@dataclass(frozen=True)
class ScalePoint:
    """The criterion at one point, and what its gradient needs.

    Attributes
    ----------
    theta : FloatArray of shape (k,)
        Logarithms of scales and skip weight.
    value : float
        The criterion.
    residual : FloatArray of shape (n, m)
        What the network leaves of the weighted targets.
    problem : ScaleProblem
    way : Forward
        From the scaled rows to their kernel.
    spectrum : FullSpectrum
    time, energy : FloatArray of shape (m,)
        Stopping times, and `m_j' a_j` in units of them.
    left : FloatArray of shape (n - 1, m)
        Shares of all directions that stay in the residuals.
    """

    theta: FloatArray
    value: float
    residual: FloatArray
    problem: ScaleProblem
    way: Forward
    spectrum: FullSpectrum
    time: FloatArray
    energy: FloatArray
    left: FloatArray

    def scales(self) -> tuple[FloatArray, float]:
        """Return the scales (p,) of the features, and the skip weight."""
        return self.problem.scales(self.theta)

    def smooths(self) -> Smooths | None:
        """Return the functions of single features with their weights."""
        found = self.problem.smooths
        weights = self.problem.smooth_weights(self.theta)
        return None if found is None else found.weighted(weights)

    def gradient(self) -> FloatArray:
        """Return the derivatives by the logarithms of scales and skip weight."""
        n, p = self.problem.Z.shape
        root, skip = self.problem.root_weight, self.spectrum.skip
        V, precision = self.spectrum.V, self.problem.precision
        a = (self.residual * np.sqrt(self.time * (n - 1) / self.energy)).astype(precision)
        half = V * np.sqrt(self.left @ self.time).astype(precision)
        # products of a matrix with its own transpose take half the work of others
        B = half @ half.T
        B -= a @ a.T
        B *= root
        B *= root[:, None]
        by_smooth = np.empty(0)
        if self.problem.columns is not None:
            columns = self.problem.columns
            product = (B @ columns.reshape(n, -1)).reshape(columns.shape)
            weights = self.problem.smooth_weights(self.theta)
            by_smooth = 2.0 * weights * np.einsum("nsk,nsk->s", columns, product)
        d_X, d_skip = pull_back(self.way, B, skip)
        by_feature = np.einsum("ij,ij->j", self.way.X[:, :p], d_X[:, :p])
        by_scale = np.bincount(self.problem.groups, by_feature)
        return np.concatenate([by_scale, [skip * d_skip], by_smooth])

    def heldout_errors(self, M: FloatArray) -> FloatArray:
        """Return the mean squared leave-one-out residuals of any weighted targets (n, m)."""
        part, tuned = _tune(self.spectrum, M)
        residual = leave_one_out(self.spectrum, part.T, Stopped(tuned.time))
        return np.asarray(np.maximum((residual**2).mean(axis=0), _TINY))


def evaluate(theta: FloatArray, problem: ScaleProblem) -> ScalePoint:
    """Evaluate the criterion at logarithms of scales and skip weight."""
    n, p = problem.Z.shape
    scale, skip = problem.scales(theta)
    X = np.column_stack([problem.Z * (scale / np.sqrt(p)), np.ones(n)])
    way = forward(X.astype(problem.precision), problem.architecture)
    kernel = way.with_skip(skip)
    if problem.columns is not None:
        weights = np.sqrt(problem.smooth_weights(theta)).astype(problem.precision)
        weighted = problem.columns * weights[:, None]
        flat = weighted.reshape(n, -1)
        kernel += flat @ flat.T
    if problem.fixed is not None:
        kernel += problem.fixed @ problem.fixed.T
    spectrum = decompose(kernel, problem.root_weight, skip)
    part, tuned = _tune(spectrum, problem.M)
    left = RIDGE.residual(np.multiply.outer(spectrum.w, tuned.time))
    return ScalePoint(
        theta=theta,
        value=float(tuned.value.sum()),
        residual=spectrum.V @ (left * part.T),
        problem=problem,
        way=way,
        spectrum=spectrum,
        time=tuned.time,
        energy=np.maximum((part.T**2 * left).sum(axis=0), _TINY),
        left=left,
    )


def _tune(spectrum: FullSpectrum, M: FloatArray) -> tuple[Projected, Tuned]:
    part = spectrum.project(M)
    return part, tune(reml(spectrum, part, RIDGE), time_grid(part.w))
