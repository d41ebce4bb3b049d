"""Anderson-Rubin confidence sets of one coefficient: exact, whatever their shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg, stats

from debinet.inference.anderson_rubin import Moments
from debinet.inference.ar_projection import profile_ends, profiled
from debinet.inference.interval_union import IntervalUnion, union_between
from debinet.protocols import FloatArray

# Eigenvalues whose imaginary part is smaller than this share of their size are real. Ends that are
# none do no harm: both sides of each are tried.
_REAL = 1e-6


def confidence_set(
    repetitions: Sequence[Moments], level: float, center: FloatArray, scale: FloatArray, kind: str
) -> IntervalUnion:
    """Return the set of values of the first coefficient that the test does not reject.

    With other endogenous treatments the set is that of the coefficients projected on the first.
    Under equal variances that needs only `k - (their number)` degrees of freedom (Guggenberger,
    Kleibergen, Mavroeidis and Chen 2012), otherwise all k.

    Parameters
    ----------
    repetitions : sequence of Moments
        One per repetition of cross-fitting. A value is in the set if it is for at least half of
        them.
    level : float
    center, scale : FloatArray of shape (q,)
        Where to look first, and units.
    kind : str
        Of the covariance.
    """
    nuisances = center.size - 1
    k = repetitions[0].k
    limit = float(stats.chi2.ppf(level, k - nuisances if kind == "iid" else k))
    units = [moments.rescaled(center, scale) for moments in repetitions]

    def inside(u: float) -> bool:
        accepted = [profiled(moments, u, kind) <= limit for moments in units]
        return 2 * sum(accepted) >= len(accepted)

    ends: list[float] = []
    for moments in units:
        ends += profile_ends(moments, limit, kind) if nuisances else quadratic_ends(moments, limit)
    found = union_between(ends, inside)
    return IntervalUnion(
        tuple(
            (center[0] + scale[0] * low, center[0] + scale[0] * high)
            for low, high in found.intervals
        )
    )


def quadratic_ends(moments: Moments, limit: float) -> list[float]:
    """Return all b at which `AR(b)` is the limit.

    `det(limit Omega - m m') = det(limit Omega) (1 - AR / limit)`: they are the real eigenvalues of
    a quadratic matrix polynomial of size k, which are found without its coefficients of degree 2k.
    """
    G, T, k = moments.G, moments.T, moments.k

    def part(s: int, t: int) -> FloatArray:
        return np.asarray(limit * T[s, t] - np.outer(G[:, s], G[:, t]))

    first, second, third = part(0, 0), -(part(0, 1) + part(1, 0)), part(1, 1)
    zero, one = np.zeros((k, k)), np.eye(k)
    left = np.block([[zero, one], [-first, -second]])
    right = np.block([[one, zero], [zero, third]])
    # As ratios: denominators are zero at infinity.
    above, below = linalg.eig(left, right, right=False, homogeneous_eigvals=True)
    finite = np.abs(below) > 1e-14 * np.abs(above)
    values = above[finite] / below[finite]
    real = np.abs(values.imag) <= _REAL * (1 + np.abs(values.real))
    return [float(value) for value in values.real[real]]
