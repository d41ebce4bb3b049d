"""The `bandwidth` of the smoothers, given or chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from debinet.data.options import switch
from debinet.exceptions import OptionError
from debinet.learners.smoothers.feature_search import search_features
from debinet.learners.smoothers.leave_one_out import choose_bandwidths
from debinet.learners.smoothers.smoothing import Local
from debinet.protocols import FloatArray

# Beyond these limits the nearest neighbour has all the weight, or all rows have the same weight;
# squares of such bandwidths would overflow.
_LEAST, _MOST = 1e-50, 1e50


def find_bandwidths(local: Local, kernel: str, bandwidth: Any, per_feature: Any) -> FloatArray:
    """Return the bandwidths, of shape (m,) or (m, p), that the options ask for."""
    switch("per_feature", per_feature)
    if isinstance(bandwidth, str) and bandwidth == "loo":
        chosen = choose_bandwidths(local, kernel)
        return search_features(local, kernel, chosen) if per_feature else chosen
    if per_feature:
        raise OptionError(
            "bandwidth='loo' with per_feature=True, which is about choosing bandwidths",
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
