"""One `random_state` becomes many generators, each derived from a name.

Streams depend on names, not on the order of calls, so workers and restarts change nothing.
"""

from __future__ import annotations

from typing import TypeAlias
from zlib import crc32

import numpy as np

from debinet.exceptions import OptionError

RandomState: TypeAlias = int | np.integer | np.random.RandomState | np.random.Generator | None


def root_seed(random_state: RandomState) -> int:
    """Return the integer from which all randomness of one fit is derived.

    Passing the returned integer as `random_state` repeats the fit, also when `None` was passed.
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state)
    raise OptionError(
        "random_state to be None, a non-negative integer or a numpy random generator",
        repr(random_state),
        "Pass an integer such as random_state=0 for a repeatable result.",
    )


def named_generator(seed: int, *names: str | int) -> np.random.Generator:
    """Return the generator that belongs to `names` under `seed`."""
    key = [crc32(str(name).encode()) for name in names]
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def named_seed(seed: int, *names: str | int) -> int:
    """Return an integer seed (below 2**31, as scikit-learn requires) that belongs to `names`."""
    return int(named_generator(seed, *names).integers(2**31 - 1))
