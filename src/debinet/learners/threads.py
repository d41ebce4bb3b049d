"""Threads of the two numerical libraries, numpy's and scipy's."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def quiet_scipy() -> AbstractContextManager[object]:
    """Return a context in which scipy's own BLAS, a second library, has one thread.

    Its threads wait for more work by spinning, for longer than an evaluation takes, on the cores
    that numpy's threads need: evaluations took twice the time.
    """
    limited: AbstractContextManager[object] = _scipy_libraries().limit(limits=1)
    return limited


@cache
def _scipy_libraries() -> ThreadpoolController:
    """Return scipy's own BLAS, looked up once: that takes several milliseconds."""
    import scipy.linalg  # noqa: F401 - so that it is loaded

    libraries = ThreadpoolController()
    paths = [library["filepath"] for library in libraries.info()]
    return libraries.select(filepath=[path for path in paths if "scipy.libs" in path])
