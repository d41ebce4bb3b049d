"""The mixed model `y = D coef + N(0, tau K) + noise`: generalized least squares for coef.

In the coordinates of a spectrum the contrasts of y have covariance `s^2 diag(1 / r)`,
`r = 1 / (1 + w t)`, and r = 1 for the directions of eigenvalue 0. Of the latter only inner products
matter, so every value of the restricted likelihood costs O(k q^2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import minimize_scalar

from debinet.learners.spectral.spectrum import Projected, Spectrum
from debinet.learners.spectral.tuning import time_grid, vertex
from debinet.protocols import FloatArray

# The grid brackets the optimum, which Brent's method then finds: every second time is enough.
_GRID_STRIDE = 2
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class MixedFit:
    """Coefficients of D in the mixed model, for standardized columns.

    Attributes
    ----------
    coef : FloatArray of shape (q,)
    rows : columns, q of them
        `coef` is the inner product of `rows` with y.
    noise : float
        Standard deviation of the noise.
    spread : FloatArray of shape (q, q)
        Covariance of the coefficients under the model, in units of the noise's variance: what is
        above `rows' rows` is the bias that the prior of f expects.
    choice : Choice
        From which the same follows with other penalties.
    """

    coef: FloatArray
    rows: FloatArray
    noise: float
    spread: FloatArray
    choice: Choice


class Choice(Protocol):
    """Spectrum and parameters of a model that were chosen."""

    def solve(self, X: FloatArray, factor: float = 1.0) -> MixedFit:
        """Estimate for columns X, with the penalty of f times a factor."""


@dataclass(frozen=True)
class MixedChoice:
    """Spectrum and penalty of a mixed model.

    Attributes
    ----------
    spectrum : Spectrum
    time : float
        Inverse penalty.
    contrasts : Contrasts
        Of the columns whose coefficients are estimated.
    """

    spectrum: Spectrum
    time: float
    contrasts: Contrasts

    def solve(self, X: FloatArray, factor: float = 1.0) -> MixedFit:
        """Estimate for columns X, with the penalty of f times a factor."""
        spectrum, contrasts = self.spectrum, self.contrasts
        time = scaled_time(self.time, contrasts.w, factor)
        left = spectrum.residual(X[..., 1:], 1.0 / (1.0 + spectrum.w * time)[:, None])
        _, gram, moment, _ = contrasts.solve(time)
        inverse = np.asarray(np.linalg.inv(gram), np.float64)
        return MixedFit(inverse @ moment, left @ inverse, contrasts.noise(time), inverse, self)


def fit_mixed(
    spectra: Sequence[Spectrum],
    X: FloatArray,
    factor: float = 1.0,
    judged: FloatArray | None = None,
) -> MixedFit:
    """Estimate under the spectrum and penalty of greatest restricted likelihood.

    Parameters
    ----------
    spectra : sequence of Spectrum
    X : columns, 1 + q of them
        Standardized and weighted, y first, then D.
    factor : float
        By which the penalty is then multiplied.
    judged : columns, 1 + q of them, optional
        By which spectrum and penalty are chosen, if not by X.
    """
    fits = []
    for spectrum in spectra:
        contrasts = make_contrasts(spectrum.project(X if judged is None else judged))
        fits.append((*contrasts.best_time(), spectrum, contrasts))
    time, _, spectrum, contrasts = min(fits, key=lambda fit: fit[1])
    if judged is not None:
        contrasts = make_contrasts(spectrum.project(X))
    return MixedChoice(spectrum, time, contrasts).solve(X, factor)


def scaled_time(time: float, w: FloatArray, factor: float) -> float:
    """Return the stopping time of a penalty times a factor, at most the largest of the grid."""
    if factor == 1.0:
        return time
    return min(time / factor, max(time, float(time_grid(w)[-1])))


def expected_bias(
    spread: FloatArray, products: FloatArray, noise: float, sd: FloatArray
) -> FloatArray:
    """Return the second moments (q, q) of the bias that the prior of f leaves.

    Parameters
    ----------
    spread : FloatArray of shape (q, q)
        As in `MixedFit`.
    products : FloatArray of shape (q, q)
        `rows' rows`.
    noise : float
        Standard deviation of the noise, in the units of y.
    sd : FloatArray of shape (q,)
        Units of the treatments.
    """
    values, vectors = np.linalg.eigh(spread - products)
    half = noise * np.sqrt(np.maximum(values, 0.0)) * vectors / sd[:, None]
    return np.asarray(half @ half.T)


@dataclass(frozen=True)
class Contrasts:
    """Standardized outcome and treatments in the coordinates of a decomposition.

    Attributes
    ----------
    w : FloatArray of shape (k,)
        Eigenvalues.
    y : FloatArray of shape (k,)
    D : FloatArray of shape (k, q)
    count : int
        Degrees of freedom, n - 1 - q.
    """

    w: FloatArray
    y: FloatArray
    D: FloatArray
    count: int

    def criterion(self, time: float) -> float:
        """Twice the negative restricted log-likelihood at stopping time `time`, up to a constant.

        `(n - 1 - q) log(RSS) + log|D' r D| - sum log r`, with RSS the generalized residual sum of
        squares and s^2 profiled out.
        """
        r, gram, _, rss = self.solve(time)
        log_determinant = 2 * np.log(np.diag(np.linalg.cholesky(gram))).sum()
        logarithms = log_determinant - np.log(r).sum()
        return float(self.count * np.log(max(rss, _TINY)) + logarithms)

    def noise(self, time: float) -> float:
        """Return the standard deviation of the noise, in units of that of the outcome."""
        return float(np.sqrt(max(self.solve(time)[3], 0.0) / self.count))

    def solve(self, time: float) -> tuple[FloatArray, FloatArray, FloatArray, float]:
        """Return `r`, `D' r D`, `D' r y`, and the generalized residual sum of squares."""
        r = 1.0 / (1.0 + self.w * time)
        root = np.sqrt(r)
        # numpy throughout: a small factorization by scipy, whose BLAS has threads of its own, in
        # between numpy's products takes ten times as long
        D, y = root[:, None] * self.D, root * self.y
        gram, moment = D.T @ D, D.T @ y
        rss = float(y @ y - moment @ np.linalg.solve(gram, moment))
        return r, gram, np.asarray(moment), rss

    def best_time(self) -> tuple[float, float]:
        """Return the stopping time of the greatest restricted likelihood, and the criterion."""
        grid = time_grid(self.w)[::_GRID_STRIDE]
        values = [self.criterion(time) for time in grid]
        best = int(np.argmin(values))
        if best == 0:
            return float(grid[0]), values[0]
        low, high = grid[max(best - 1, 1)], grid[min(best + 1, grid.size - 1)]
        found = minimize_scalar(
            lambda log_time: self.criterion(np.exp(log_time)),
            bounds=(np.log(low), np.log(high)),
            method="bounded",
            options={"xatol": 1e-3},
        )
        if found.fun < values[best]:
            at = np.vectorize(lambda log_time: self.criterion(np.exp(log_time)))
            time = float(np.exp(vertex(at, np.asarray(found.x))))
            return time, self.criterion(time)
        return float(grid[best]), values[best]


def make_contrasts(part: Projected) -> Contrasts:
    """Return the contrasts of projected columns, the outcome first."""
    rows = np.vstack([part.T, part.rest])
    w = np.concatenate([part.w, np.zeros(len(part.rest))])
    return Contrasts(w, rows[:, 0], rows[:, 1:], part.directions - (rows.shape[1] - 1))
