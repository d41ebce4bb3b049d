"""Threads of the two numerical libraries, numpy's and scipy's."""

from __future__ import annotations

from contextlib import AbstractContextManager

from threadpoolctl import ThreadpoolController


def quiet_scipy() -> AbstractContextManager[object]:
    """Return a context in which scipy's own BLAS, a second library, has one thread.

    Its threads wait for more work by spinning, for longer than an evaluation takes, on the cores
    that numpy's threads need: evaluations took twice the time.
    """
    libraries = ThreadpoolController()
    paths = [library["filepath"] for library in libraries.info()]
    own = [path for path in paths if "scipy.libs" in path]
    limited: AbstractContextManager[object] = libraries.select(filepath=own).limit(limits=1)
    return limited
