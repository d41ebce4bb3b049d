"""Say how much memory the desparsified Lasso takes before it is taken."""

from __future__ import annotations

from debinet.data.free_memory import bytes_available, gigabytes
from debinet.exceptions import MemoryLimitError


def bytes_needed(n: int, p: int) -> int:
    """Return the peak of a fit on n rows and p columns: two p x p and six n x p matrices.

    The Gram matrix is one p x p matrix, shared by all regressions and gone before the covariance is
    made; the second is its inverse, where penalties are small, or, with a penalty chosen by
    cross-validation, the Gram matrix of the training rows. The n x p matrices are the data as read,
    standardized, what is left of each column, and three that the result keeps.
    """
    return 8 * (2 * p * p + 6 * n * p)


def require_memory(n: int, p: int) -> None:
    """Raise MemoryLimitError if a fit on n rows and p columns would not fit."""
    needed, available = bytes_needed(n, p), bytes_available()
    if available is not None and needed > available:
        raise MemoryLimitError(
            f"{gigabytes(needed)} of free memory for DebiasedLasso on {n} rows and {p} columns",
            gigabytes(available),
            "Use fewer columns, for example those that vary most, as the memory grows with the "
            "square of their number.",
        )
