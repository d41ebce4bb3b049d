"""What the machine can still give, to be asked before a large matrix is made."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")


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


def gigabytes(count: int) -> str:
    """Show a number of bytes."""
    return f"{count / 1e9:.2g} GB"
