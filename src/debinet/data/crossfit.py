"""Folds for every value that `crossfit` may take."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from debinet.data.folds import Fold, Folds, k_folds, leave_one_out, no_folds
from debinet.data.options import is_whole
from debinet.exceptions import FoldError, OptionError
from debinet.protocols import BoolArray, FloatArray, IntArray, Splitter

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


def make_folds(
    crossfit: Crossfit,
    n: int,
    rng: np.random.Generator,
    *,
    groups: IntArray | None = None,
    closed_form: bool = False,
    data: tuple[FloatArray, FloatArray, FloatArray] | None = None,
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
        Draws random folds.
    groups : IntArray of shape (n, ways), optional
        Rows that must stay together.
    closed_form : bool
        Whether the learner has a closed form.
    data : (D, Z, y), optional
        For splitters that use them.
    """
    if crossfit is None:
        return (no_folds(n),)
    counts = _counts(crossfit)
    if counts is not None:
        k, repeats = counts
        return tuple(k_folds(n, k, rng, groups) for _ in range(repeats))
    if isinstance(crossfit, str):
        return _named_folds(crossfit, n, rng, groups, closed_form)
    if isinstance(crossfit, Splitter):
        D, Z, y = (np.zeros((n, 1)), np.zeros((n, 0)), np.zeros(n)) if data is None else data
        pairs = _split(_seeded(crossfit, rng), np.hstack([D, Z]), y, groups)
        return ready_made(n, pairs, groups)
    if isinstance(crossfit, Iterable) and not isinstance(crossfit, bytes):
        given: list[Any] = list(crossfit)
        if not any(isinstance(pair, (int, float)) for pair in given):
            return ready_made(n, given, groups)
    raise _unknown(crossfit)


def _named_folds(
    name: str, n: int, rng: np.random.Generator, groups: IntArray | None, closed_form: bool
) -> tuple[Folds, ...]:
    if name == "auto":
        # Two-way groups exclude more rows than they hold out, which no closed form can do.
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
        f"{crossfit!r:.80}",
        "Use crossfit='auto' if in doubt.",
    )


def _seeded(splitter: Splitter, rng: np.random.Generator) -> Splitter:
    """Return the splitter with its random state, if None, drawn from `rng`."""
    if getattr(splitter, "random_state", 0) is not None:
        return splitter
    seeded = copy(splitter)
    seeded.random_state = int(rng.integers(2**31 - 1))  # type: ignore[attr-defined]
    return seeded


def _split(
    splitter: Splitter, X: FloatArray, y: FloatArray, groups: IntArray | None
) -> list[tuple[Any, Any]]:
    first = None if groups is None else groups[:, 0]
    try:
        with warnings.catch_warnings():
            # The folds themselves are checked for split groups.
            warnings.filterwarnings("ignore", message="The groups parameter is ignored")
            return list(splitter.split(X, y, first))
    except Exception as error:
        raise FoldError(
            f"a splitter that can split {len(y)} rows",
            f"{splitter} failing with: {error}",
            "Use fewer folds, or pass `groups` to fit if the splitter needs them.",
        ) from error


def _counts(crossfit: object) -> tuple[int, int] | None:
    """Return (folds, repetitions) if `crossfit` gives them."""
    pair = crossfit if isinstance(crossfit, tuple) else (crossfit, 1)
    if len(pair) == 2 and all(map(is_whole, pair)) and pair[0] >= 2 and pair[1] >= 1:
        return int(pair[0]), int(pair[1])
    return None


def _default_folds(n: int, groups: IntArray | None) -> int:
    largest = n if groups is None else int(groups.max(axis=0).min()) + 1
    return max(2, min(DEFAULT_FOLDS, largest))


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
