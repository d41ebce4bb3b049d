"""Which rows make the limiting kernel singular.

Rows of unit length act through their directions. Equal rows give equal rows of the kernel, so its
least eigenvalue is 0. Opposite rows z and -z are told apart by ReLU, although the paper's Fact 1
excludes all parallel rows: as functions of w, the gradients `z 1{w'z >= 0}` and `-z 1{w'z < 0}` are
orthogonal. Their difference, however, is z for every w, a constant. So opposite pairs do no harm
if their directions are linearly independent, and make the kernel singular otherwise; the same holds
for leaky ReLU and with both layers trained. For an odd activation (tanh, erf) the
gradients of z and -z are each other's negatives, and one opposite pair makes the kernel singular.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from debinet.exceptions import InputError
from debinet.protocols import FloatArray, IntArray

ODD = ("erf", "tanh")
# Closer than this, the kernel cannot tell directions apart: the cosine of an angle of 1e-7 differs
# from 1 by less than its rounding error.
_SAME = 1e-7


def require_distinct_directions(Z: FloatArray, activation: str) -> None:
    """Require unit rows (n, p) whose limiting kernel is not singular by their directions."""
    equal, opposite = parallel_pairs(Z)
    if len(equal):
        _refuse(equal[0], "the same direction")
    if len(opposite) and activation in ODD:
        _refuse(opposite[0], f"opposite directions, which {activation}, an odd function, confuses")
    directions = Z[opposite[:, 0]]
    if np.linalg.matrix_rank(directions, tol=_SAME) < len(opposite):
        raise InputError(
            "opposite rows (z and -z) only in linearly independent directions",
            f"{len(opposite)} opposite pairs, the first of them rows {_named(opposite[0])}, in "
            f"{Z.shape[1]} columns: the least eigenvalue of the kernel is 0",
            "Drop one row of each pair, or add a column of ones before normalize_rows(Z).",
        )


def parallel_pairs(Z: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the pairs i < j of equal and of opposite unit rows, of shapes (., 2)."""
    cosine = np.triu(Z @ Z.T, k=1)
    pairs = []
    for sign in (1.0, -1.0):
        # the cosine is too coarse for the distance, so it only proposes candidates
        near = np.argwhere(sign * cosine > 1.0 - 1e-5)
        gap = np.linalg.norm(Z[near[:, 0]] - sign * Z[near[:, 1]], axis=1)
        pairs.append(near[gap < _SAME])
    return pairs[0], pairs[1]


def closest_pair(Z: FloatArray) -> tuple[IntArray, float]:
    """Return the two rows (n > 1) on the closest lines, and their angle."""
    cosine = np.abs(np.triu(Z @ Z.T, k=1))
    pair = np.array(np.unravel_index(np.argmax(cosine), cosine.shape))
    return pair, float(np.arccos(min(cosine[tuple(pair)], 1.0)))


def _refuse(pair: IntArray, what: str) -> NoReturn:
    raise InputError(
        "no two parallel rows, so that the least eigenvalue of the kernel is above 0",
        f"rows {_named(pair)} with {what}",
        "Drop one of the two rows, or add a column that tells them apart.",
    )


def _named(pair: IntArray) -> str:
    return f"{pair[0]} and {pair[1]}"
