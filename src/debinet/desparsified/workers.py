"""Threads for a compiled computation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from joblib import Parallel, cpu_count, delayed

from debinet.exceptions import OptionError

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
    if n_jobs is None:
        return int(cpu_count())
    if isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool) and n_jobs != 0:
        return int(n_jobs) if n_jobs > 0 else max(1, int(cpu_count()) + 1 + int(n_jobs))
    raise OptionError(
        "n_jobs to be None or an integer other than 0", repr(n_jobs), "Use None for all cores."
    )
