"""The criterion of smooth networks, on landmarks instead of all pairs of rows.

With m landmarks P among the rows X, `C = K(X, P)` and `W = K(P, P)`, the kernel is `C W^-1 C'`,
plus the inner products of linear and added columns (Nystroem). The kernels of smooth networks have
rapidly falling eigenvalues, so little is lost, and an evaluation costs n m^2 instead of n^3. With
`E = B C W^-1`, B the derivative of the criterion by the kernel, the network's part of the criterion
changes by `2 sum E dC - sum (W^-1 C' E) dW`, and every other column c, of weight v, by `c' B c dv`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.spectral.lowrank import LowRankSpectrum, decompose_centred
from debinet.learners.spectral.spectrum import RIDGE, Projected
from debinet.learners.spectral.tuning import Tuned, reml, time_grid, tune
from debinet.learners.wide.erf_pairs import ErfPairs, erf_pairs
from debinet.learners.wide.scale_problem import TINY, ScaleProblem
from debinet.protocols import FloatArray

# Added to the diagonal of W, in units of it: rounding, and repeated rows.
_JITTER = 1e-9
# Steps of the grid of stopping times, in log time: coarser than in a fit, as many are tuned.
_GRID_STEP = 1.5


@dataclass(frozen=True)
class LandmarkPoint:
    """The criterion at one point, and what its gradient needs.

    Attributes
    ----------
    theta : FloatArray of shape (k,)
        Logarithms of scales, skip weight and weights of smooths.
    value : float
        The criterion.
    residual : FloatArray of shape (n, t)
        What the network leaves of the weighted targets.
    time, energy : FloatArray of shape (t,)
        Stopping times, and `m' a` of every target in units of them.
    left : FloatArray of shape (r, t)
        Shares of all directions that stay in the residuals.
    problem : ScaleProblem
    spectrum : LowRankSpectrum
        With r directions.
    pairs, among : ErfPairs
        Rows and landmarks, and landmarks among each other.
    root : FloatArray of shape (m, m)
        `root root' = W^-1`.
    """

    theta: FloatArray
    value: float
    residual: FloatArray
    time: FloatArray
    energy: FloatArray
    left: FloatArray
    problem: ScaleProblem
    spectrum: LowRankSpectrum
    pairs: ErfPairs
    among: ErfPairs
    root: FloatArray

    @property
    def dof(self) -> float:
        """Largest degrees of freedom of a target."""
        return float((1.0 - self.left).sum(axis=0).max(initial=0.0))

    def gradient(self) -> FloatArray:
        """Return the derivatives by all parameters."""
        problem, p = self.problem, self.problem.Z.shape[1]
        inverse = self.root @ self.root.T
        linear = self.pairs.X[:, :p]
        E = self._by_kernel(self.pairs.kernel @ inverse)
        by_feature = self.pairs.by_scale(2.0 * E) - self.among.by_scale(
            inverse @ (self.pairs.kernel.T @ E)
        )
        _, skip = problem.scales(self.theta)
        by_linear = skip * np.einsum("ij,ij->j", linear, self._by_kernel(linear))
        by_scale = np.bincount(problem.groups, by_feature[:p] + 2.0 * by_linear)
        return np.concatenate([by_scale, [by_linear.sum()], self._by_smooth()])

    def _by_smooth(self) -> FloatArray:
        columns = self.problem.columns
        if columns is None:
            return np.empty(0)
        product = self._by_kernel(columns.reshape(len(columns), -1)).reshape(columns.shape)
        weights = self.problem.smooth_weights(self.theta)
        return np.asarray(2.0 * weights * np.einsum("nsk,nsk->s", columns, product))

    def _by_kernel(self, X: FloatArray) -> FloatArray:
        """Return `root_weight B root_weight X`, B the derivative by the weighted kernel."""
        root, U, C = self.problem.root_weight[:, None], self.spectrum.U, self.spectrum.C
        weighted = root * X
        a = self.residual * np.sqrt(self.time * (len(X) - C.shape[1]) / self.energy)
        learned = (1.0 - self.left) @ self.time
        out = self.time.sum() * (weighted - C @ (C.T @ weighted))
        out -= U @ (learned[:, None] * (U.T @ weighted))
        out -= a @ (a.T @ weighted)
        return np.asarray(root * out)

    def heldout_errors(self, M: FloatArray) -> FloatArray:
        """Return the mean squared leave-one-out residuals of any weighted targets (n, t)."""
        _, tuned = _tune(self.spectrum, M)
        left = RIDGE.residual(np.multiply.outer(self.spectrum.w, tuned.time))
        residual = self.spectrum.leave_one_out(M, left)
        return np.asarray(np.maximum((residual**2).mean(axis=0), TINY))

    def function_gradients(self, j: int) -> FloatArray:
        """Return the gradients (n, p) of the fitted function of target j by its scaled inputs."""
        dual = self.problem.root_weight * self.time[j] * self.residual[:, j]
        weights = self.root @ (self.root.T @ (self.pairs.kernel.T @ dual))
        _, skip = self.problem.scales(self.theta)
        found = self.pairs.gradients(weights) + skip * (dual @ self.pairs.X)
        return np.asarray(found[:, : self.problem.Z.shape[1]])


def evaluate_on_landmarks(theta: FloatArray, problem: ScaleProblem) -> LandmarkPoint:
    """Evaluate the criterion on the landmarks of a problem."""
    assert problem.landmarks is not None
    scale, skip = problem.scales(theta)
    X = problem.encoded(scale)
    train = problem.architecture.train
    P = X[problem.landmarks]
    pairs, among = erf_pairs(X, P, train=train), erf_pairs(P, P, train=train)
    W = among.kernel.copy()
    np.einsum("ii->i", W)[:] *= 1.0 + _JITTER
    root = np.linalg.inv(np.linalg.cholesky(W)).T
    parts = [pairs.kernel @ root]
    if problem.columns is not None:
        weights = np.sqrt(problem.smooth_weights(theta))[:, None]
        parts.append((problem.columns * weights).reshape(len(X), -1))
    if problem.fixed is not None:
        parts.append(problem.fixed)
    width = sum(part.shape[1] for part in parts)
    F = np.hstack([*parts, X[:, :-1]])
    spectrum = decompose_centred(F, width, (skip,), problem.root_weight).spectra[0]
    part, tuned = _tune(spectrum, problem.M)
    left = RIDGE.residual(np.multiply.outer(spectrum.w, tuned.time))
    return LandmarkPoint(
        theta=theta,
        value=float(tuned.value.sum()),
        residual=spectrum.residual(problem.M, left),
        time=tuned.time,
        energy=np.maximum(part.energy(left.T[None])[0], TINY),
        left=left,
        problem=problem,
        spectrum=spectrum,
        pairs=pairs,
        among=among,
        root=root,
    )


def _tune(spectrum: LowRankSpectrum, M: FloatArray) -> tuple[Projected, Tuned]:
    part = spectrum.project(M)
    return part, tune(reml(spectrum, part, RIDGE), time_grid(part.w, _GRID_STEP))
