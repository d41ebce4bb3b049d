"""Rows for selection and rows for estimation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from debinet.data.options import is_number
from debinet.exceptions import OptionError, TooFewRowsError
from debinet.protocols import IntArray

# With fewer rows, nothing can be selected or estimated.
LEAST_ROWS = 4


@dataclass(frozen=True)
class RowSplit:
    """Rows on which columns are selected, and rows on which their coefficients are estimated.

    Attributes
    ----------
    selection, estimation : IntArray
        Row numbers in ascending order: disjoint, or both all rows.
    """

    selection: IntArray
    estimation: IntArray

    @property
    def same(self) -> bool:
        """Whether the same rows serve both."""
        return np.array_equal(self.selection, self.estimation)


@dataclass(frozen=True)
class SelectionPlan:
    """How often rows are split, and in which proportion.

    Attributes
    ----------
    share : float, optional
        Share of the rows used for selection; None for all rows, in both steps.
    repeats : int
        Number of random splits.
    """

    share: float | None
    repeats: int


def read_plan(selection_share: Any) -> SelectionPlan:
    """Read `selection_share`: a share, a pair (share, repeats), or None."""
    if selection_share is None:
        return SelectionPlan(None, 1)
    pair = isinstance(selection_share, (tuple, list)) and len(selection_share) == 2
    share, repeats = selection_share if pair else (selection_share, 1)
    numbers = is_number(share) and is_number(repeats)
    if not numbers or not 0 < share < 1 or repeats < 1 or repeats != int(repeats):
        raise OptionError(
            "selection_share to be a share between 0 and 1, a pair (share, repeats), or None",
            repr(selection_share),
            "Use 0.4, (0.4, 50) for fifty random splits, or None for the same rows twice.",
        )
    return SelectionPlan(float(share), int(repeats))


def split_rows(
    plan: SelectionPlan, n: int, groups: IntArray | None, rng: np.random.Generator
) -> RowSplit:
    """Draw the rows for selection; groups stay whole.

    Parameters
    ----------
    plan : SelectionPlan
    n : int
        Rows.
    groups : IntArray of shape (n, ways), optional
        Clusters. Only the first way is kept whole; no split of a crossed design keeps both.
    rng : numpy Generator
    """
    if plan.share is None:
        every = np.arange(n)
        return RowSplit(every, every)
    if groups is None:
        chosen = np.zeros(n, dtype=bool)
        chosen[rng.permutation(n)[: round(plan.share * n)]] = True
    else:
        codes = groups[:, 0]
        order = rng.permutation(int(codes.max()) + 1)
        sizes = np.bincount(codes)[order]
        # whole groups, as long as they bring the number of rows closer to the share
        taken = order[np.cumsum(sizes) - sizes / 2 <= plan.share * n]
        chosen = np.isin(codes, taken)
    split = RowSplit(np.flatnonzero(chosen), np.flatnonzero(~chosen))
    if min(split.selection.size, split.estimation.size) < LEAST_ROWS:
        raise TooFewRowsError(
            f"at least {LEAST_ROWS} rows to select on and as many to estimate on",
            f"{split.selection.size} and {split.estimation.size} of {n} samples",
            "Use another selection_share, or None to use the same rows for both.",
        )
    return split
