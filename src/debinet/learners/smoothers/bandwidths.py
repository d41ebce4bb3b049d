"""The `bandwidth` of the smoothers, given or chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from debinet.data.options import switch
from debinet.exceptions import OptionError
from debinet.learners.smoothers.kernels import rough_weights
from debinet.learners.smoothers.leave_one_out import best, choose_bandwidths
from debinet.learners.smoothers.rows import Neighbourhood, each_without_itself
from debinet.learners.smoothers.smoothing import Local, smooth
from debinet.protocols import FloatArray

# Beyond these limits the nearest neighbour has all the weight, or all rows have the same weight;
# squares of such bandwidths would overflow.
_LEAST, _MOST = 1e-50, 1e50
# A bandwidth is multiplied or divided by these, one after the other, in sweeps over all features.
_FACTORS = (4.0, 2.0, np.sqrt(2.0))
# In standard deviations: the start for a feature of no use so far; the bandwidth below which
# infinity is not tried again; and the smallest bandwidth.
_START = 2.0
_NARROW = 1.0
_LEAST_TRIED = 1e-3


def find_bandwidths(local: Local, kernel: str, bandwidth: Any, per_feature: Any) -> FloatArray:
    """Return the bandwidths, of shape (m,) or (m, p), that the options ask for."""
    switch("per_feature", per_feature)
    if isinstance(bandwidth, str) and bandwidth == "loo":
        chosen = choose_bandwidths(local, kernel)
        return search_features(local, kernel, chosen) if per_feature else chosen
    if per_feature:
        raise OptionError(
            "bandwidth='loo' with per_feature=True, which chooses bandwidths",
            repr(bandwidth),
            "Leave per_feature out: the shape of bandwidth is enough.",
        )
    given = _given(bandwidth, local.rows.M.shape[1], local.rows.Z.shape[1])
    return np.where(np.isinf(given), np.inf, np.clip(given, _LEAST, _MOST))


def _given(bandwidth: Any, m: int, p: int) -> FloatArray:
    """Return bandwidths of shape (m,) or (m, p) as given."""
    if isinstance(bandwidth, (str, bool, type(None))):
        raise _refused(repr(bandwidth), m, p)
    try:
        numbers = np.asarray(bandwidth, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise _refused(repr(bandwidth), m, p) from error
    if not (numbers > 0).all():
        raise _refused(repr(bandwidth), m, p)
    if numbers.ndim == 0:
        return np.full(m, float(numbers))
    if numbers.ndim == 1:
        return _vector(numbers, m, p)
    if numbers.shape in {(m, p), (1, p)}:
        return np.broadcast_to(numbers, (m, p)).copy()
    if numbers.shape == (m, 1):
        return numbers[:, 0]
    raise _refused(f"shape {numbers.shape}", m, p)


def _vector(numbers: FloatArray, m: int, p: int) -> FloatArray:
    if m == p and m > 1 and numbers.size == m:
        raise OptionError(
            f"bandwidth of shape ({m}, 1), one per output, or (1, {p}), one per feature, as there "
            "are as many outputs as features",
            f"shape ({m},)",
            "Reshape it.",
        )
    if numbers.size == m:
        return numbers
    if numbers.size == p:
        return np.tile(numbers, (m, 1))
    raise _refused(f"shape {numbers.shape}", m, p)


def _refused(came: str, m: int, p: int) -> OptionError:
    return OptionError(
        f"bandwidth to be 'loo', a positive number, which may be infinite, or an array of them of "
        f"shape ({m},), ({p},) or ({m}, {p})",
        came,
        "Use bandwidth='loo'.",
    )


def search_features(local: Local, kernel: str, start: FloatArray) -> FloatArray:
    """Return bandwidths (m, p), each the best of those tried, given the others.

    Parameters
    ----------
    local : Local
        n rows with m targets and p features.
    kernel : str
        A key of `KERNELS`.
    start : FloatArray of shape (m,)
        The best bandwidths that are the same for all features.
    """
    outputs = np.arange(start.size)
    bandwidth = np.repeat(start[:, None], local.rows.Z.shape[1], axis=1)
    bandwidth[:, ~local.rows.Z.any(axis=0)] = np.inf
    error = _error(local, kernel, bandwidth)
    for factor in _FACTORS:
        for k in np.flatnonzero(local.rows.Z.any(axis=0)):
            tried = _candidates(bandwidth[:, k], factor)
            found = _errors_along(local, kernel, bandwidth, int(k), tried)
            known = tried == bandwidth[:, k]
            found[known] = np.broadcast_to(error, found.shape)[known]
            chosen = best(found)
            bandwidth[:, k], error = tried[chosen, outputs], found[chosen, outputs]
    return bandwidth


def _error(local: Local, kernel: str, bandwidth: FloatArray) -> FloatArray:
    """Return the leave-one-out error (m,) at bandwidths (m, p)."""
    rows = local.rows
    residuals = rows.M - smooth(local, kernel, each_without_itself(rows), bandwidth)
    return np.asarray(rows.weight @ residuals**2 / rows.weight.sum())


def _candidates(h: FloatArray, factor: float) -> FloatArray:
    """Return bandwidths to try (4, m): infinity, larger, the same, smaller."""
    around = np.where(np.isinf(h), _START, h)
    widest = np.where((h < _NARROW) & (factor < _FACTORS[0]), h, np.inf)
    return np.maximum([widest, around * factor, around, around / factor], _LEAST_TRIED)


def _errors_along(
    local: Local, kernel: str, bandwidth: FloatArray, k: int, tried: FloatArray
) -> FloatArray:
    """Return leave-one-out errors (c, m) for c bandwidths of feature k; known ones stay zero."""
    rows = local.rows
    points = each_without_itself(rows)
    total = np.zeros(tried.shape)
    others = 1.0 / bandwidth
    others[:, k] = 0.0
    single = [local.of(np.array([j])) for j in range(bandwidth.shape[0])]
    for part in points.chunks(rows):
        along = np.subtract.outer(rows.Z[part, k], rows.Z[:, k]) ** 2
        scaled = np.empty_like(along)
        for j, one in enumerate(single):
            rest = points.distances(part, rows, others[j])
            for c in np.flatnonzero(tried[:, j] != bandwidth[j, k]):
                np.multiply(along, tried[c, j] ** -2.0, out=scaled)
                scaled += rest
                W = rough_weights(kernel, scaled)
                whole = np.isinf(tried[c, j]) and not others[j].any()
                near = Neighbourhood(rows.Z[part], W, bool(whole))
                error = rows.M[part, j] - one.at(near)[:, 0]
                total[c, j] += rows.weight[part] @ error**2
    return np.asarray(total / rows.weight.sum())
