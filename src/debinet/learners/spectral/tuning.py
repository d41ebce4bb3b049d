"""Choose a stopping time for every output, by restricted likelihood, GCV or leave-one-out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from debinet.learners.spectral.full import FullSpectrum, leave_one_out
from debinet.learners.spectral.spectrum import Projected, SpectralFilter, Spectrum, Stopped
from debinet.protocols import BoolArray, FloatArray, IntArray

# Maps stopping times (g, m), or (g, 1) for all outputs alike, to values (g, m) to be minimized.
Criterion: TypeAlias = Callable[[FloatArray], FloatArray]

_GRID_STEP = 0.5  # in log time
_NARROWER = 4.0  # parabolas, from one to the next
_BESIDE = 0.01  # in log time: the parabola is right to 1e-5 there
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class StoppingPath:
    """The criterion along the stopping path, each output at the skip weight chosen for it.

    Attributes
    ----------
    penalty : FloatArray of shape (g, m)
        From infinity (nothing learned but the mean) down; the stopping time is its inverse.
    criterion : FloatArray of shape (g, m)
        What was minimized, for outputs scaled to unit variance: twice the negative restricted
        log-likelihood up to a constant, GCV, or the mean squared leave-one-out residual.
    dof : FloatArray of shape (g, m)
        Effective degrees of freedom, intercept included.
    skip : FloatArray of shape (m,)
    """

    penalty: FloatArray
    criterion: FloatArray
    dof: FloatArray
    skip: FloatArray


@dataclass(frozen=True)
class Tuned:
    """Stopping times for all outputs under one decomposition.

    Attributes
    ----------
    time, value : FloatArray of shape (m,)
        Where the criterion is least, and its value there.
    grid : FloatArray of shape (g,)
        Times tried first; the first one is 0.
    curve : FloatArray of shape (g, m)
        The criterion at them.
    """

    time: FloatArray
    value: FloatArray
    grid: FloatArray
    curve: FloatArray


def inverse(time: FloatArray) -> FloatArray:
    """Return the penalty that belongs to a stopping time: infinite at time 0."""
    return np.divide(1.0, time, out=np.full_like(time, np.inf), where=time > 0)


def reml(spectrum: Spectrum, part: Projected, filter_: SpectralFilter) -> Criterion:  # noqa: ARG001
    """Return the criterion of `restricted_likelihood`, as all `CRITERIA` are called."""
    return restricted_likelihood(part, filter_)


def restricted_likelihood(part: Projected, filter_: SpectralFilter) -> Criterion:
    """Return twice the negative profiled restricted log-likelihood, up to a constant.

    A filter that leaves the share r of a direction is the posterior mean under noise s^2 I and
    marginal covariance s^2 U diag(1 / r) U' of the contrasts; for ridge, `1 / r = 1 + w / lam`.
    With s^2 profiled out, `directions log(sum T^2 r + rest) - sum log r` is left: finite at
    infinite `lam`, and directions of eigenvalue 0 have `log r = 0`.
    """

    def value(times: FloatArray) -> FloatArray:
        x = times[:, :, None] * part.w
        explained = np.maximum(part.energy(filter_.residual(x)), _TINY)
        return np.asarray(part.directions * np.log(explained) - filter_.log_residual(x).sum(axis=2))

    return value


def gcv(spectrum: Spectrum, part: Projected, filter_: SpectralFilter) -> Criterion:  # noqa: ARG001
    """Return generalized cross-validation: `n |residual|^2 / trace(I - S)^2`."""
    idle = part.directions - part.w.size

    def value(times: FloatArray) -> FloatArray:
        left = filter_.residual(times[:, :, None] * part.w)
        rss, trace = part.energy(left**2), left.sum(axis=2) + idle
        # a flow that has run so long that everything underflows gets the worst value
        infinite = np.full(rss.shape, np.inf)
        n = part.directions + part.unpenalized
        return np.asarray(np.divide(n * rss, trace**2, out=infinite, where=trace > 1e-150))

    return value


def loo(spectrum: Spectrum, part: Projected, filter_: SpectralFilter) -> Criterion:
    """Return the (weighted) mean squared leave-one-out residual, exactly."""
    assert isinstance(spectrum, FullSpectrum)
    squared = spectrum.V**2

    def value(times: FloatArray) -> FloatArray:
        residuals = (
            leave_one_out(spectrum, part.T, Stopped(time, filter_), squared) for time in times
        )
        return np.stack([(residual**2).mean(axis=0) for residual in residuals])

    return value


CRITERIA: Mapping[str, Callable[[Spectrum, Projected, SpectralFilter], Criterion]] = (
    MappingProxyType({"reml": reml, "gcv": gcv, "loo": loo})
)


@dataclass(frozen=True)
class Tuning:
    """Stopping times of m standardized columns.

    Attributes
    ----------
    spectrum_of : IntArray of shape (m,)
        Which spectrum each column uses.
    time, dof, noise : FloatArray of shape (m,)
        Inverse penalty, degrees of freedom, and variance of the noise in units of the column's.
    coordinates : tuple of m FloatArray of shape (k,)
        Each column in its own spectrum.
    filter_ : SpectralFilter
    path : StoppingPath
    """

    spectrum_of: IntArray
    time: FloatArray
    dof: FloatArray
    noise: FloatArray
    coordinates: tuple[FloatArray, ...]
    filter_: SpectralFilter
    path: StoppingPath

    def groups(self) -> list[tuple[int, IntArray, Stopped]]:
        """Return each spectrum that is used, its columns, and where they stop."""
        found = []
        for k in np.unique(self.spectrum_of):
            j = np.flatnonzero(self.spectrum_of == k)
            found.append((int(k), j, Stopped(self.time[j], self.filter_)))
        return found

    def scaled(self, factor: float) -> Tuning:
        """Return the same with all penalties multiplied, but none below the end of its path.

        Degrees of freedom and noise remain those of the penalties that were chosen.
        """
        end = np.maximum(self.time, inverse(self.path.penalty[-1]))
        return replace(self, time=np.minimum(self.time / factor, end))


def tune_columns(
    spectra: Sequence[Spectrum],
    X: FloatArray,
    allowed: BoolArray,
    criterion: str,
    filter_: SpectralFilter,
    *,
    judged: FloatArray | None = None,
) -> Tuning:
    """Choose a spectrum and a stopping time for every column.

    Parameters
    ----------
    spectra : sequence of Spectrum
    X : columns, m of them
        Standardized and weighted.
    allowed : BoolArray of shape (len(spectra), m)
        From which spectra each column may choose.
    criterion : str
        One of `CRITERIA`.
    filter_ : SpectralFilter
    judged : columns, m of them, optional
        By which the stopping times are chosen, if not by X.
    """
    outputs = np.arange(allowed.shape[1])
    value = np.full(allowed.shape, np.inf)
    found: dict[tuple[int, int], _Candidate] = {}
    for k, spectrum in enumerate(spectra):
        j = np.flatnonzero(allowed[k])
        if not j.size:
            continue
        part = spectrum.project(X[..., j])
        judge = part if judged is None else spectrum.project(judged[..., j])
        tuned = tune(CRITERIA[criterion](spectrum, judge, filter_), time_grid(part.w))
        value[k, j] = tuned.value
        for i, output in enumerate(j):
            found[k, int(output)] = _Candidate(part, tuned, i)
    spectrum_of = value.argmin(axis=0)
    chosen = [found[int(k), int(j)] for j, k in zip(outputs, spectrum_of, strict=True)]
    ends = [_noise_and_dof(one, criterion, filter_) for one in chosen]
    return Tuning(
        spectrum_of,
        np.array([one.tuned.time[one.column] for one in chosen]),
        np.array([dof for _, dof in ends]),
        np.array([noise for noise, _ in ends]),
        tuple(one.part.T[:, one.column] for one in chosen),
        filter_,
        _stopping_path(chosen, [spectra[k].skip for k in spectrum_of], filter_),
    )


@dataclass(frozen=True)
class _Candidate:
    """A column of some that were tuned in one spectrum."""

    part: Projected
    tuned: Tuned
    column: int


def _noise_and_dof(one: _Candidate, criterion: str, filter_: SpectralFilter) -> tuple[float, float]:
    part, j = one.part, one.column
    left = filter_.residual(part.w * one.tuned.time[j])
    dof = part.unpenalized + float((1.0 - left).sum())
    power, rest = part.T[:, j] ** 2, float((part.rest[:, j] ** 2).sum())
    if criterion == "reml":
        return (float(power @ left) + rest) / part.directions, dof
    trace = float(left.sum()) + part.directions - part.w.size
    return (float(power @ left**2) + rest) / max(trace, 1e-300), dof


def _stopping_path(
    chosen: Sequence[_Candidate], skips: Sequence[float], filter_: SpectralFilter
) -> StoppingPath:
    """Put together the paths of all columns; a shorter grid stays at its end."""
    most = max(one.tuned.grid.size for one in chosen)
    at = [np.minimum(np.arange(most), one.tuned.grid.size - 1) for one in chosen]
    # columns that chose the same spectrum share its degrees of freedom
    dof = {id(one.tuned): _path_dof(one, filter_) for one in chosen}
    pairs = list(zip(chosen, at, strict=True))
    return StoppingPath(
        np.column_stack([inverse(one.tuned.grid)[i] for one, i in pairs]),
        np.column_stack([one.tuned.curve[i, one.column] for one, i in pairs]),
        np.column_stack([dof[id(one.tuned)][i] for one, i in pairs]),
        np.asarray(skips),
    )


def _path_dof(one: _Candidate, filter_: SpectralFilter) -> FloatArray:
    left = filter_.residual(np.outer(one.tuned.grid, one.part.w))
    return np.asarray(one.part.unpenalized + (1.0 - left).sum(axis=1))


def time_grid(w: FloatArray, step: float = _GRID_STEP) -> FloatArray:
    """Return 0 and times from where nothing is learned to where all but rounding is.

    The least positive time gives a thousandth of a degree of freedom, the greatest a penalty of
    1e-8 of the mean eigenvalue, beyond which eigenvalues are lost in rounding. The length
    depends on n only. `step` is the distance of their logarithms.
    """
    if not w.size:
        return np.zeros(1)
    total = float(w.sum())
    steps = int(np.ceil(np.log(1e11 * w.size) / step)) + 2
    if total <= 0.0:  # all rows are the same: there is nothing to learn but the mean
        return np.zeros(steps)
    low, high = np.log(1e-3 / total), np.log(1e8 * w.size / total)
    return np.concatenate([[0.0], np.exp(np.linspace(low, high, steps - 1))])


def tune(criterion: Criterion, grid: FloatArray) -> Tuned:
    """Minimize a criterion over a grid, then refine each output between the grid's neighbours."""
    curve = criterion(grid[:, None])
    best = curve.argmin(axis=0)
    outputs = np.arange(best.size)
    time, value = grid[best], curve[best, outputs]
    if (best > 0).any():
        refined = _refine(criterion, grid, best)
        refined_value = criterion(refined[None, :])[0]
        # at time 0 the mean is best, and no positive time below the grid differs from it
        better = (best > 0) & (refined_value < value)
        time = np.where(better, refined, time)
        value = np.where(better, refined_value, value)
    return Tuned(time, value, grid, curve)


def _refine(criterion: Criterion, grid: FloatArray, best: IntArray) -> FloatArray:
    """Return the times of the least values next to positive times of the grid.

    By the vertices of parabolas, ever narrower ones. The last is so narrow that its vertex does not
    depend on where the others led.
    """
    log_grid = np.log(grid[1:])

    def at(log_time: FloatArray) -> FloatArray:
        return criterion(np.exp(log_time))

    centre, beside = log_grid[np.maximum(best - 1, 0)], (log_grid[1] - log_grid[0]) / 2
    while beside > _BESIDE:
        centre = np.clip(vertex(at, centre, beside), log_grid[0], log_grid[-1])
        beside /= _NARROWER
    return np.asarray(np.exp(vertex(at, centre)))


def vertex(
    at: Callable[[FloatArray], FloatArray], centre: FloatArray, beside: float = _BESIDE
) -> FloatArray:
    """Return the minima of the parabolas through the values at `centre` and beside it.

    Values next to a minimum differ by rounding only, and searches that compare them stop where
    rounding decides. The vertex does not depend on it, nor on where exactly the search stopped.

    Parameters
    ----------
    at : callable
        Maps points (3, m) to values (3, m).
    centre : FloatArray of shape (m,)
    beside : float
        Distance of the points beside the centre; the result is within it.
    """
    left, middle, right = at(np.stack([centre - beside, centre, centre + beside]))
    curvature = left - 2 * middle + right
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.where(curvature > 0, 0.5 * beside * (left - right) / curvature, 0.0)
    # without curvature, to the lower side
    step = np.where(curvature > 0, step, beside * np.sign(left - right))
    return np.asarray(centre + np.clip(step, -beside, beside))
