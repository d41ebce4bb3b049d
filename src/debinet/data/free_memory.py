"""Memory: checked before a large matrix is allocated, and saved by working on a few rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from debinet.exceptions import MemoryLimitError

_MEMINFO = Path("/proc/meminfo")
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
# Elements that are worked on at a time: temporaries stay below 4 MB each, and below an eighth of
# the matrix.
_CHUNK = 2**19
# Less than this is in the processor's cache anyway.
_WORTH = 2**15


def bytes_available() -> int | None:
    """Return the free memory of the machine or the container; None if it is not known."""
    found = []
    with suppress(OSError, ValueError, IndexError):
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                found.append(1024 * int(line.split()[1]))
    if not found:
        try:
            found.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        except (AttributeError, OSError, ValueError):
            return None
    with suppress(OSError, ValueError):  # no container, or the limit is the word "max"
        found.append(int(_CONTAINER_LIMIT.read_text()))
    return min(found)


def gigabytes(count: int) -> str:
    """Show a number of bytes."""
    return f"{count / 1e9:.2g} GB"


def require_free(needed: int, purpose: str, remedy: str) -> None:
    """Raise MemoryLimitError if so many bytes are not free.

    Parameters
    ----------
    needed : int
    purpose : str
        What the memory is for, such as "for 100 rows".
    remedy : str
    """
    available = bytes_available()
    if available is not None and needed > available:
        raise MemoryLimitError(
            f"{gigabytes(needed)} of free memory {purpose}", gigabytes(available), remedy
        )


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
    available, one = bytes_available(), bytes_needed(1)
    fixed = ""
    if available is not None and count > 1 and one <= available:
        size = gigabytes(one)
        fixed = f"a fixed skip, such as skip=10.0, which takes {size}; or "
    require_free(bytes_needed(count), purpose, f"Use {fixed}{others}")


def row_chunks(rows: int, columns: int, size: int = _CHUNK) -> Iterator[slice]:
    """Yield slices of rows, each of at most `size` elements.

    At least eight of them, to save memory, unless they would be too small to be worth it.
    """
    step = max(1, min(size, max(_WORTH, rows * columns // 8)) // max(columns, 1))
    for start in range(0, rows, step):
        yield slice(start, start + step)
