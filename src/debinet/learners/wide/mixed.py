"""The mixed model `y = D coef + N(0, tau K) + noise`: generalized least squares for coef.

In the coordinates of the spectrum the contrasts of y have covariance `s^2 diag(1 / r)`,
`r = 1 / (1 + w t)`, so every quantity of the restricted likelihood costs O(n q^2) per time t.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize_scalar

from debinet.learners.wide.factorization import Factorization
from debinet.learners.wide.inputs import column_moments
from debinet.learners.wide.spectrum import Spectrum
from debinet.learners.wide.tuning import time_grid
from debinet.protocols import FloatArray, Pilot

# The grid brackets the optimum, which Brent's method then finds: every second time is enough.
_GRID_STRIDE = 2
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class _Contrasts:
    """Standardized outcome and treatments in the coordinates of a spectrum.

    Attributes
    ----------
    w : FloatArray of shape (n - 1,)
    y : FloatArray of shape (n - 1,)
    D : FloatArray of shape (n - 1, q)
    """

    w: FloatArray
    y: FloatArray
    D: FloatArray

    def criterion(self, time: float) -> float:
        """Twice the negative restricted log-likelihood at stopping time `time`, up to a constant.

        `(n - 1 - q) log(RSS) + log|D' r D| - sum log r`, with RSS the generalized residual sum of
        squares and s^2 profiled out.
        """
        r = 1.0 / (1.0 + self.w * time)
        weighted = r[:, None] * self.D
        factor = cho_factor(self.D.T @ weighted)
        moment = weighted.T @ self.y
        rss = (r * self.y) @ self.y - moment @ cho_solve(factor, moment)
        count = self.w.size - self.D.shape[1]
        logarithms = 2 * np.log(np.diag(factor[0])).sum() - np.log(r).sum()
        return float(count * np.log(max(float(rss), _TINY)) + logarithms)

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
            return float(np.exp(found.x)), float(found.fun)
        return float(grid[best]), values[best]


def fit_mixed(factorization: Factorization, y: FloatArray, D: FloatArray) -> Pilot:
    """Estimate the coefficients of D under the skip weight and penalty of greatest likelihood.

    Parameters
    ----------
    factorization : Factorization
        Of Z, for the n rows of positive weight.
    y : FloatArray of shape (n,)
    D : FloatArray of shape (n, q)
        Those rows.

    Returns
    -------
    Pilot
        `coef = rows' y`, with `rows` for the n rows.
    """
    root = factorization.root_weight
    scales = column_moments(np.column_stack([y, D]), root**2)
    standardized = root[:, None] * scales.standardize(np.column_stack([y, D]))
    fits = []
    for spectrum in factorization.spectra:
        T = spectrum.V.T @ standardized
        contrasts = _Contrasts(spectrum.w, T[:, 0], T[:, 1:])
        fits.append((*contrasts.best_time(), spectrum, contrasts.D))
    time, _, spectrum, T_D = min(fits, key=lambda fit: fit[1])
    rows = _rows(spectrum, T_D, time) * root[:, None] / scales.sd[1:]
    return Pilot(coef=rows.T @ y, rows=rows)


def _rows(spectrum: Spectrum, T_D: FloatArray, time: float) -> FloatArray:
    """Return `V r T_D (T_D' r T_D)^-1`, of shape (n, q)."""
    weighted = T_D / (1.0 + spectrum.w * time)[:, None]
    solved = np.linalg.solve(T_D.T @ weighted, weighted.T).T
    return np.asarray(spectrum.V @ solved, dtype=np.float64)
