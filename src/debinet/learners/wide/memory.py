"""Say how much memory a decomposition takes before it is taken."""

from __future__ import annotations

from debinet.data.free_memory import bytes_available, gigabytes
from debinet.exceptions import MemoryLimitError
from debinet.learners.wide.spectrum import SMALL


def bytes_needed(n: int, decompositions: int) -> int:
    """Return the peak of a fit on `n` rows with that many decompositions kept.

    The last one to be computed needs the matrix, which becomes the eigenvectors, and a work space
    of twice its size; the others are eigenvectors only. A small one is not made in place: input and
    output are copies.
    """
    return 8 * n * n * (decompositions + (4 if n <= SMALL else 2))


def bytes_to_learn(rows: int, depth: int) -> int:
    """Return the peak of a search for the relevance of features on that many rows.

    Two points of the search, each with its eigenvectors and four matrices for every layer on the
    way to its kernel, and the matrices that a gradient goes through.
    """
    return 8 * rows * rows * (12 + 8 * depth)


def require_memory_to_learn(rows: int, depth: int) -> None:
    """Raise MemoryLimitError if a search on that many rows would not fit."""
    needed, available = bytes_to_learn(rows, depth), bytes_available()
    if available is not None and needed > available:
        raise MemoryLimitError(
            f"{gigabytes(needed)} of free memory to learn the relevance of features",
            gigabytes(available),
            "Use relevance='equal', or fewer rows.",
        )


def require_memory(n: int, decompositions: int) -> None:
    """Raise MemoryLimitError if a fit on `n` rows would not fit."""
    needed, available = bytes_needed(n, decompositions), bytes_available()
    if available is None or needed <= available:
        return
    smaller = bytes_needed(n, 1)
    fixed = (
        f"Use a fixed skip, such as skip=10.0, which takes {gigabytes(smaller)}; fewer rows; "
        if decompositions > 1 and smaller <= available
        else "Use fewer rows, "
    )
    raise MemoryLimitError(
        f"{gigabytes(needed)} of free memory for WideNet on {n} rows",
        gigabytes(available),
        f"{fixed}or a learner whose memory does not grow with the square of the rows: "
        "debinet.TangentNet(), the same network through random features, or any regressor.",
    )
