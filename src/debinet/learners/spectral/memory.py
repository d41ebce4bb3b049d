"""Memory of decompositions, estimated before it is allocated."""

from __future__ import annotations

from collections.abc import Callable

from debinet.data import free_memory


def require_decompositions(
    bytes_needed: Callable[[int], int], count: int, purpose: str, others: str
) -> None:
    """Raise MemoryLimitError if so many decompositions would not fit.

    Parameters
    ----------
    bytes_needed : callable
        From a number of decompositions, one per skip weight, to the peak of a fit.
    count : int
    purpose : str
        What the memory is for.
    others : str
        What can be used instead, as in "Use ...".
    """
    available, one = free_memory.bytes_available(), bytes_needed(1)
    fixed = ""
    if available is not None and count > 1 and one <= available:
        size = free_memory.gigabytes(one)
        fixed = f"a fixed skip, such as skip=10.0, which takes {size}; or "
    free_memory.require_free(bytes_needed(count), purpose, f"Use {fixed}{others}")
