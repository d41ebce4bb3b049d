"""The mixed model `y = D coef + N(0, tau F F') + noise`: generalized least squares for coef.

In the coordinates of the decomposition the contrasts of y have covariance `s^2 diag(1 / r)`, with
`r = 1 / (1 + w t)` and r = 1 for the directions of eigenvalue 0. Of the latter, only the inner
products of y and D matter: a triangular factor of them stands for all, and a restricted
likelihood costs O(k q^2), whatever n is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize_scalar

from debinet.learners.tangent.factorization import Factorization
from debinet.learners.tangent.lowrank import LowRank
from debinet.learners.tangent.smoother import Smoother
from debinet.learners.tangent.solution import learned_share
from debinet.learners.wide.inputs import column_moments
from debinet.learners.wide.tuning import time_grid
from debinet.protocols import FloatArray, Pilot

# The grid brackets the optimum, which Brent's method then finds: every second time is enough.
_GRID_STRIDE = 2
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class _Contrasts:
    """Standardized outcome and treatments in the coordinates of a decomposition.

    Attributes
    ----------
    w : FloatArray of shape (k + 1 + q,)
        Eigenvalues; the last ones are 0.
    y : FloatArray of shape (k + 1 + q,)
    D : FloatArray of shape (k + 1 + q, q)
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
        r = 1.0 / (1.0 + self.w * time)
        weighted = r[:, None] * self.D
        factor = cho_factor(self.D.T @ weighted)
        moment = weighted.T @ self.y
        rss = (r * self.y) @ self.y - moment @ cho_solve(factor, moment)
        logarithms = 2 * np.log(np.diag(factor[0])).sum() - np.log(r).sum()
        return float(self.count * np.log(max(float(rss), _TINY)) + logarithms)

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
    root = factorization.root_weight[:, None]
    scales = column_moments(np.column_stack([y, D]), factorization.root_weight**2)
    standardized = root * scales.standardize(np.column_stack([y, D]))
    fits = []
    for spectrum in factorization.spectra:
        time, value = _contrasts(spectrum, standardized).best_time()
        fits.append((value, time, spectrum))
    _, time, spectrum = min(fits, key=lambda fit: fit[0])
    share = learned_share(spectrum.w, np.array([time]))
    left = Smoother(spectrum.U, factorization.u, share).residual(standardized[:, 1:])
    solved = np.linalg.solve(standardized[:, 1:].T @ left, left.T).T
    rows = np.asarray(solved * root / scales.sd[1:])
    return Pilot(coef=rows.T @ y, rows=rows)


def _contrasts(spectrum: LowRank, standardized: FloatArray) -> _Contrasts:
    T = spectrum.U.T @ standardized
    n, columns = standardized.shape
    rest = np.zeros((columns, columns))
    if spectrum.w.size < n - 1:
        triangle = np.linalg.qr(standardized - spectrum.U @ T, mode="r")
        rest[: len(triangle)] = triangle
    rows = np.vstack([T, rest])
    w = np.concatenate([spectrum.w, np.zeros(columns)])
    return _Contrasts(w, rows[:, 0], rows[:, 1:], n - columns)
