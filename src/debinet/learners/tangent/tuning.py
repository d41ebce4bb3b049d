"""Criteria for the stopping times of a low-rank kernel, O(k) per output and value.

Of the direction with eigenvalue w ridge regression with penalty `1 / t` leaves the share
`r = 1 / (1 + w t)`, and all of the `n - 1 - k` directions with eigenvalue 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from debinet.learners.wide.tuning import Criterion, time_grid
from debinet.protocols import FloatArray

_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Projected:
    """Standardized, weighted targets as a decomposition sees them.

    Attributes
    ----------
    w : FloatArray of shape (k,)
        Eigenvalues.
    T : FloatArray of shape (k, m)
        `U' M`.
    rest : FloatArray of shape (m,)
        Energy `|M|^2 - |T|^2` in the directions with eigenvalue 0.
    directions : int
        Number of all directions orthogonal to the intercept, n - 1.
    """

    w: FloatArray
    T: FloatArray
    rest: FloatArray
    directions: int

    def grid(self) -> FloatArray:
        """Return the stopping times to try."""
        return time_grid(self.w) if self.w.size else np.zeros(1)

    def energy(self, shares: FloatArray) -> FloatArray:
        """Return `sum T^2 shares + rest` (g, m) for shares (g, m or 1, k)."""
        power = self.T.T**2
        if shares.shape[1] == 1:
            return np.asarray(shares[:, 0, :] @ power.T + self.rest)
        return np.asarray(np.einsum("gmk,mk->gm", shares, power) + self.rest)


def project(w: FloatArray, U: FloatArray, M: FloatArray) -> Projected:
    """Project targets (n, m) that are orthogonal to the intercept."""
    T = U.T @ M
    directions = M.shape[0] - 1
    # not |M|^2 - |T|^2, which may be negative by rounding
    rest = ((M - U @ T) ** 2).sum(axis=0) if w.size < directions else np.zeros(M.shape[1])
    return Projected(w, T, rest, directions)


def reml(projected: Projected) -> Criterion:
    """Return twice the negative profiled restricted log-likelihood, up to a constant.

    `(n - 1) log(sum T^2 r + rest) - sum log r`: eigenvalues of 0 have `log r = 0`.
    """

    def value(times: FloatArray) -> FloatArray:
        x = times[:, :, None] * projected.w
        explained = np.maximum(projected.energy(1.0 / (1.0 + x)), _TINY)
        return np.asarray(projected.directions * np.log(explained) + np.log1p(x).sum(axis=2))

    return value


def gcv(projected: Projected) -> Criterion:
    """Return generalized cross-validation: `n |residual|^2 / trace(I - S)^2`."""
    idle = projected.directions - projected.w.size

    def value(times: FloatArray) -> FloatArray:
        left = 1.0 / (1.0 + times[:, :, None] * projected.w)
        trace = left.sum(axis=2) + idle
        return np.asarray((projected.directions + 1) * projected.energy(left**2) / trace**2)

    return value


CRITERIA: Mapping[str, Callable[[Projected], Criterion]] = MappingProxyType(
    {"reml": reml, "gcv": gcv}
)
