"""Folds as data: which rows are held out together, and which rows may not be trained on then."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from debinet.exceptions import FoldError, OptionError, TooFewRowsError
from debinet.protocols import BoolArray, IntArray, Splitter

if TYPE_CHECKING:
    Crossfit: TypeAlias = (
        Literal["auto", "loo"]
        | int
        | tuple[int, int]
        | Splitter
        | Iterable[tuple[IntArray, IntArray]]
        | None
    )

DEFAULT_FOLDS = 5


@dataclass(frozen=True)
class Fold:
    """One block of held-out rows.

    Attributes
    ----------
    test : IntArray
        Rows to predict, sorted.
    excluded : IntArray
        Rows that may not be trained on, sorted. The same as `test` for ordinary K-fold and
        leave-one-out; a superset of it for two-way clusters; empty for in-sample residuals.
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
        How the folds were made, in words for the summary.
    """

    n: int
    blocks: tuple[Fold, ...]
    label: str

    def __len__(self) -> int:
        return len(self.blocks)

    def __iter__(self) -> Iterator[Fold]:
        return iter(self.blocks)

    @property
    def in_sample(self) -> bool:
        """Whether rows are predicted by a model that was trained on them."""
        return not self.complementary and any(
            not np.isin(b.test, b.excluded).all() for b in self.blocks
        )

    @property
    def complementary(self) -> bool:
        """Whether each block is predicted from all the other rows: what closed forms need."""
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


def ready_made(
    n: int, splits: Iterable[tuple[Any, Any]], groups: IntArray | None
) -> tuple[Folds, ...]:
    """Turn (train, test) pairs into repetitions, each of which holds every row out once."""
    repetitions: list[Folds] = []
    blocks: list[Fold] = []
    seen = np.zeros(n, dtype=bool)
    for k, pair in enumerate(splits):
        fold = _read_pair(n, k, pair)
        if seen[fold.test].any():
            raise FoldError(
                "folds that hold every row out exactly once",
                f"row {int(fold.test[seen[fold.test]][0])} held out twice (fold {k})",
                "Use a splitter whose test sets partition the rows, such as KFold.",
            )
        _require_whole_groups(fold, n, groups, k)
        seen[fold.test] = True
        blocks.append(fold)
        if seen.all():
            repetitions.append(Folds(n, tuple(blocks), f"{len(blocks)} given folds"))
            blocks, seen = [], np.zeros(n, dtype=bool)
    if blocks or not repetitions:
        raise FoldError(
            "folds that hold every row out exactly once",
            f"{int((~seen).sum())} rows that are never held out",
            "Use a splitter whose test sets partition the rows, such as KFold.",
        )
    return tuple(repetitions)


def make_folds(
    crossfit: Crossfit,
    n: int,
    rng: np.random.Generator,
    *,
    groups: IntArray | None = None,
    closed_form: bool = False,
) -> tuple[Folds, ...]:
    """Return one `Folds` per repetition for any value that `crossfit` may take.

    Parameters
    ----------
    crossfit : {"auto", "loo"}, int, (int, int), splitter, iterable of pairs, or None
        `"auto"` is leave-one-out if the learner has a closed form and 5 folds otherwise; a pair is
        (folds, repetitions).
    n : int
        Number of rows.
    rng : numpy.random.Generator
        Decides random folds.
    groups : IntArray of shape (n, ways), optional
        Rows that must stay together.
    closed_form : bool
        Whether the learner implements `heldout`.
    """
    if crossfit is None:
        return (no_folds(n),)
    if isinstance(crossfit, str):
        return _named_folds(crossfit, n, rng, groups, closed_form)
    if isinstance(crossfit, (int, np.integer)) and not isinstance(crossfit, bool):
        crossfit = (int(crossfit), 1)
    if isinstance(crossfit, tuple) and _counts(crossfit):
        k, repeats = crossfit
        return tuple(k_folds(n, k, rng, groups) for _ in range(repeats))
    if isinstance(crossfit, Splitter):
        return ready_made(n, _split(crossfit, n, groups), groups)
    if isinstance(crossfit, Iterable) and not isinstance(crossfit, (bytes, tuple)):
        return ready_made(n, crossfit, groups)
    raise _unknown(crossfit)


def _named_folds(
    name: str, n: int, rng: np.random.Generator, groups: IntArray | None, closed_form: bool
) -> tuple[Folds, ...]:
    if name == "auto":
        # Two-way groups exclude more rows than they hold out: no closed form covers that.
        closed_form = closed_form and (groups is None or groups.shape[1] == 1)
        if not closed_form:
            return (k_folds(n, _default_folds(n, groups), rng, groups),)
        name = "loo"
    if name == "loo":
        return (leave_one_out(n, groups),)
    raise _unknown(name)


def _unknown(crossfit: object) -> OptionError:
    return OptionError(
        "crossfit to be 'auto', 'loo', a number of folds >= 2, a pair (folds, repetitions), "
        "a scikit-learn splitter, (train, test) pairs, or None",
        repr(crossfit),
        "Use crossfit='auto' if in doubt.",
    )


def _split(splitter: Splitter, n: int, groups: IntArray | None) -> list[tuple[Any, Any]]:
    first = None if groups is None else groups[:, 0]
    try:
        with warnings.catch_warnings():
            # Whether the folds split a group is checked on the folds themselves.
            warnings.filterwarnings("ignore", message="The groups parameter is ignored")
            return list(splitter.split(np.zeros((n, 1)), np.zeros(n), first))
    except (ValueError, TypeError) as error:
        raise FoldError(
            f"a splitter that can split {n} rows",
            f"{splitter} failing with: {error}",
            "Use fewer folds, or pass `groups` to fit if the splitter needs them.",
        ) from error


def _counts(pair: tuple[Any, ...]) -> bool:
    whole = [isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in pair]
    return len(pair) == 2 and all(whole) and pair[0] >= 2 and pair[1] >= 1


def _default_folds(n: int, groups: IntArray | None) -> int:
    largest = n if groups is None else int(groups.max(axis=0).min()) + 1
    return max(2, min(DEFAULT_FOLDS, largest))


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


def _read_pair(n: int, k: int, pair: tuple[Any, Any]) -> Fold:
    try:
        train, test = (_read_rows(n, rows) for rows in pair)
    except (TypeError, ValueError) as error:
        raise FoldError(
            "each fold to be a pair (train, test) of row numbers",
            f"fold {k} = {pair!r:.80}",
            "Pass a scikit-learn splitter or a list of (train, test) index arrays.",
        ) from error
    outside = np.ones(n, dtype=bool)
    outside[train] = False
    if train.size == 0 or test.size == 0:
        raise FoldError(
            "folds with rows to train on and rows to hold out",
            f"fold {k} with {train.size} and {test.size}",
            "Use fewer folds.",
        )
    if not outside[test].all():
        raise FoldError(
            "training rows that do not appear in the held-out rows",
            f"fold {k}, which shares rows",
            "Use crossfit=None if in-sample residuals are wanted.",
        )
    return Fold(test, np.flatnonzero(outside))


def _read_rows(n: int, rows: Any) -> IntArray:
    index = np.asarray(rows)
    if index.dtype == bool and index.shape == (n,):
        index = np.flatnonzero(index)
    if index.ndim != 1 or (index.size and index.dtype.kind not in "iu"):
        raise ValueError("row numbers are a one-dimensional integer array")
    if index.size and (index.min() < 0 or index.max() >= n):
        raise ValueError(f"row numbers lie between 0 and {n - 1}")
    return np.unique(index.astype(np.int64))


def _require_whole_groups(fold: Fold, n: int, groups: IntArray | None, k: int) -> None:
    if groups is None:
        return
    train: BoolArray = np.ones(n, dtype=bool)
    train[fold.excluded] = False
    for column in groups.T:
        if np.isin(column[fold.test], column[train]).any():
            raise FoldError(
                "folds that never split a group",
                f"fold {k}, which trains on rows of a group it holds out",
                "Use crossfit=5, or a splitter that respects groups such as GroupKFold.",
            )
