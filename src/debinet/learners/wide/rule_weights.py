"""How well a network predicts with rules beside it, for any weight of them.

With the network's kernel `K = U diag(w) U'`, c columns R of rules and their weight a, the
likelihood at stopping time t needs the inverse of `I + t K + t a R R'`. By Woodbury's identity it
is that of a matrix of c rows, `I + t a S`, with `S = R' (I + t K)^-1 R`: the network is decomposed
once for all weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from debinet.learners.spectral.tuning import time_grid, tune
from debinet.learners.wide.landmark_fit import LandmarkFit, SampledRows
from debinet.learners.wide.rules import Rules
from debinet.protocols import FloatArray

_TINY = np.finfo(np.float64).tiny


def errors_with_rules(
    fit: LandmarkFit,
    rules: Rules,
    weights: Sequence[float],
    rows: SampledRows,
    others: SampledRows,
) -> tuple[FloatArray, list[FloatArray]]:
    """Return the mean squared errors (m,) of predictions without rules, and for every weight.

    Parameters
    ----------
    fit : LandmarkFit
        Of the network, to `rows`.
    rules : Rules
    weights : sequence of float
        Of the rules; each is tuned anew.
    rows, others : SampledRows
        To learn from, and to predict.
    """
    one = rules.weighted(1.0)
    columns, further = one(rows.Z), one(others.Z)
    centre = rows.weight @ columns / rows.weight.sum()
    beside = _beside(fit, rows.root[:, None] * (columns - centre), rows.root[:, None] * rows.M)
    coordinates = fit.coordinates(others.Z)

    def errors(predicted: FloatArray) -> FloatArray:
        squares = np.average((others.M - fit.mean - predicted) ** 2, axis=0, weights=others.weight)
        return np.asarray(np.maximum(squares, _TINY))

    found = []
    for weight in weights:
        learned, steps = beside.coefficients(weight)
        found.append(errors(coordinates @ learned + (further - centre) @ steps))
    return errors(coordinates @ ((1.0 - fit.left) * fit.part.T)), found


@dataclass(frozen=True)
class _Solved:
    """At times (g, m): shares left of the directions (g, m, k), and what belongs to the columns.

    Those are `y = (I + t a S)^-1 R' (I + t K)^-1 M` (g, m, c) and `log det(I + t a S)`, (g, m) or
    (g, 1).
    """

    left: FloatArray
    y: FloatArray
    log_size: FloatArray


@dataclass(frozen=True)
class _Beside:
    """Columns R beside a decomposed kernel, and m targets, in its coordinates.

    Attributes
    ----------
    w : FloatArray of shape (k,)
        Eigenvalues.
    T, V : FloatArray of shapes (k, m), (k, c)
        Targets and columns in its directions.
    idle : FloatArray of shape (m,)
        Squares of the targets in other directions.
    across, within : FloatArray of shapes (c, m), (c, c)
        Inner products of the columns with targets and columns, in other directions.
    directions : int
        Number of all directions orthogonal to the intercept.
    """

    w: FloatArray
    T: FloatArray
    V: FloatArray
    idle: FloatArray
    across: FloatArray
    within: FloatArray
    directions: int

    def coefficients(self, weight: float) -> tuple[FloatArray, FloatArray]:
        """Return the coefficients (k, m) of the directions and (c, m) of the columns."""
        size = weight * ((self.V**2).sum() + np.trace(self.within))
        grid = time_grid(np.append(self.w, size))
        time = tune(lambda times: self._reml(times, weight), grid).time
        solved = self._solve(time[None], weight)
        left, y = solved.left[0].T, solved.y[0].T
        learned = self.w[:, None] * time * left * (self.T - time * weight * (self.V @ y))
        return learned, time * weight * y

    def _reml(self, times: FloatArray, weight: float) -> FloatArray:
        """Return twice the negative restricted log-likelihood for times (g, m) or (g, 1)."""
        solved = self._solve(times, weight)
        # |residual|^2 and the squares of all coefficients: sums of squares, where nothing cancels
        step = (weight * times)[:, :, None] * solved.y
        inside = self.T.T - step @ self.V.T
        outside = self.idle - (step * (2.0 * self.across.T - step @ self.within)).sum(axis=2)
        energy = (solved.left * inside**2).sum(axis=2) + np.maximum(outside, 0.0)
        energy += (step * solved.y).sum(axis=2)
        log_size = solved.log_size - np.log(solved.left).sum(axis=2)
        return np.asarray(self.directions * np.log(np.maximum(energy, _TINY)) + log_size)

    def _solve(self, times: FloatArray, weight: float) -> _Solved:
        (k, c), m = self.V.shape, self.T.shape[1]
        shared = 1.0 / (1.0 + times[:, :, None] * self.w)
        left = np.broadcast_to(shared, (len(times), m, k))
        products = (self.V[:, :, None] * self.V[:, None, :]).reshape(k, c * c)
        S = (shared @ products).reshape(*shared.shape[:2], c, c) + self.within
        b = np.stack([left[:, j] @ (self.V * self.T[:, [j]]) for j in range(m)], axis=1)
        b += self.across.T
        inner = np.eye(c) + (weight * times)[:, :, None, None] * S
        y = np.asarray(np.linalg.solve(inner, b[..., None])[..., 0], np.float64)
        return _Solved(left, y, np.asarray(np.linalg.slogdet(inner)[1]))


def _beside(fit: LandmarkFit, R: FloatArray, M: FloatArray) -> _Beside:
    """Return weighted columns (n, c) and targets (n, m) in the coordinates of a fit."""
    spectrum, part = fit.spectrum, fit.part
    V = spectrum.U.T @ R
    rest = R - spectrum.U @ V  # R has no mean
    left = M - spectrum.U @ part.T - spectrum.C @ (spectrum.C.T @ M)
    full = part.w.size >= part.directions
    return _Beside(
        part.w,
        part.T,
        V,
        (part.rest**2).sum(axis=0),
        np.zeros((R.shape[1], M.shape[1])) if full else rest.T @ left,
        np.zeros((R.shape[1], R.shape[1])) if full else rest.T @ rest,
        part.directions,
    )
