"""The Anderson-Rubin statistic of one coefficient, the least over the others."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize

from debinet.inference.anderson_rubin import InstrumentMoments
from debinet.inference.interval_union import union_between
from debinet.inference.quadratic_ends import quadratic_ends
from debinet.protocols import FloatArray

# Directions on a circle on which the whole line is searched: u = tan(angle).
_ANGLES = np.linspace(-np.pi / 2, np.pi / 2, 202)[1:-1]


# A boundary is found to this angle.
_SHARP = 1e-12


def accepts(moments: InstrumentMoments, u: float, limit: float, kind: str) -> bool:
    """Return whether `AR(b)` is within the limit for any b whose first element is u."""
    others = len(moments.outer) - 2
    if not others:
        return moments.statistic(np.array([u])) <= limit
    if kind == "iid":
        return _least_eigenvalue(moments, u) <= limit
    if others > 1:
        return _least_statistic(moments, u) <= limit
    given = moments.given(u)

    def inside(other: float) -> bool:
        return given.statistic(np.array([other])) <= limit

    return bool(union_between(quadratic_ends(given, limit), inside).intervals)


def projected_ends(moments: InstrumentMoments, limit: float, kind: str) -> list[float]:
    """Return all u at which values begin or cease to be accepted."""
    if kind == "iid":
        return _schur_ends(moments, limit)
    inside = [accepts(moments, float(np.tan(angle)), limit, kind) for angle in _ANGLES]
    ends = []
    for i in np.flatnonzero(np.diff(inside)):
        low, high = float(_ANGLES[i]), float(_ANGLES[i + 1])
        while high - low > _SHARP:
            middle = (low + high) / 2
            if accepts(moments, float(np.tan(middle)), limit, kind) == inside[i]:
                low = middle
            else:
                high = middle
        ends.append(float(np.tan((low + high) / 2)))
    return ends


def _least_statistic(moments: InstrumentMoments, u: float) -> float:
    """Return the least statistic over several others, from two starts."""
    start = _least_variance(moments, u)

    def value(others: FloatArray) -> float:
        return moments.statistic(np.concatenate([[u], others]))

    found = [minimize(value, at, method="BFGS").fun for at in (start, np.zeros_like(start))]
    return float(min(found))


def _pencil(moments: InstrumentMoments, u: float) -> tuple[FloatArray, FloatArray]:
    """Return outer and inner products of `y - u D_1` and the other treatments."""
    given = moments.given(u)
    return given.outer, given.inner


def _least_eigenvalue(moments: InstrumentMoments, u: float) -> float:
    outer, inner = _pencil(moments, u)
    return float(moments.rest * eigh(outer, inner, eigvals_only=True)[0])


def _least_variance(moments: InstrumentMoments, u: float) -> FloatArray:
    """Return the others at which the statistic of equal variances is least."""
    outer, inner = _pencil(moments, u)
    direction = eigh(outer, inner)[1][:, 0]
    if abs(direction[0]) < 1e-8 * np.abs(direction).max():
        return np.zeros(len(direction) - 1)
    return np.asarray(-direction[1:] / direction[0])


def _schur_ends(moments: InstrumentMoments, limit: float) -> list[float]:
    """Return the roots of `det(outer - limit / rest inner)`, a quadratic in u."""
    H = moments.outer - limit / moments.rest * moments.inner
    block, cross, corner = H[2:, 2:], H[:2, 2:], H[:2, :2]
    if np.linalg.eigvalsh(block)[0] <= 0:
        return []  # the other treatments explain any u
    S = corner - cross @ np.linalg.solve(block, cross.T)
    roots = np.roots([S[1, 1], -2 * S[0, 1], S[0, 0]])
    return [float(root.real) for root in roots if np.isreal(root)]
