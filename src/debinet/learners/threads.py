"""Threads of the two numerical libraries, numpy's and scipy's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from threading import Lock
from types import TracebackType
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
# Up to so many rows a second thread gains little, and loses much if its core is not idle.
FEW_ROWS = 1500


class SingleThreads:
    """A context in which every call of numpy's and scipy's BLAS has one thread.

    Several calls can then run at the same time, and products of small matrices do not wait for each
    other: the threads of both libraries wait for more work by spinning, on the cores that the other
    one needs. Results do not depend on the number of threads. The context may be entered from
    several threads: the first to enter sets the limit, which belongs to the process, and the last
    to leave lifts it.
    """

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._limit: Any = None
        self._before = 1

    def __enter__(self) -> int:
        """Return how many threads a call had before."""
        with self._lock:
            if not self._inside:
                libraries = _libraries()
                threads = (one["num_threads"] for one in libraries.info())
                self._before = max(threads, default=1)
                self._limit = libraries.limit(limits=1)
            self._inside += 1
            return self._before

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Lift the limit if nobody else needs it."""
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._limit.restore_original_limits()
                self._limit = None


# The limit belongs to the process, and so does who asked for it.
SINGLE_THREADS = SingleThreads()


def threads_for(rows: int) -> AbstractContextManager[Any]:
    """Return a context for closed forms of so many rows: one thread if the matrices are small."""
    return SINGLE_THREADS if rows <= FEW_ROWS else nullcontext()


def run_together(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Run tasks at the same time, one on each of the threads that a call of numpy's BLAS has.

    Results do not depend on the number of threads, as every task uses one.
    """
    with SINGLE_THREADS as threads:
        if threads == 1:
            return [task() for task in tasks]
        with ThreadPoolExecutor(min(threads, len(tasks))) as workers:
            return list(workers.map(lambda task: task(), tasks))


@cache
def _libraries() -> ThreadpoolController:
    """Return the BLAS of numpy and scipy, looked up once: that takes several milliseconds."""
    import scipy.linalg  # noqa: F401 - so that its library is loaded

    return ThreadpoolController().select(user_api="blas")
