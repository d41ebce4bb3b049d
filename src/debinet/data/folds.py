"""Folds: which rows are held out together, and which rows are then excluded from training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from debinet.exceptions import FoldError, TooFewRowsError
from debinet.protocols import IntArray


@dataclass(frozen=True)
class Fold:
    """One block of held-out rows.

    Attributes
    ----------
    test : IntArray
        Rows to predict, sorted.
    excluded : IntArray
        Rows excluded from training, sorted: `test` itself for ordinary K-fold and leave-one-out,
        a superset for two-way clusters, none for in-sample residuals.
    """

    test: IntArray
    excluded: IntArray

    def train(self, n: int) -> IntArray:
        """Return the rows to train on, of `n`."""
        keep = np.ones(n, dtype=bool)
        keep[self.excluded] = False
        return np.flatnonzero(keep)


@dataclass(frozen=True)
class Folds:
    """A partition of `n` rows into held-out blocks.

    Attributes
    ----------
    n : int
        Number of rows.
    blocks : tuple of Fold
        Every row is in the `test` of exactly one of them.
    label : str
        How the folds were made, for the summary.
    """

    n: int
    blocks: tuple[Fold, ...]
    label: str

    def __len__(self) -> int:
        return len(self.blocks)

    def __iter__(self) -> Iterator[Fold]:
        return iter(self.blocks)

    @cached_property
    def in_sample(self) -> bool:
        """Whether rows are predicted by a model that was trained on them."""
        return not self.complementary and any(
            not np.isin(b.test, b.excluded).all() for b in self.blocks
        )

    @cached_property
    def complementary(self) -> bool:
        """Whether each block is predicted from all other rows, as closed forms do."""
        return all(b.test is b.excluded or np.array_equal(b.test, b.excluded) for b in self.blocks)

    @property
    def singletons(self) -> bool:
        """Whether each block is one row: leave-one-out."""
        return len(self.blocks) == self.n

    def codes(self) -> IntArray:
        """Return, for every row, the number of its block."""
        codes = np.empty(self.n, dtype=np.int64)
        for k, block in enumerate(self.blocks):
            codes[block.test] = k
        return codes


def no_folds(n: int) -> Folds:
    """Return the paper's in-sample residuals: one block, trained on all rows, itself included."""
    rows = np.arange(n)
    return Folds(n, (Fold(rows, rows[:0]),), "none (in-sample residuals)")


def leave_one_out(n: int, groups: IntArray | None = None) -> Folds:
    """Hold out one row, or one group, at a time.

    `groups` has one column per way of clustering, coded from 0. With two columns, rows of the
    same pair of groups are held out together and all rows that share either group are excluded.
    """
    if groups is None:
        return _blocks_of(np.arange(n), "leave-one-out")
    if groups.shape[1] == 1:
        return _blocks_of(groups[:, 0], "leave-one-group-out")
    return _two_way(groups[:, 0], groups[:, 1], "leave-one-group-out, two-way")


def k_folds(n: int, k: int, rng: np.random.Generator, groups: IntArray | None = None) -> Folds:
    """Split the rows at random into `k` blocks of nearly equal size, never splitting a group.

    With two columns of groups, each is split into `k` parts and the blocks are the `k * k` cells;
    a cell is predicted from the rows that share neither part (Chiang et al. 2022).
    """
    if groups is None:
        if n < k:
            raise TooFewRowsError(
                f"at least one row per fold, so n >= {k}",
                f"{n} rows",
                f"Use crossfit={n} or fewer folds, or crossfit='loo'.",
            )
        codes = np.empty(n, dtype=np.int64)
        codes[rng.permutation(n)] = np.arange(n) % k
        return _blocks_of(codes, f"{k} folds")
    parts = [_group_parts(groups[:, j], k, rng) for j in range(groups.shape[1])]
    if len(parts) == 1:
        return _blocks_of(parts[0], f"{k} folds, groups kept whole")
    return _two_way(parts[0], parts[1], f"{k} x {k} folds, both groupings kept whole")


def _blocks_of(codes: IntArray, label: str) -> Folds:
    order = np.argsort(codes, kind="stable")
    cuts = np.flatnonzero(np.diff(codes[order])) + 1
    return Folds(codes.size, tuple(Fold(b, b) for b in np.split(order, cuts)), label)


def _two_way(first: IntArray, second: IntArray, label: str) -> Folds:
    blocks = []
    for a, b in np.unique(np.column_stack([first, second]), axis=0):
        in_first, in_second = first == a, second == b
        blocks.append(
            Fold(np.flatnonzero(in_first & in_second), np.flatnonzero(in_first | in_second))
        )
    n = first.size
    if any(block.excluded.size == n for block in blocks):
        raise FoldError(
            "rows left to train on when the groups of a fold are excluded",
            "a pair of groups that together cover all rows",
            "Pass one of the two groupings to fit and both to result_.with_vcov('cluster', ...).",
        )
    return Folds(n, tuple(blocks), label)


def _group_parts(groups: IntArray, k: int, rng: np.random.Generator) -> IntArray:
    """Assign groups at random to `k` parts, largest first, each to the smallest part so far."""
    sizes = np.bincount(groups)
    if sizes.size < k:
        raise FoldError(
            f"at least {k} groups for {k} folds",
            f"{sizes.size} groups",
            f"Use crossfit={max(sizes.size, 2)} or fewer folds.",
        )
    shuffled = rng.permutation(sizes.size)
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    part_of_group = np.empty(sizes.size, dtype=np.int64)
    filled = np.zeros(k, dtype=np.int64)
    for g in order:
        part = int(filled.argmin())
        part_of_group[g] = part
        filled[part] += sizes[g]
    return part_of_group[groups]
