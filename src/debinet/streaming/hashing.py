"""Random numbers that belong to rows and labels, wherever and in whatever order they are read."""

from __future__ import annotations

from typing import Any, TypeAlias

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

    Labels that are equal have the same hash, whatever the type of the column, whatever is beside
    them in it: the same label may be read from several files.
    """
    if labels.isna().any():
        raise MissingValueError(
            "a group for every row", "missing groups (NaN or None)", "Drop those rows."
        )
    values = labels.astype(object).infer_objects().to_numpy()
    if values.dtype.kind in "biuf":
        return np.asarray(pd.util.hash_array(_bits(values)), dtype=np.uint64)
    # One by one: as a column, times are written without their hours if all are midnights.
    texts = np.array([str(label) for label in labels], dtype=object)
    return np.asarray(pd.util.hash_array(texts, categorize=True), dtype=np.uint64)


def _bits(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return numbers as integers of 64 bits, of which floats would hold only 53."""
    if values.dtype.kind != "f":
        return values.astype(np.int64)
    plain = values.astype(np.float64)
    whole = (plain == np.floor(plain)) & (np.abs(plain) < 2.0**63)
    return np.where(whole, np.where(whole, plain, 0.0).astype(np.int64), plain.view(np.int64))
