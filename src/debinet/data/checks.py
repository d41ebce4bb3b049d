"""Checks of the data on entry: columns that make a coefficient meaningless are refused by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy.linalg import qr

from debinet.data.outcome_columns import require_not_outcome
from debinet.exceptions import (
    CollinearError,
    ConstantColumnError,
    DuplicateColumnError,
    InputError,
    LengthError,
    TooFewRowsError,
)
from debinet.protocols import FloatArray

# Columns are called dependent when what is left of one, after the others are projected out, is
# below this share of its own standard deviation: a few thousand times the rounding error.
DEPENDENCE_TOLERANCE = 1e-10

# Least eigenvalue of the Gram matrix of scaled columns above which no column can be dependent.
CLEARLY_INDEPENDENT = 1e-6

# With fewer degrees of freedom, standard errors are meaningless.
SPARE_ROWS = 3
LARGEST = 1e100
# Columns that differ in these rows need not be compared in the others.
_FIRST_ROWS = 16


def require_length(length: int, n: int, role: str) -> None:
    """Require one entry per row."""
    if length != n:
        raise LengthError(
            f"{role} to have one entry per row ({n})",
            f"inconsistent numbers of samples: {length} entries",
            "Check how X and the other inputs were filtered or sorted.",
        )


def require_enough_rows(n: int, q: int) -> None:
    """Require a few more rows than coefficients."""
    if n < q + SPARE_ROWS:
        rows = "1 sample" if n == 1 else f"{n} rows"
        raise TooFewRowsError(
            f"at least {SPARE_ROWS} rows (of positive weight) more than treatments",
            f"{q} treatments and {rows} (n_samples = {n})",
            "Name fewer treatments, or let DebiNet select them from all columns.",
        )


def require_usable(
    size: FloatArray, spread: FloatArray, names: Sequence[str], rounding: float = 0.0
) -> None:
    """Require columns that vary, on scales whose squares and ratios neither over- nor underflow.

    Parameters
    ----------
    size, spread : FloatArray of shape (p,)
        Largest absolute value, and range or standard deviation of each column.
    names : sequence of str
    rounding : float
        A spread below this share of the size is the rounding of a constant.
    """
    constant = np.flatnonzero(spread <= rounding * size)
    if constant.size:
        raise ConstantColumnError(
            "columns that vary",
            f"only one value in {_listed(names, constant)}",
            "Drop them: an intercept is part of every model.",
        )
    extreme = np.flatnonzero((size > LARGEST) | (spread < 1 / LARGEST))
    if extreme.size:
        raise InputError(
            f"columns of ordinary scale, between {1 / LARGEST:g} and {LARGEST:g}",
            f"{_listed(names, extreme)} with values up to {size[extreme[0]]:g}",
            "Express them in other units.",
        )


def require_varying(columns: FloatArray, names: Sequence[str]) -> None:
    """Apply `require_usable` to columns (n, p)."""
    low, high = columns.min(axis=0), columns.max(axis=0)
    require_usable(np.maximum(np.abs(low), np.abs(high)), high - low, names)


def require_distinct(columns: FloatArray, names: Sequence[str]) -> None:
    """Require that no two columns are equal."""
    copies = find_copies(columns)
    if copies:
        j, first = next(iter(copies.items()))
        raise DuplicateColumnError(
            "columns with different values",
            f"{names[first]!r} and {names[j]!r} equal in every row",
            "Drop one of them.",
        )


def find_copies(columns: FloatArray) -> dict[int, int]:
    """Return the columns that are copies, each with the first column it is a copy of."""
    first_with: dict[bytes, int] = {}
    copies = {}
    for j in _alike(columns[:_FIRST_ROWS]):
        key = (columns[:, j] + 0.0).tobytes()  # + 0.0 turns -0.0 into 0.0
        first = first_with.setdefault(key, j)
        if first != j:
            copies[j] = first
    return copies


def _alike(columns: FloatArray) -> list[int]:
    """Return the positions of columns that are not the only ones of their values, in order."""
    keys = [column.tobytes() for column in np.ascontiguousarray(columns.T) + 0.0]
    counts = Counter(keys)
    return [j for j, key in enumerate(keys) if counts[key] > 1]


def require_sound(columns: FloatArray, names: Sequence[str], outcome: FloatArray) -> None:
    """Require enough rows, columns and an outcome that vary on ordinary scales, and no duplicates.

    The outcome must not be one of the columns, either.
    """
    n = outcome.size
    if n <= SPARE_ROWS:
        rows = "1 sample" if n == 1 else f"{n} rows"
        raise TooFewRowsError(
            f"more than {SPARE_ROWS} rows", f"{rows} (n_samples = {n})", "Add rows."
        )
    require_varying(columns, names)
    require_varying_outcome(outcome)
    require_distinct(columns, names)
    require_not_outcome(columns, names, outcome)


def require_varying_outcome(outcome: FloatArray) -> None:
    """Require an outcome (n,) with more than one value, on an ordinary scale."""
    if outcome.min() == outcome.max():
        raise ConstantColumnError(
            "an outcome y that varies",
            f"the value {outcome[0]:g} in every row",
            "Check which column y is, and how the rows were selected.",
        )
    require_varying(outcome[:, None], ("y",))


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


def dependent_columns(scaled: FloatArray, tolerance: float = DEPENDENCE_TOLERANCE) -> list[int]:
    """Return the columns that a pivoted QR finds determined by the others.

    Columns must be scaled so that 1 is a large standard deviation. At most a share `tolerance` of
    them is left.
    """
    # The q x q Gram matrix settles nearly all cases faster than a pivoted QR. It squares the
    # condition number, so doubtful cases are left to the QR.
    gram = scaled.T @ scaled / scaled.shape[0]
    if np.linalg.eigvalsh(gram).min() > CLEARLY_INDEPENDENT:
        return []
    r, pivot = qr(scaled, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(r)) / np.sqrt(scaled.shape[0])
    small = diagonal <= tolerance
    return sorted(int(j) for j in pivot[: diagonal.size][small])


def _listed(names: Sequence[str], positions: Sequence[int] | np.ndarray) -> str:
    shown = ", ".join(repr(names[j]) for j in positions[:5])
    return shown + (f" and {len(positions) - 5} more" if len(positions) > 5 else "")
