"""Choose a stopping time for every output, by restricted likelihood, GCV or leave-one-out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from debinet.learners.wide.blocks import Stopped, leave_one_out
from debinet.learners.wide.filters import SpectralFilter
from debinet.learners.wide.spectrum import Spectrum
from debinet.protocols import FloatArray, IntArray

# Maps stopping times (g, m), or (g, 1) for all outputs alike, to values (g, m) to be minimized.
Criterion: TypeAlias = Callable[[FloatArray], FloatArray]

_GRID_STEP = 0.5  # in log time
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
_GOLDEN_STEPS = 26  # narrow two grid steps to 4e-6
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


def stopping_path(
    tuned: Sequence[Tuned], dof: Sequence[FloatArray], skip: Sequence[float], chosen: IntArray
) -> StoppingPath:
    """Put together the paths of m outputs, each along the decomposition chosen for it.

    Parameters
    ----------
    tuned : sequence of Tuned
        One per decomposition.
    dof : sequence of FloatArray of shape (g,)
        Degrees of freedom at the times of their grids, which may differ in length.
    skip : sequence of float
    chosen : IntArray of shape (m,)
        Which decomposition each output uses.
    """
    most = max(t.grid.size for t in tuned)
    # A shorter grid stays at its end.
    at = [np.minimum(np.arange(most), t.grid.size - 1) for t in tuned]
    return StoppingPath(
        np.column_stack([inverse(tuned[k].grid)[at[k]] for k in chosen]),
        np.column_stack([tuned[k].curve[at[k], j] for j, k in enumerate(chosen)]),
        np.column_stack([dof[k][at[k]] for k in chosen]),
        np.asarray(skip)[chosen],
    )


def inverse(time: FloatArray) -> FloatArray:
    """Return the penalty that belongs to a stopping time: infinite at time 0."""
    return np.divide(1.0, time, out=np.full_like(time, np.inf), where=time > 0)


def reml(spectrum: Spectrum, T: FloatArray, filter_: SpectralFilter) -> Criterion:
    """Return twice the negative profiled restricted log-likelihood, up to a constant.

    A filter that leaves the share r of a direction is the posterior mean under noise s^2 I and
    marginal covariance s^2 V diag(1 / r) V' of the contrasts; for ridge, `1 / r = 1 + w / lam`.
    Profiling s^2 out leaves `(n - 1) log(sum T^2 r) - sum log r`, for ridge the familiar
    `(n - 1) log(sum T^2 / (w + lam)) + sum log(w + lam)`, but finite at infinite `lam`.
    """
    w, power = spectrum.w, T.T**2

    def value(times: FloatArray) -> FloatArray:
        x = times[:, :, None] * w
        explained = np.maximum(_contract(filter_.residual(x), power), _TINY)
        log_determinant: FloatArray = -filter_.log_residual(x).sum(axis=2)
        total: FloatArray = w.size * np.log(explained) + log_determinant
        return total

    return value


def gcv(spectrum: Spectrum, T: FloatArray, filter_: SpectralFilter) -> Criterion:
    """Return generalized cross-validation: `n |residual|^2 / trace(I - S)^2`."""
    w, power = spectrum.w, T.T**2

    def value(times: FloatArray) -> FloatArray:
        left = filter_.residual(times[:, :, None] * w)
        rss, trace = _contract(left**2, power), left.sum(axis=2)
        # a flow that has run so long that everything underflows is as bad as can be
        infinite = np.full(rss.shape, np.inf)
        score: FloatArray = np.divide(
            (w.size + 1) * rss, trace**2, out=infinite, where=trace > 1e-150
        )
        return score

    return value


def loo(spectrum: Spectrum, T: FloatArray, filter_: SpectralFilter) -> Criterion:
    """Return the (weighted) mean squared leave-one-out residual, exactly."""
    squared = spectrum.V**2

    def value(times: FloatArray) -> FloatArray:
        residuals = (leave_one_out(Stopped(spectrum, T, filter_, t), squared) for t in times)
        return np.stack([(residual**2).mean(axis=0) for residual in residuals])

    return value


def _contract(left: FloatArray, power: FloatArray) -> FloatArray:
    """Sum (g, m or 1, n) times (m, n) over n."""
    if left.shape[1] == 1:
        shared: FloatArray = left[:, 0, :] @ power.T
        return shared
    total: FloatArray = np.einsum("gmn,mn->gm", left, power)
    return total


CRITERIA: Mapping[str, Callable[[Spectrum, FloatArray, SpectralFilter], Criterion]] = (
    MappingProxyType({"reml": reml, "gcv": gcv, "loo": loo})
)


def time_grid(w: FloatArray) -> FloatArray:
    """Return 0 and times from where nothing is learned to where all but rounding is.

    The least positive time gives a thousandth of a degree of freedom, the greatest a penalty of
    1e-8 of the mean eigenvalue, beyond which eigenvalues are lost in rounding. The length
    depends on n only.
    """
    total = float(w.sum())
    steps = int(np.ceil(np.log(1e11 * w.size) / _GRID_STEP)) + 2
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
        low, high = grid[np.maximum(best - 1, 1)], grid[np.minimum(best + 1, grid.size - 1)]
        refined = _golden_section(criterion, np.log(low), np.log(high))
        refined_value = criterion(refined[None, :])[0]
        # at time 0 the mean is best, and no positive time below the grid differs from it
        better = (best > 0) & (refined_value < value)
        time = np.where(better, refined, time)
        value = np.where(better, refined_value, value)
    return Tuned(time, value, grid, curve)


def _golden_section(criterion: Criterion, low: FloatArray, high: FloatArray) -> FloatArray:
    """Narrow the brackets of all outputs in step; return the times at their centres."""

    def at(log_time: FloatArray) -> FloatArray:
        values: FloatArray = criterion(np.exp(log_time)[None, :])[0]
        return values

    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = at(left), at(right)
    for _ in range(_GOLDEN_STEPS):
        go_left = at_left < at_right
        low, high = np.where(go_left, low, left), np.where(go_left, right, high)
        inner = np.where(go_left, high - _GOLDEN * (high - low), low + _GOLDEN * (high - low))
        at_inner = at(inner)
        left, right = np.where(go_left, inner, right), np.where(go_left, left, inner)
        at_left, at_right = (
            np.where(go_left, at_inner, at_right),
            np.where(go_left, at_left, at_inner),
        )
    return np.asarray(np.exp(vertex(at, (low + high) / 2)))


def vertex(at: Callable[[FloatArray], FloatArray], centre: FloatArray) -> FloatArray:
    """Return the minima of the parabolas through the values at `centre` and beside it.

    Values next to a minimum differ by rounding only, and searches that compare them stop where
    rounding says. The vertex does not depend on it, nor on where exactly the search stopped.
    """
    left, middle, right = at(centre - _BESIDE), at(centre), at(centre + _BESIDE)
    curvature = left - 2 * middle + right
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.where(curvature > 0, 0.5 * _BESIDE * (left - right) / curvature, 0.0)
    return np.asarray(centre + np.clip(step, -_BESIDE, _BESIDE))
