"""The Anderson-Rubin statistic of one coefficient, the least over the others."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq, minimize

from debinet.inference.anderson_rubin import Moments
from debinet.protocols import FloatArray

# Directions on a circle on which the whole line is searched: u = tan(angle).
_ANGLES = np.linspace(-np.pi / 2, np.pi / 2, 202)[1:-1]


def profiled(moments: Moments, u: float, kind: str) -> float:
    """Return the least `AR(b)` over all b whose first element is u."""
    if len(moments.outer) == 2:
        return moments.statistic(np.array([u]))
    if kind == "iid":
        return _least_eigenvalue(moments, u)
    start = _least_variance(moments, u)
    starts = [start, np.zeros_like(start)]

    def value(others: FloatArray) -> float:
        return moments.statistic(np.concatenate([[u], others]))

    found = [minimize(value, at, method="BFGS", options={"gtol": 1e-7}).fun for at in starts]
    return float(min(found))


def profile_ends(moments: Moments, limit: float, kind: str) -> list[float]:
    """Return all u at which the profiled statistic is the limit."""
    if kind == "iid":
        return _schur_ends(moments, limit)

    def excess(angle: float) -> float:
        return profiled(moments, float(np.tan(angle)), kind) - limit

    values = [excess(angle) for angle in _ANGLES]
    crossings = np.flatnonzero(np.diff(np.sign(values)) != 0)
    return [
        float(np.tan(brentq(excess, _ANGLES[i], _ANGLES[i + 1], xtol=1e-12))) for i in crossings
    ]


def _pencil(moments: Moments, u: float) -> tuple[FloatArray, FloatArray]:
    """Return outer and inner products of `y - u D_1` and the other treatments."""
    C = np.delete(np.eye(len(moments.outer)), 1, axis=1)
    C[1, 0] = -u
    return C.T @ moments.outer @ C, C.T @ moments.inner @ C


def _least_eigenvalue(moments: Moments, u: float) -> float:
    outer, inner = _pencil(moments, u)
    return float(moments.rest * eigh(outer, inner, eigvals_only=True)[0])


def _least_variance(moments: Moments, u: float) -> FloatArray:
    """Return the others at which the statistic of equal variances is least."""
    outer, inner = _pencil(moments, u)
    direction = eigh(outer, inner)[1][:, 0]
    if abs(direction[0]) < 1e-8 * np.abs(direction).max():
        return np.zeros(len(direction) - 1)
    return np.asarray(-direction[1:] / direction[0])


def _schur_ends(moments: Moments, limit: float) -> list[float]:
    """Return the roots of `det(outer - limit / rest inner)`, a quadratic in u."""
    H = moments.outer - limit / moments.rest * moments.inner
    block, cross, corner = H[2:, 2:], H[:2, 2:], H[:2, :2]
    if np.linalg.eigvalsh(block)[0] <= 0:
        return []  # the other treatments explain any u
    S = corner - cross @ np.linalg.solve(block, cross.T)
    roots = np.roots([S[1, 1], -2 * S[0, 1], S[0, 0]])
    return [float(root.real) for root in roots if np.isreal(root)]
