"""How exactly a wide network is solved: by a budget of time, not by a number of rows.

The constants were measured on two cores (docs/decisions/0023). They decide between two forms of the
same estimate, so that other machines get the same results, only sooner or later.
"""

from __future__ import annotations

import numpy as np

# Seconds per cubed row of an eigendecomposition of the kernel, and per elementary operation of
# landmarks: three products of n x m with m x m matrices, and an eigendecomposition of m x m.
_EXACT = 1.3e-10
_OPERATION = 5e-11
_SQUARE, _CUBE = 3, 12
# Seconds that a decomposition may take: some, and more for every row.
_SECONDS, _SECONDS_PER_ROW = 0.25, 3e-5
_LEAST, _MOST = 300, 2000


def seconds_exact(n: int) -> float:
    """Return about how long one exact decomposition of n rows takes."""
    return _EXACT * float(n) ** 3


def solves_exactly(n: int) -> bool:
    """Whether a decomposition of the kernel of n rows is within the budget."""
    return seconds_exact(n) <= _SECONDS + _SECONDS_PER_ROW * n


def landmarks_within(n: int) -> int:
    """Return the number of landmarks for n rows whose decomposition is within the budget."""
    widths = np.arange(_LEAST, _MOST + 1, 10)
    operations = _SQUARE * float(n) * widths**2 + _CUBE * widths.astype(np.float64) ** 3
    fits = widths[_OPERATION * operations <= _SECONDS + _SECONDS_PER_ROW * n]
    return int(fits.max()) if fits.size else _LEAST
