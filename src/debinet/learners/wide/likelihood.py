"""The restricted likelihood of all targets together, as a function of the scales of the inputs.

The criterion is the sum, over the targets, of twice the negative restricted log-likelihood, each at
its own best penalty, so that targets of pure noise have no influence. Its derivative by the kernel
is the matrix `B = sum_j Q_j - (n - 1) a_j a_j' / (m_j' a_j)`, with `a_j = Q_j m_j`; the kernel's
derivatives then give those by the scales. That of rectifiers is evaluated here, on all pairs of
rows, that of smooth networks in `landmark_likelihood`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.spectral.full import FullSpectrum, decompose, leave_one_out
from debinet.learners.spectral.spectrum import RIDGE, Projected, Stopped
from debinet.learners.spectral.tuning import Tuned, reml, time_grid, tune
from debinet.learners.wide.kernel_gradient import Forward, forward, pull_back
from debinet.learners.wide.landmark_likelihood import evaluate_on_landmarks
from debinet.learners.wide.scale_problem import TINY, ScalePoint, ScaleProblem
from debinet.protocols import FloatArray


def evaluate(theta: FloatArray, problem: ScaleProblem) -> ScalePoint:
    """Evaluate the criterion: on the landmarks of the problem, if it has any."""
    if problem.landmarks is not None:
        return evaluate_on_landmarks(theta, problem)
    scale, skip = problem.scales(theta)
    way = forward(problem.encoded(scale), problem.architecture)
    spectrum = decompose(way.with_skip(skip), problem.root_weight, skip)
    part, tuned = _tune(spectrum, problem.M)
    left = RIDGE.residual(np.multiply.outer(spectrum.w, tuned.time))
    return ExactPoint(
        theta=theta,
        value=float(tuned.value.sum()),
        residual=spectrum.V @ (left * part.T),
        problem=problem,
        way=way,
        spectrum=spectrum,
        time=tuned.time,
        energy=np.maximum((part.T**2 * left).sum(axis=0), TINY),
        left=left,
    )


def _tune(spectrum: FullSpectrum, M: FloatArray) -> tuple[Projected, Tuned]:
    part = spectrum.project(M)
    return part, tune(reml(spectrum, part, RIDGE), time_grid(part.w))


@dataclass(frozen=True)
class ExactPoint:
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

    def gradient(self) -> FloatArray:
        """Return the derivatives by the logarithms of scales and skip weight."""
        n, p = self.problem.Z.shape
        root, skip = self.problem.root_weight, self.spectrum.skip
        a = self.residual * np.sqrt(self.time * (n - 1) / self.energy)
        half = self.spectrum.V * np.sqrt(self.left @ self.time)
        # products of a matrix with its own transpose take half the work of others
        B = half @ half.T
        B -= a @ a.T
        B *= root
        B *= root[:, None]
        d_X, d_skip = pull_back(self.way, B, skip)
        by_feature = np.einsum("ij,ij->j", self.way.X[:, :p], d_X[:, :p])
        by_scale = np.bincount(self.problem.groups, by_feature)
        return np.concatenate([by_scale, [skip * d_skip]])

    def heldout_errors(self, M: FloatArray) -> FloatArray:
        """Return the mean squared leave-one-out residuals of any weighted targets (n, m)."""
        part, tuned = _tune(self.spectrum, M)
        residual = leave_one_out(self.spectrum, part.T, Stopped(tuned.time))
        return np.asarray(np.maximum((residual**2).mean(axis=0), TINY))
