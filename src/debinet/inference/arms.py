"""Arms of an experiment: 0/1 treatments of which a row has at most one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.data.arrays import freeze_arrays, require
from debinet.exceptions import OptionError, TooFewRowsError
from debinet.protocols import FloatArray, IntArray

# Rows of an arm from which an outcome model can be learned.
LEAST_ROWS = 20


@dataclass(frozen=True)
class ArmRows:
    """What doubly robust estimates need of every row.

    Attributes
    ----------
    code : IntArray of shape (n,)
        The arm of each row; 0 is that of rows without a treatment.
    y : FloatArray of shape (n,)
    outcomes : FloatArray of shape (n, arms)
        `E(y | arm, Z)` of each arm, held out.
    probabilities : FloatArray of shape (n, arms)
        `P(arm | Z)`, held out, positive.
    w : FloatArray of shape (n,)
        Weights.
    """

    code: IntArray
    y: FloatArray
    outcomes: FloatArray
    probabilities: FloatArray
    w: FloatArray

    def __post_init__(self) -> None:
        freeze_arrays(self, code="n", y="n", outcomes="n arms", probabilities="n arms", w="n")
        require(bool((self.probabilities > 0).all()), "probabilities")

    @property
    def inside(self) -> FloatArray:
        """Whether each row is in each arm, of shape (n, arms)."""
        return np.asarray(np.eye(self.outcomes.shape[1])[self.code])

    @property
    def scores(self) -> FloatArray:
        """Doubly robust scores (n, arms): their means are the mean outcomes if all had the arm."""
        residuals = self.inside * (self.y[:, None] - self.outcomes)
        return np.asarray(self.outcomes + residuals / self.probabilities)

    def of(self, rows: IntArray) -> ArmRows:
        """Return some of the rows."""
        return ArmRows(
            self.code[rows],
            self.y[rows],
            self.outcomes[rows],
            self.probabilities[rows],
            self.w[rows],
        )


def read_arms(D: FloatArray, names: tuple[str, ...], w: FloatArray) -> IntArray:
    """Return the arm (n,) of each row: 0, or 1 + the position of its treatment.

    Parameters
    ----------
    D : FloatArray of shape (n, q)
    names : tuple of str
    w : FloatArray of shape (n,)
        Weights; rows of weight zero do not count.
    """
    other = [name for name, column in zip(names, D.T, strict=True) if not _binary(column)]
    if other:
        raise OptionError(
            "treatments of zeros and ones, for average effects",
            f"other values in {other[0]!r}",
            "Name one 0/1 treatment: average_effects('...').",
        )
    if (D.sum(axis=1) > 1).any():
        raise OptionError(
            "at most one treatment in every row, as arms of an experiment have",
            f"rows with several of {', '.join(names)}",
            "Name one treatment, average_effects('...'): the others are then controls.",
        )
    code = np.asarray(D @ np.arange(1, D.shape[1] + 1), np.int64)
    counts = np.bincount(code[w > 0], minlength=D.shape[1] + 1)
    if counts.min() < LEAST_ROWS:
        arm = int(counts.argmin())
        raise TooFewRowsError(
            f"at least {LEAST_ROWS} rows in every arm",
            f"{counts[arm]} " + (f"with {names[arm - 1]!r}" if arm else "without a treatment"),
            "Merge or drop the arm.",
        )
    return code


def _binary(column: FloatArray) -> bool:
    return bool(((column == 0) | (column == 1)).all())


def averages(rows: ArmRows, arm: int) -> tuple[FloatArray, FloatArray]:
    """Return ATE, ATT and ATC (3,) of an arm, and what each row adds to them, (n, 3).

    Each is a mean of scores over a share of rows, `sum w a / sum w s`: with estimate b, row i adds
    `w (a - s b) / sum w s`.
    """
    p, inside = rows.probabilities, rows.inside
    treated, untreated = inside[:, arm], inside[:, 0]
    left, right = rows.y - rows.outcomes[:, 0], rows.y - rows.outcomes[:, arm]
    scores = np.column_stack(
        [
            rows.scores[:, arm] - rows.scores[:, 0],
            treated * left - untreated * left * p[:, arm] / p[:, 0],
            treated * right * p[:, 0] / p[:, arm] - untreated * right,
        ]
    )
    shares = np.column_stack([np.ones(len(rows.y)), treated, untreated])
    total = rows.w @ shares
    estimate = np.asarray(rows.w @ scores / total)
    return estimate, np.asarray(rows.w[:, None] * (scores - shares * estimate) / total)
