"""Say how much memory a decomposition of features takes before it is taken."""

from __future__ import annotations

from debinet.data.free_memory import bytes_available, gigabytes
from debinet.exceptions import MemoryLimitError


def bytes_needed(n: int, features: int, decompositions: int) -> int:
    """Return the peak of a fit on `n` rows with that many features and decompositions.

    Every decomposition keeps an n x m matrix, the last in the place of the features, and an m x m
    one (m x n if n is less). The last one to be computed also needs four square matrices.
    """
    small = min(n, features)
    kept = decompositions * features * (n + small)
    return 8 * (kept + 4 * small * small)


def require_memory(n: int, features: int, decompositions: int) -> None:
    """Raise MemoryLimitError if a fit of `n` rows and that many features would not fit."""
    needed, available = bytes_needed(n, features, decompositions), bytes_available()
    if available is None or needed <= available:
        return
    smaller = bytes_needed(n, features, 1)
    fixed = (
        f"Use a fixed skip, such as skip=10.0, which takes {gigabytes(smaller)}; or "
        if decompositions > 1 and smaller <= available
        else "Use "
    )
    raise MemoryLimitError(
        f"{gigabytes(needed)} of memory for {n} rows and {features} features",
        gigabytes(available),
        f"{fixed}fewer hidden units or knots: memory is proportional to them.",
    )
