"""Blocks of columns that code one category: they share a weight."""

from __future__ import annotations

import numpy as np

from debinet.protocols import BoolArray, FloatArray, IntArray


def one_hot_blocks(Z: FloatArray) -> IntArray:
    """Return the block (p,) of every column: consecutive ones of which each row has exactly one.

    Columns are standardized; those of two values count as zeros and ones.
    """
    p = Z.shape[1]
    blocks = np.empty(p, dtype=np.int64)
    high = Z.min(axis=0) < Z
    binary = np.array([np.unique(column).size == 2 for column in Z.T])
    j, block = 0, 0
    while j < p:
        end = _block_end(high, binary, j)
        blocks[j:end] = block
        j, block = end, block + 1
    return blocks


def _block_end(high: BoolArray, binary: BoolArray, start: int) -> int:
    """Return where the block that starts at a column ends."""
    count = np.zeros(len(high), dtype=np.int64)
    for j in range(start, len(binary)):
        if not binary[j]:
            break
        count += high[:, j]
        if count.max() > 1:
            break
        if count.min() == 1:
            return j + 1
    return start + 1
