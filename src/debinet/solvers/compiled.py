"""Compilation of loops; imported only where one runs, as importing numba takes a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Loop = TypeVar("Loop", bound=Callable[..., Any])


def compiled(loop: Loop) -> Loop:
    """Compile without the interpreter's lock, and cache the machine code where possible.

    If no folder can be written to, numba refuses to cache; the loop is then compiled again in every
    process, with the same result.
    """
    try:
        return cast(Loop, njit(cache=True, nogil=True)(loop))
    except (RuntimeError, OSError):
        return cast(Loop, njit(nogil=True)(loop))
