"""The door's checks: what would make a coefficient meaningless is refused, by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import qr

from debinet.exceptions import (
    CollinearError,
    ConstantColumnError,
    DuplicateColumnError,
    TooFewRowsError,
)
from debinet.protocols import FloatArray

# Columns are called dependent when what is left of one, after the others are projected out, is
# below this share of its own standard deviation: a few thousand times the rounding error.
DEPENDENCE_TOLERANCE = 1e-10


def require_enough_rows(n: int, q: int) -> None:
    """Require more rows than coefficients."""
    if n < 2:
        raise TooFewRowsError(
            "at least 2 rows", f"n_samples = {n} (1 sample)", "Check how the data were read."
        )
    if q >= n:
        raise TooFewRowsError(
            "fewer treatments than rows",
            f"{q} treatments and {n} rows",
            "Name fewer treatments, or let a selector choose them on a part of the rows.",
        )


def require_varying(columns: FloatArray, names: Sequence[str]) -> None:
    """Require that no column is constant."""
    constant = np.flatnonzero(np.ptp(columns, axis=0) == 0)
    if constant.size:
        raise ConstantColumnError(
            "columns that vary",
            f"only one value in {_listed(names, constant)}",
            "Drop them: an intercept is part of every model.",
        )


def require_distinct(columns: FloatArray, names: Sequence[str]) -> None:
    """Require that no two columns are equal."""
    first_with: dict[bytes, int] = {}
    for j in range(columns.shape[1]):
        key = (columns[:, j] + 0.0).tobytes()  # + 0.0 turns -0.0 into 0.0
        if key in first_with:
            raise DuplicateColumnError(
                "columns with different values",
                f"{names[first_with[key]]!r} and {names[j]!r} equal in every row",
                "Drop one of them.",
            )
        first_with[key] = j


def require_independent(D: FloatArray, names: Sequence[str]) -> None:
    """Require that no treatment is a linear combination of the others and a constant."""
    centred = D - D.mean(axis=0)
    dependent = dependent_columns(centred / centred.std(axis=0))
    if dependent:
        raise CollinearError(
            "treatments that are linearly independent",
            f"{_listed(names, dependent)} determined by the others",
            "Drop them, for example one category of a full set of dummies.",
        )


def dependent_columns(scaled: FloatArray) -> list[int]:
    """Return the columns that a pivoted QR finds determined by the others.

    Columns must be scaled so that 1 is the standard deviation one would call large.
    """
    r, pivot = qr(scaled, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(r)) / np.sqrt(scaled.shape[0])
    small = diagonal <= DEPENDENCE_TOLERANCE
    return sorted(int(j) for j in pivot[: diagonal.size][small])


def _listed(names: Sequence[str], positions: Sequence[int] | np.ndarray) -> str:
    shown = ", ".join(repr(names[j]) for j in positions[:5])
    return shown + (f" and {len(positions) - 5} more" if len(positions) > 5 else "")
