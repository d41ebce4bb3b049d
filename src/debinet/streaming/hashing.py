"""Random numbers that belong to rows and labels, wherever and in whatever order they are read."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from debinet._random import named_generator
from debinet.exceptions import MissingValueError

Hashes: TypeAlias = npt.NDArray[np.uint64]


def hash_rows(keys: npt.ArrayLike, seed: int) -> Hashes:
    """Return 64 random bits for every key, which may be a row number or a hash: splitmix64."""
    start = named_generator(seed, "rows").integers(2**63, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = np.asarray(keys).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + start
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)), dtype=np.uint64)


def hash_labels(labels: pd.Series) -> Hashes:
    """Return a number for every label, the same in every process; 64 bits, so collisions are rare.

    Numbers that are equal have the same hash, whether they are stored as integers or not.
    """
    if labels.isna().any():
        raise MissingValueError(
            "a group for every row", "missing groups (NaN or None)", "Drop those rows."
        )
    if pd.api.types.is_numeric_dtype(labels.dtype):
        plain = labels.to_numpy(np.float64) + 0.0
        return np.asarray(pd.util.hash_array(plain), dtype=np.uint64)
    texts = labels.astype(str).to_numpy(object)
    return np.asarray(pd.util.hash_array(texts, categorize=True), dtype=np.uint64)
