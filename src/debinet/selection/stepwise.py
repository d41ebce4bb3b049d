"""Stepwise least squares: the effect of adding or dropping each column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr_delete, qr_insert, solve_triangular
from scipy.stats import f as f_distribution

from debinet.protocols import FloatArray

# A column of which less than this share is left after the selected ones are projected out is a
# linear combination of them and cannot enter.
DETERMINED = 1e-10
PERFECT = 1e-20


@dataclass(frozen=True)
class Step:
    """One column entering or leaving.

    Attributes
    ----------
    column : int
    entered : bool
    criterion : float
    selected : tuple of int
        The columns selected after the step.
    coef : FloatArray of shape (len(selected),)
    """

    column: int
    entered: bool
    criterion: float
    selected: tuple[int, ...]
    coef: FloatArray


@dataclass(frozen=True)
class Move:
    """A column that may enter or leave.

    Attributes
    ----------
    n : int
        Rows.
    k : int
        Columns of the model that has it.
    rss_without, rss_with : float
        Residual sums of squares of the two models.
    """

    n: int
    k: int
    rss_without: float
    rss_with: float


@dataclass(frozen=True)
class Rule:
    """When a column may enter and when it must leave.

    Attributes
    ----------
    enters, leaves : callable
        From a Move to bool.
    criterion : callable
        From a Move, and whether the column entered, to the value that the path reports.
    """

    enters: Callable[[Move], bool]
    leaves: Callable[[Move], bool]
    criterion: Callable[[Move, bool], float]


def information_rule(cost: float) -> Rule:
    """Return the rule that lowers `n log(rss / n) + cost k` with every step."""

    def saving(move: Move) -> float:
        if move.rss_with <= 0:
            return np.inf
        return float(move.n * np.log(move.rss_without / move.rss_with) - cost)

    def value(move: Move, entered: bool) -> float:
        k, rss = (move.k, move.rss_with) if entered else (move.k - 1, move.rss_without)
        return float(move.n * np.log(max(rss, np.finfo(np.float64).tiny) / move.n) + cost * k)

    return Rule(lambda move: saving(move) > 0, lambda move: saving(move) < 0, value)


def pvalue_rule(entry: float, removal: float) -> Rule:
    """Return the rule of F tests: in below `entry`, out above `removal`."""
    return Rule(
        lambda move: _pvalue(move) < entry,
        lambda move: _pvalue(move) > removal,
        lambda move, _: _pvalue(move),
    )


def _pvalue(move: Move) -> float:
    spare = move.n - move.k - 1
    if spare < 1:
        return 1.0
    if move.rss_with <= 0:
        return 0.0
    gain = (move.rss_without - move.rss_with) / move.rss_with
    return float(f_distribution.sf(gain * spare, 1, spare))


class Stepper:
    """A least squares fit, kept as a QR decomposition, that columns enter and leave.

    Parameters
    ----------
    X : FloatArray of shape (n, p)
        Centred columns.
    y : FloatArray of shape (n,)
        Centred outcome.
    """

    def __init__(self, X: FloatArray, y: FloatArray) -> None:
        self._X, self._y = X, y
        self._Q: FloatArray = np.empty((y.size, 0))
        self._R: FloatArray = np.empty((0, 0))
        self.selected: list[int] = []
        self._whole = np.einsum("ij,ij->j", X, X)
        # what is left of the columns, and of their inner products with the residual
        self._left = self._whole.copy()
        self._product = X.T @ y
        self._total = float(y @ y)
        self.rss = self._total

    def gains(self) -> FloatArray:
        """Return by how much each column (p,) would lower the residual sum of squares."""
        free = self._left > DETERMINED * self._whole
        free[self.selected] = False
        gains = np.zeros(free.size)
        gains[free] = self._product[free] ** 2 / self._left[free]
        return gains

    def losses(self) -> FloatArray:
        """Return by how much dropping each selected column would raise it."""
        inverse = solve_triangular(self._R, np.eye(len(self.selected)))
        coef = inverse @ (self._Q.T @ self._y)
        return np.asarray(coef**2 / np.einsum("ij,ij->i", inverse, inverse))

    def coef(self) -> FloatArray:
        """Return the coefficients of the selected columns, in the order of entry."""
        if not self.selected:
            return np.empty(0)
        return np.asarray(solve_triangular(self._R, self._Q.T @ self._y))

    def enter(self, column: int) -> None:
        """Add a column."""
        x = self._X[:, column]
        k = len(self.selected)
        if k == 0:
            size = np.sqrt(x @ x)
            self._Q, self._R = (x / size)[:, None], np.array([[size]])
        else:
            Q, R = qr_insert(self._Q, self._R, x, k, which="col")
            self._Q, self._R = np.asarray(Q, np.float64), np.asarray(R, np.float64)
        self.selected.append(column)
        self._project(self._Q[:, -1], sign=-1)

    def leave(self, place: int) -> None:
        """Drop the selected column at `place`."""
        unit = np.zeros(len(self.selected))
        unit[place] = 1
        # Q (R')^-1 e_k is the part of the column that is orthogonal to the other selected ones
        direction = self._Q @ solve_triangular(self._R, unit, trans="T")
        direction /= np.sqrt(direction @ direction)
        if len(self.selected) == 1:
            self._Q, self._R = self._Q[:, :0], np.empty((0, 0))
        else:
            Q, R = qr_delete(self._Q, self._R, place, which="col")
            self._Q = np.asarray(Q, np.float64)
            self._R = np.asarray(R, np.float64)[: self._Q.shape[1]]
        del self.selected[place]
        self._project(direction, sign=1)

    def _project(self, direction: FloatArray, sign: int) -> None:
        """Project a unit direction out of all that is left (-1), or add it back (+1)."""
        along = self._X.T @ direction
        share = float(direction @ self._y)
        self._left = self._left + sign * along**2
        self._product = self._product + sign * share * along
        # a difference of sums of squares would lose all digits of a near perfect fit
        r = self._y - self._Q @ (self._Q.T @ self._y)
        rss = float(r @ r)
        self.rss = rss if rss > PERFECT * self._total else 0.0


def select_stepwise(X: FloatArray, y: FloatArray, rule: Rule, most: int) -> tuple[Step, ...]:
    """Let the best column enter, then drop columns that are no longer needed, and repeat.

    A selection that occurred before ends the search, so it cannot cycle.
    """
    stepper = Stepper(X, y)
    steps: list[Step] = []
    seen = {frozenset[int]()}
    while len(stepper.selected) < most and stepper.rss > 0:
        gains = stepper.gains()
        column = int(gains.argmax())
        rss = stepper.rss
        move = Move(y.size, len(stepper.selected) + 1, rss, max(rss - gains[column], 0.0))
        if gains[column] <= 0 or not rule.enters(move):
            break
        stepper.enter(column)
        steps.append(_record(stepper, column, rule.criterion(move, True), entered=True))
        steps.extend(_step_back(stepper, rule, y.size, column))
        now = frozenset(stepper.selected)
        if now in seen:
            break
        seen.add(now)
    return tuple(steps)


def _step_back(stepper: Stepper, rule: Rule, n: int, newest: int) -> Iterator[Step]:
    """Drop columns, the least useful first, but never the one that has just entered."""
    while len(stepper.selected) > 1:
        losses = stepper.losses()
        losses[stepper.selected.index(newest)] = np.inf
        place = int(losses.argmin())
        move = Move(n, len(stepper.selected), stepper.rss + losses[place], stepper.rss)
        if not rule.leaves(move):
            return
        column = stepper.selected[place]
        stepper.leave(place)
        yield _record(stepper, column, rule.criterion(move, False), entered=False)


def _record(stepper: Stepper, column: int, criterion: float, *, entered: bool) -> Step:
    return Step(column, entered, criterion, tuple(stepper.selected), stepper.coef())
