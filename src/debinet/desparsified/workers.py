"""Threads for a compiled computation."""

from __future__ import annotations

from collections.abc import Callable

from joblib import Parallel, cpu_count, delayed

from debinet.data.workers import count_workers

# Small enough for threads to finish together, large enough to make starting one cheap.
BLOCK = 32


def in_blocks(work: Callable[[slice], object], count: int, n_jobs: int | None) -> None:
    """Call `work`, in threads, on slices that make up `range(count)`.

    The blocks, and with them the result, do not depend on the number of threads.
    """
    blocks = [slice(k, min(k + BLOCK, count)) for k in range(0, count, BLOCK)]
    Parallel(n_jobs=thread_count(n_jobs), backend="threading")(
        delayed(work)(block) for block in blocks
    )


def thread_count(n_jobs: int | None) -> int:
    """Return a number of threads: all cores for None, as the linear algebra uses them too."""
    return int(cpu_count()) if n_jobs is None else count_workers(n_jobs)
