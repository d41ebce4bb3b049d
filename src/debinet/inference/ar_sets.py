"""Anderson-Rubin confidence sets of one coefficient: exact, whatever their shape."""

from __future__ import annotations

from collections.abc import Sequence

from scipy import stats

from debinet.inference.anderson_rubin import InstrumentMoments
from debinet.inference.ar_projection import accepts, projected_ends
from debinet.inference.interval_union import IntervalUnion, union_between
from debinet.inference.quadratic_ends import quadratic_ends
from debinet.protocols import FloatArray


def confidence_set(
    repetitions: Sequence[InstrumentMoments],
    level: float,
    center: FloatArray,
    scale: FloatArray,
    kind: str,
) -> IntervalUnion:
    """Return the set of values of the first coefficient that the test does not reject.

    With other endogenous treatments the set is that of the coefficients projected on the first.
    Under equal variances that needs only `k - (their number)` degrees of freedom (Guggenberger,
    Kleibergen, Mavroeidis and Chen 2012), otherwise all k.

    Parameters
    ----------
    repetitions : sequence of InstrumentMoments
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
        accepted = [accepts(moments, u, limit, kind) for moments in units]
        return 2 * sum(accepted) >= len(accepted)

    ends: list[float] = []
    for moments in units:
        ends += (
            projected_ends(moments, limit, kind) if nuisances else quadratic_ends(moments, limit)
        )
    found = union_between(ends, inside)
    return IntervalUnion(
        tuple(
            (center[0] + scale[0] * low, center[0] + scale[0] * high)
            for low, high in found.intervals
        )
    )
