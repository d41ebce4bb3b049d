"""Free memory of the machine, to be checked before a large matrix is allocated."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from debinet.exceptions import MemoryLimitError

_MEMINFO = Path("/proc/meminfo")
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


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
