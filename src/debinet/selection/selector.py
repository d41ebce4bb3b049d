"""What all selectors share: reading data, predicting, and saying what was selected."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from debinet.data.same_columns import read_same_columns
from debinet.data.tables import require_numbers
from debinet.exceptions import InputError, OptionError
from debinet.protocols import BoolArray, FloatArray
from debinet.selection.convergence import warn_not_converged
from debinet.selection.paths import PenaltyPath
from debinet.selection.problem import Problem, read_problem
from debinet.selection.regularizer import Regularizer
from debinet.selection.tuning import penalty_grid, read_penalty, read_positive, tune

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LinearSelector(SelectorMixin, RegressorMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A linear model whose coefficients are zero for columns that are not selected.

    Subclasses' `fit` ends with `_keep`, which sets the attributes.
    """

    coef_: FloatArray
    intercept_: float
    _names: tuple[str, ...]
    _problem: Problem | None

    def predict(self, X: Any) -> FloatArray:
        """Return `intercept_ + X coef_` for the rows of X."""
        check_is_fitted(self, "coef_")
        table = read_same_columns(self, X, self._names)
        require_numbers(table)
        return np.asarray(table.values @ self.coef_ + self.intercept_)

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self, "coef_")
        return np.asarray(self.coef_ != 0)

    def _transform(self, X: Any) -> Any:
        # no column at all is an answer, not a reason to warn
        if not self.coef_.any():
            return X.iloc[:, :0] if hasattr(X, "iloc") else X[:, :0]
        return super()._transform(X)

    def _keep(self, X: Any, problem: Problem, coef: FloatArray) -> None:
        """Set what every selector has; `coef` is on the scale of the problem."""
        validate_data(self, X, skip_check_array=True)
        self._problem, self._names = problem, problem.names
        self.coef_ = problem.unscale(coef)
        self.intercept_ = float(problem.intercept(self.coef_))

    def _data(self) -> Problem:
        check_is_fitted(self, "coef_")
        if self._problem is None:
            raise InputError(
                "a selector that was fitted in this process",
                "one that was copied or loaded, which carries no data",
                "Fit it again to see its path.",
            )
        return self._problem

    def __getstate__(self) -> dict[str, Any]:
        # predictions need no data, and files should not carry them
        state = dict(super().__getstate__())
        return {**state, "_problem": None} if "_problem" in state else state


class PenalizedSelector(LinearSelector):
    """A selector that minimizes `|y - X t|^2 / (2 n) + penalty P(t)`.

    Subclasses say which P it is and how it is solved.
    """

    penalty: Any
    standardize: Any
    tol: Any
    random_state: Any
    _solved_with: Regularizer

    @abstractmethod
    def _regularizer(self, problem: Problem) -> Regularizer:
        """Return, from checked options, the penalty and its algorithm."""

    def fit(self, X: Any, y: Any) -> Self:
        """Select columns of X.

        Parameters
        ----------
        X : array or data frame of shape (n, p)
            numpy, pandas, polars or arrow; numbers only, no column constant, no two equal.
        y : array or series of shape (n,)
            Outcome.
        """
        penalty, tol = read_penalty(self.penalty), read_positive("tol", self.tol, 1.0)
        problem = read_problem(X, y, read_switch("standardize", self.standardize))
        regularizer = self._regularizer(problem)
        tuning = tune(regularizer, problem, penalty, tol, self.random_state)
        solver = regularizer.on(problem.X, problem.y)
        solution = solver.solve(np.array([tuning.penalty]), tol)
        if not solution.converged[0]:
            target = tol * float(problem.y @ problem.y) / (2 * problem.y.size)
            warn_not_converged(type(self).__name__, tuning.penalty, solution.gaps[0], target)
        # Nothing is set before everything has succeeded: a failed fit leaves the old one whole.
        self._keep(X, problem, solution.coefs[0])
        self._solved_with = regularizer
        self.penalty_, self.tuning_ = tuning.penalty, tuning
        self.max_penalty_ = solver.max_penalty
        self.dual_gap_ = float(solution.gaps[0])
        return self

    def path(self, penalties: Any = None) -> PenaltyPath:
        """Return the coefficients for a range of penalties, for the data of `fit`.

        Parameters
        ----------
        penalties : sequence of g positive numbers, optional
            Those of the cross-validation, or 60 from the least one that selects nothing down to a
            thousandth of it, if left out.
        """
        problem = self._data()
        solver = self._solved_with.on(problem.X, problem.y)
        if penalties is not None:
            grid = _read_penalties(penalties)
        elif self.tuning_.cross_validation is not None:
            grid = self.tuning_.cross_validation.penalties
        else:
            grid = penalty_grid(solver.max_penalty)
        order = np.argsort(-grid, kind="stable")
        solutions = solver.solve(grid[order], read_positive("tol", self.tol, 1.0))
        back = np.argsort(order)
        coefs = problem.unscale(solutions.coefs[back])
        intercepts, gaps = problem.intercept(coefs), solutions.gaps[back]
        return PenaltyPath(grid, coefs, intercepts, gaps, problem.names)

    def plot_path(self, ax: Axes | None = None) -> Axes:
        """Draw every coefficient against the penalty, with a line at the one in use."""
        return self.path().plot(ax, chosen=self.penalty_)


def read_switch(name: str, value: Any) -> bool:
    """Require True or False."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise OptionError(f"{name} to be True or False", repr(value), "Leave it out for the default.")


def _read_penalties(penalties: Any) -> FloatArray:
    try:
        grid = np.atleast_1d(np.asarray(penalties, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise OptionError("penalties to be numbers", str(error), "Pass a list.") from error
    if grid.ndim != 1 or not grid.size or not (np.isfinite(grid).all() and (grid > 0).all()):
        raise OptionError(
            "a list of positive penalties", repr(penalties), "Leave it out for the default."
        )
    return grid
