"""Threads of the two numerical libraries, numpy's and scipy's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from threading import Lock
from types import TracebackType
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")


def quiet_scipy() -> AbstractContextManager[object]:
    """Return a context in which scipy's own BLAS, a second library, has one thread.

    Its threads wait for more work by spinning, for longer than an evaluation takes, on the cores
    that numpy's threads need: evaluations took twice the time.
    """
    libraries = ThreadpoolController()
    own = _files(libraries, "scipy.libs")
    limited: AbstractContextManager[object] = libraries.select(filepath=own).limit(limits=1)
    return limited


class SingleThreads:
    """A context in which every call of numpy's BLAS has one thread.

    Several calls can then run at the same time. The context may be entered from several threads:
    the first to enter sets the limit, which belongs to the process, and the last to leave lifts it.
    """

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._limit: Any = None
        self._before = 1

    def __enter__(self) -> int:
        """Return how many threads a call had before."""
        with self._lock:
            if not self._inside:
                libraries = ThreadpoolController()
                own = libraries.select(filepath=_files(libraries, "numpy.libs"))
                self._before = max((one["num_threads"] for one in own.info()), default=1)
                self._limit = own.limit(limits=1)
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
_SINGLE_THREADS = SingleThreads()


def run_together(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Run tasks at the same time, one on each of the threads that a call of numpy's BLAS has.

    Results do not depend on the number of threads, as every task uses one.
    """
    with _SINGLE_THREADS as threads:
        if threads == 1:
            return [task() for task in tasks]
        with ThreadPoolExecutor(min(threads, len(tasks))) as workers:
            return list(workers.map(lambda task: task(), tasks))


def _files(libraries: ThreadpoolController, folder: str) -> list[str]:
    paths = [library["filepath"] for library in libraries.info()]
    return [path for path in paths if folder in path]
