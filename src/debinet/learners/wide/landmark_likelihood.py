"""The criterion of smooth networks, on landmarks instead of all pairs of rows.

With m landmarks P among the rows X, `C = K(X, P)` and `W = K(P, P)`, the kernel is `C W^-1 C'`,
plus the inner products of linear and added columns (Nystroem). The kernels of smooth networks have
rapidly falling eigenvalues, so little is lost, and an evaluation costs n m^2 instead of n^3. With
`E = B C W^-1`, B the derivative of the criterion by the kernel, the network's part of the criterion
changes by `2 sum E dC - sum (W^-1 C' E) dW`, and every other column c, of weight v, by `c' B c dv`.
All columns are F, with decomposition U, and `B = t - U diag(learned) U' - a a'`; as `F = U along'`,
only E needs products with n rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.spectral.factored import FactoredSpectrum, factor_centred
from debinet.learners.spectral.spectrum import RIDGE, Projected
from debinet.learners.spectral.tuning import Tuned, restricted_likelihood, time_grid, tune
from debinet.learners.wide.erf_pairs import ErfPairs, erf_pairs
from debinet.learners.wide.landmarks import inverse_root
from debinet.learners.wide.scale_problem import TINY, ScaleProblem
from debinet.protocols import FloatArray

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
    spectrum : FactoredSpectrum
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
    spectrum: FactoredSpectrum
    pairs: ErfPairs
    among: ErfPairs
    root: FloatArray

    @property
    def dof(self) -> float:
        """Largest degrees of freedom of a target."""
        return float((1.0 - self.left).sum(axis=0).max(initial=0.0))

    def gradient(self) -> FloatArray:
        """Return the derivatives by all parameters."""
        problem, spectrum, (m, p) = self.problem, self.spectrum, self._network_and_features
        a = self.residual * np.sqrt(self.time * spectrum.directions / self.energy)
        learned, along = (1.0 - self.left) @ self.time, spectrum.along
        by_a = spectrum.F.T @ a
        pulled = by_a[:m].T @ self.root.T
        E, within = spectrum.pull(float(self.time.sum()), learned, self.root.T)
        E -= a @ pulled
        within = self.root @ (within - by_a[:m] @ pulled)
        E *= 2.0 * problem.root_weight[:, None]
        by_feature = self.pairs.by_scale(E) - self.among.by_scale(within)
        # c' B c of all columns
        squares = along**2 @ (self.left @ self.time) - (by_a**2).sum(axis=1)
        by_linear = spectrum.skip * squares[-p:]
        by_scale = np.bincount(problem.groups, by_feature[:p] + 2.0 * by_linear)
        return np.concatenate([by_scale, [by_linear.sum()], self._by_smooth(squares[m:])])

    @property
    def _network_and_features(self) -> tuple[int, int]:
        """Numbers of columns: of the network, the first ones, and linear ones, the last ones."""
        return len(self.root), self.problem.Z.shape[1]

    def _by_smooth(self, squares: FloatArray) -> FloatArray:
        columns = self.problem.columns
        if columns is None:
            return np.empty(0)
        _, s, k = columns.shape
        return np.asarray(2.0 * squares[: s * k].reshape(s, k).sum(axis=1))

    def heldout_errors(self, M: FloatArray) -> FloatArray:
        """Return the mean squared leave-one-out residuals of any weighted targets (n, t)."""
        _, tuned = _tune(self.spectrum, M)
        left = RIDGE.residual(np.multiply.outer(self.spectrum.w, tuned.time))
        residual = self.spectrum.expanded().leave_one_out(M, left)
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
    pairs = erf_pairs(X, X[problem.landmarks], train=train)
    among = pairs.of(problem.landmarks)
    root = inverse_root(among.kernel)
    parts = [pairs.kernel @ root]
    if problem.columns is not None:
        weights = np.sqrt(problem.smooth_weights(theta))[:, None]
        parts.append((problem.columns * weights).reshape(len(X), -1))
    if problem.fixed is not None:
        parts.append(problem.fixed)
    width = sum(part.shape[1] for part in parts)
    F = np.hstack([*parts, X[:, :-1]])
    spectrum = factor_centred(F, width, skip, problem.root_weight)
    part, tuned = _tune(spectrum, problem.M)
    left = RIDGE.residual(np.multiply.outer(spectrum.w, tuned.time))
    return LandmarkPoint(
        theta=theta,
        value=float(tuned.value.sum()),
        residual=spectrum.residual(problem.M, part.T, left),
        time=tuned.time,
        energy=np.maximum(part.energy(left.T[None])[0], TINY),
        left=left,
        problem=problem,
        spectrum=spectrum,
        pairs=pairs,
        among=among,
        root=root,
    )


def _tune(spectrum: FactoredSpectrum, M: FloatArray) -> tuple[Projected, Tuned]:
    part = spectrum.project(M)
    return part, tune(restricted_likelihood(part, RIDGE), time_grid(part.w, _GRID_STEP))
