"""The restricted likelihood of a mixed model, in the coordinates of a decomposition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from debinet.learners.wide.tuning import time_grid, vertex
from debinet.protocols import FloatArray

# The grid brackets the optimum, which Brent's method then finds: every second time is enough.
_GRID_STRIDE = 2
_TINY = np.finfo(np.float64).tiny


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
        r, rss, gram = self._solve(time)
        log_determinant = 2 * np.log(np.diag(np.linalg.cholesky(gram))).sum()
        logarithms = log_determinant - np.log(r).sum()
        return float(self.count * np.log(max(rss, _TINY)) + logarithms)

    def noise(self, time: float) -> float:
        """Return the standard deviation of the noise, in units of that of the outcome."""
        return float(np.sqrt(max(self._solve(time)[1], 0.0) / self.count))

    def _solve(self, time: float) -> tuple[FloatArray, float, FloatArray]:
        """Return what is left of each direction, the generalized residual sum, and `D' r D`."""
        r = 1.0 / (1.0 + self.w * time)
        root = np.sqrt(r)
        # numpy throughout: a small factorization by scipy, whose BLAS has threads of its own, in
        # between numpy's products takes ten times as long
        D, y = root[:, None] * self.D, root * self.y
        gram, moment = D.T @ D, D.T @ y
        return r, float(y @ y - moment @ np.linalg.solve(gram, moment)), gram

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
