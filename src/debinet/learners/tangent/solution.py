"""From a factorization and the targets to a skip weight and a stopping time for every output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from debinet.learners.moments import Moments, column_moments
from debinet.learners.tangent.factorization import Factorization
from debinet.learners.tangent.tuning import CRITERIA, Projected, project
from debinet.learners.wide.tuning import StoppingPath, stopping_path, tune
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class Solution:
    """A fit of m outputs, each with its own skip weight and stopping time.

    Attributes
    ----------
    spectrum_of : IntArray of shape (m,)
        Which of the factorization's spectra each output uses.
    time : FloatArray of shape (m,)
        Stopping times, the inverses of the penalties.
    T : tuple of FloatArray of shape (k, m)
        `U' M` of the standardized, weighted targets, in every spectrum.
    target : Moments
        Means and standard deviations of the targets.
    noise_variance, dof : FloatArray of shape (m,)
    path : StoppingPath
    """

    spectrum_of: IntArray
    time: FloatArray
    T: tuple[FloatArray, ...]
    target: Moments
    noise_variance: FloatArray
    dof: FloatArray
    path: StoppingPath

    def outputs_of(self, spectrum: int) -> IntArray:
        """Return the outputs that use this spectrum."""
        return np.flatnonzero(self.spectrum_of == spectrum)


def learned_share(w: FloatArray, time: FloatArray) -> FloatArray:
    """Return `w / (w + 1 / t)`, of shape (k, m), for eigenvalues (k,) and times (m,)."""
    x = np.multiply.outer(w, time)
    return np.asarray(x / (1.0 + x), dtype=np.float64)


def solve(factorization: Factorization, M: FloatArray, criterion: str) -> Solution:
    """Tune every output of `M` (n, m) over skip weights and stopping times."""
    target = column_moments(M, factorization.root_weight**2)
    weighted = factorization.root_weight[:, None] * target.standardize(M)
    projected = [project(s.w, s.U, weighted) for s in factorization.spectra]
    tuning = tune_projected(projected, [s.skip for s in factorization.spectra], criterion)
    return Solution(
        tuning.spectrum_of,
        tuning.time,
        tuple(part.T for part in projected),
        target,
        tuning.noise * target.sd**2,
        tuning.dof,
        tuning.path,
    )


@dataclass(frozen=True)
class Tuning:
    """Penalties of m targets.

    Attributes
    ----------
    spectrum_of : IntArray of shape (m,)
        Which of the decompositions each uses.
    time, dof, noise : FloatArray of shape (m,)
        Inverse penalty, degrees of freedom, and variance of the noise in units of the target's.
    path : StoppingPath
    """

    spectrum_of: IntArray
    time: FloatArray
    dof: FloatArray
    noise: FloatArray
    path: StoppingPath


def tune_projected(parts: Sequence[Projected], skips: Sequence[float], criterion: str) -> Tuning:
    """Tune standardized targets over decompositions, one per skip weight, and penalties."""
    tuned = [tune(CRITERIA[criterion](part), part.grid()) for part in parts]
    spectrum_of = np.array([t.value for t in tuned]).argmin(axis=0)
    m = spectrum_of.size
    time = np.array([t.time for t in tuned])[spectrum_of, np.arange(m)]
    noise, dof = np.empty(m), np.empty(m)
    for j, k in enumerate(spectrum_of):
        noise[j], dof[j] = _noise_and_dof(parts[k], j, time[j], criterion)
    path = stopping_path(
        tuned,
        [
            1.0 + (1.0 - 1.0 / (1.0 + np.outer(t.grid, part.w))).sum(axis=1)
            for t, part in zip(tuned, parts, strict=True)
        ],
        skips,
        spectrum_of,
    )
    return Tuning(spectrum_of, time, dof, noise, path)


def _noise_and_dof(part: Projected, j: int, time: float, criterion: str) -> tuple[float, float]:
    left = 1.0 / (1.0 + part.w * time)
    dof = 1.0 + float((1.0 - left).sum())
    power, rest = part.T[:, j] ** 2, part.rest[j]
    if criterion == "reml":
        return float(power @ left + rest) / part.directions, dof
    trace = float(left.sum()) + part.directions - part.w.size
    return float(power @ left**2 + rest) / max(trace, 1e-300), dof
