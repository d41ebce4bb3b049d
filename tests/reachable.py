"""What an object keeps in memory."""

from __future__ import annotations

import gc
from types import BuiltinFunctionType, FunctionType, ModuleType

import numpy as np


def largest_array(root: object) -> int:
    """Return the number of elements of the largest array that can be reached from an object."""
    largest, seen, todo = 0, set(), [root]
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, type | ModuleType | BuiltinFunctionType):
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            largest = max(largest, one.size)
            # a view keeps what it is a view of
            todo.extend([one.base] if one.dtype != object else [one.base, *one.ravel()])
        elif isinstance(one, FunctionType):
            # not the whole module that it is defined in
            todo.extend([one.__closure__, one.__defaults__, one.__kwdefaults__])
        else:
            todo.extend(gc.get_referents(one))
    return largest
