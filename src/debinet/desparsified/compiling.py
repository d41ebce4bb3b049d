"""The loops of `DebiasedLasso`, compiled or loaded before the work starts."""

from __future__ import annotations

from functools import cache

import numpy as np

from debinet.learners.progress import Progress

# Seconds before something is shown: compiled loops are loaded from the cache in one.
_DELAY = 2.0


@cache
def compile_loops(delay: float = _DELAY) -> None:
    """Compile the loops, on two columns; say so on stderr if that takes long.

    Even if not asked to be verbose: it happens once on a machine, and looks as if nothing happened.
    """
    what = "DebiasedLasso compiles its loops, once on this machine"
    with Progress(True, delay).count(what, 1, "step"):
        from debinet.desparsified.kernels import largest_correlation, regress_columns

        gram, X, none = np.eye(2), np.ones((2, 2)), np.empty((0, 0))
        largest_correlation(gram)
        filled = np.ones(2), np.empty((2, 2)), np.zeros(2, np.int64), np.zeros(2, np.bool_)
        penalties, left, sizes, done = filled
        # of views, like the blocks of columns that the work is divided into
        regress_columns(gram, none, X, penalties[:], 1.25, 0, left[:], sizes[:], done[:])
