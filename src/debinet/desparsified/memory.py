"""Say how much memory the desparsified Lasso takes before it is taken."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from debinet.exceptions import MemoryLimitError

_MEMINFO = Path("/proc/meminfo")
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


def bytes_needed(n: int, p: int) -> int:
    """Return the peak of a fit on n rows and p columns: two p x p and six n x p matrices.

    The Gram matrix is one p x p matrix, shared by all regressions and gone before the covariance,
    the other one, is made; a second is the copy that the result keeps for itself, or, with a
    penalty chosen by cross-validation, the Gram matrix of the training rows. The n x p matrices are
    the data as read, standardized, what is left of each column, and three that the result keeps.
    """
    return 8 * (2 * p * p + 6 * n * p)


def bytes_available() -> int | None:
    """Return what the machine, or the container, can still give; None if it does not say."""
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


def require_memory(n: int, p: int) -> None:
    """Raise MemoryLimitError if a fit on n rows and p columns would not fit."""
    needed, available = bytes_needed(n, p), bytes_available()
    if available is not None and needed > available:
        raise MemoryLimitError(
            f"{needed / 1e9:.2g} GB of free memory for DebiasedLasso on {n} rows and {p} columns",
            f"{available / 1e9:.2g} GB",
            "Use fewer columns, for example those that vary most, as the memory grows with the "
            "square of their number.",
        )
