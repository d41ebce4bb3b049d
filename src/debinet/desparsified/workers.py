"""Threads for a compiled computation."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from joblib import Parallel, delayed

from debinet.data.workers import count_workers
from debinet.learners.progress import Counter

# Small enough for threads to finish together, large enough to make starting one cheap.
BLOCK = 32


def in_blocks(
    work: Callable[[slice], object],
    count: int,
    n_jobs: int | None,
    counter: Counter | None = None,
) -> None:
    """Call `work`, in threads, on slices that make up `range(count)`; count what is done.

    The blocks, and with them the result, do not depend on the number of threads. None is all cores,
    as the linear algebra uses them too.
    """
    blocks = [slice(k, min(k + BLOCK, count)) for k in range(0, count, BLOCK)]
    threads = count_workers(-1 if n_jobs is None else n_jobs)
    lock = Lock()

    def counted(block: slice) -> None:
        work(block)
        if counter is not None:
            with lock:
                counter.advance(block.stop - block.start)

    Parallel(n_jobs=threads, backend="threading")(delayed(counted)(block) for block in blocks)
