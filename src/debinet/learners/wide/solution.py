"""From a factorization and the targets to a skip weight and a stopping time for every output."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.moments import Moments, column_moments
from debinet.learners.wide.factorization import Factorization
from debinet.learners.wide.filters import SpectralFilter
from debinet.learners.wide.tuning import CRITERIA, StoppingPath, stopping_path, time_grid, tune
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class Solution:
    """A fit of m outputs, each with its own skip weight and stopping time.

    Attributes
    ----------
    filter_ : SpectralFilter
    spectrum_of : IntArray of shape (m,)
        Which of the factorization's spectra each output uses.
    time : FloatArray of shape (m,)
        Stopping times.
    T : FloatArray of shape (n - 1, m)
        `V' M` of the standardized, weighted targets, each in its own spectrum.
    target : Moments
        Means and standard deviations of the targets.
    noise_variance, dof : FloatArray of shape (m,)
    path : StoppingPath
    """

    filter_: SpectralFilter
    spectrum_of: IntArray
    time: FloatArray
    T: FloatArray
    target: Moments
    noise_variance: FloatArray
    dof: FloatArray
    path: StoppingPath


def solve(
    factorization: Factorization, M: FloatArray, filter_: SpectralFilter, criterion: str
) -> Solution:
    """Tune every output of `M` (n, m) over skip weights and stopping times."""
    target = column_moments(M, factorization.root_weight**2)
    weighted = factorization.root_weight[:, None] * target.standardize(M)
    projected = [spectrum.V.T @ weighted for spectrum in factorization.spectra]
    tuned = [
        tune(CRITERIA[criterion](spectrum, T, filter_), time_grid(spectrum.w))
        for spectrum, T in zip(factorization.spectra, projected, strict=True)
    ]
    spectrum_of = np.array([t.value for t in tuned]).argmin(axis=0)
    outputs = np.arange(M.shape[1])
    time = np.array([t.time for t in tuned])[spectrum_of, outputs]
    T = np.array(projected)[spectrum_of, :, outputs].T
    w = np.array([spectrum.w for spectrum in factorization.spectra])[spectrum_of].T
    left = filter_.residual(w * time)
    if criterion == "reml":
        noise = (T**2 * left).sum(axis=0) / w.shape[0]
    else:
        noise = (T**2 * left**2).sum(axis=0) / np.maximum(left.sum(axis=0), 1e-300)
    dof = 1.0 + (1.0 - left).sum(axis=0)
    path = stopping_path(
        tuned,
        [
            1.0 + (1.0 - filter_.residual(np.outer(t.grid, spectrum.w))).sum(axis=1)
            for t, spectrum in zip(tuned, factorization.spectra, strict=True)
        ],
        [spectrum.skip for spectrum in factorization.spectra],
        spectrum_of,
    )
    return Solution(filter_, spectrum_of, time, T, target, noise * target.sd**2, dof, path)
