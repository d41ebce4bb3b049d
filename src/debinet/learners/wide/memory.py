"""Memory of the exact network, estimated before it is allocated."""

from __future__ import annotations

from functools import partial

from debinet.data.free_memory import require_free
from debinet.learners.spectral.full import SMALL
from debinet.learners.spectral.memory import require_decompositions


def bytes_needed(n: int, decompositions: int) -> int:
    """Return the peak of a fit on `n` rows with that many decompositions kept.

    The last one to be computed needs the matrix, which becomes the eigenvectors, and a work space
    of twice its size; the others are eigenvectors only. A small one is not made in place: input and
    output are copies.
    """
    return 8 * n * n * (decompositions + (4 if n <= SMALL else 2))


def require_memory(n: int, decompositions: int) -> None:
    """Raise MemoryLimitError if a fit on `n` rows would not fit."""
    require_decompositions(
        partial(bytes_needed, n),
        decompositions,
        f"for WideNet on {n} rows",
        "fewer rows, or a learner whose memory does not grow with the square of the rows: "
        "debinet.TangentNet(), the same network through random features, or any regressor.",
    )


def bytes_to_learn(rows: int, depth: int) -> int:
    """Return the peak of a search for the relevance of features on that many rows.

    Two points of the search, each with its eigenvectors and four matrices for every layer on the
    way to its kernel, and the matrices that a gradient goes through.
    """
    return 8 * rows * rows * (12 + 8 * depth)


def require_memory_to_learn(rows: int, depth: int) -> None:
    """Raise MemoryLimitError if a search on that many rows would not fit."""
    require_free(
        bytes_to_learn(rows, depth),
        "to learn the relevance of features",
        "Use relevance='equal', or fewer rows.",
    )
