"""Folds given as (train, test) pairs: read, checked and grouped into repetitions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from debinet.data.folds import Fold, Folds
from debinet.exceptions import FoldError
from debinet.protocols import BoolArray, IntArray


def ready_made(
    n: int, splits: Iterable[tuple[Any, Any]], groups: IntArray | None
) -> tuple[Folds, ...]:
    """Turn (train, test) pairs into repetitions, each holding every row out once."""
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
    if not blocks and not repetitions:
        raise FoldError(
            "(train, test) pairs", "none (a generator can be used once only)", "Pass a list."
        )
    if blocks:
        raise FoldError(
            "folds that hold every row out exactly once",
            f"{int((~seen).sum())} rows that are never held out",
            "Use a splitter whose test sets partition the rows, such as KFold.",
        )
    return tuple(repetitions)


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
