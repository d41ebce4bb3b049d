"""Random numbers that depend on a row number or a label and the seed, not on how rows are read."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.util import hash_array

from debinet._random import named_generator
from debinet.exceptions import MissingValueError

Hashes: TypeAlias = npt.NDArray[np.uint64]


def hash_rows(keys: npt.ArrayLike, seed: int) -> Hashes:
    """Return 64 random bits for every key, which may be a row number or a hash.

    pandas' hash of integers takes no key, so the seed is the start of a sequence (splitmix64).
    """
    start = named_generator(seed, "rows").integers(2**63, dtype=np.uint64)
    step = np.uint64(0x9E3779B97F4A7C15)
    return np.asarray(hash_array(np.asarray(keys).astype(np.uint64) * step + start))


def hash_labels(labels: pd.Series) -> Hashes:
    """Return a number for every label, the same in every process.

    Equal labels have the same hash, whatever the type of the column and whatever else is in it: the
    same label may be read from several files.
    """
    if labels.isna().any():
        raise MissingValueError(
            "a group for every row", "missing groups (NaN or None)", "Drop those rows."
        )
    values = labels.astype(object).infer_objects().to_numpy()
    if values.dtype.kind in "biuf":
        return np.asarray(hash_array(_as_integers(values)))
    # One by one: a column of times is written without hours if all of them are midnights.
    texts = np.array([str(label) for label in labels], dtype=object)
    return np.asarray(hash_array(texts, categorize=True))


def _as_integers(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return numbers as 64-bit integers: whole ones by value, other floats by their bits."""
    if values.dtype.kind != "f":
        return values.astype(np.int64)
    plain = values.astype(np.float64)
    whole = (plain == np.floor(plain)) & (np.abs(plain) < 2.0**63)
    return np.where(whole, np.where(whole, plain, 0.0).astype(np.int64), plain.view(np.int64))
