"""What all selectors share: reading data, predicting, and reporting the selection."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from debinet._random import RandomState
from debinet.data.options import positive_number, switch
from debinet.data.same_columns import read_same_columns
from debinet.data.tables import require_numbers
from debinet.exceptions import InputError, OptionError
from debinet.protocols import BoolArray, FloatArray
from debinet.selection.paths import PenaltyPath
from debinet.selection.problem import LinearProblem, read_problem
from debinet.selection.regularizer import Regularizer
from debinet.selection.tuning import penalty_grid, read_penalty, tune

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class NotConvergedWarning(ConvergenceWarning):  # type: ignore[misc]
    """The duality gap of a fit stayed above the tolerance: its coefficients are approximate."""


class LinearSelector(SelectorMixin, RegressorMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A linear model whose coefficients are zero for columns that are not selected.

    Subclasses' `fit` ends with `_keep`, which sets the attributes.
    """

    coef_: FloatArray
    intercept_: float
    _names: tuple[str, ...]
    _problem: LinearProblem | None

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
        # selecting nothing is a valid result and needs no warning
        if not self.coef_.any():
            return X.iloc[:, :0] if hasattr(X, "iloc") else X[:, :0]
        return super()._transform(X)

    def _keep(self, X: Any, problem: LinearProblem, coef: FloatArray) -> None:
        """Set what every selector has; `coef` is on the scale of the problem."""
        validate_data(self, X, skip_check_array=True)
        self._problem, self._names = problem, problem.names
        self.coef_ = problem.unscale(coef)
        self.intercept_ = float(problem.intercept(self.coef_))

    def _data(self) -> LinearProblem:
        check_is_fitted(self, "coef_")
        if self._problem is None:
            raise InputError(
                "a selector that was fitted in this process",
                "a copied or loaded one, which has no data",
                "Fit it again to see its path.",
            )
        return self._problem

    def __getstate__(self) -> dict[str, Any]:
        # predictions do not need the data, and files should not hold them
        state = dict(super().__getstate__())
        return {**state, "_problem": None} if "_problem" in state else state


class PenalizedSelector(LinearSelector):
    """A selector that minimizes `|y - X t|^2 / (2 n) + penalty P(t)`.

    Subclasses define P and its solver.
    """

    _solved_with: Regularizer

    def __init__(
        self,
        penalty: str | float = "cv",
        *,
        standardize: bool = True,
        tol: float = 1e-7,
        random_state: RandomState = None,
    ) -> None:
        self.penalty = penalty
        self.standardize = standardize
        self.tol = tol
        self.random_state = random_state

    @abstractmethod
    def _regularizer(self, problem: LinearProblem) -> Regularizer:
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
        penalty, tol = read_penalty(self.penalty), positive_number("tol", self.tol, 1.0)
        problem = read_problem(X, y, switch("standardize", self.standardize))
        regularizer = self._regularizer(problem)
        tuning = tune(regularizer, problem, penalty, tol, self.random_state)
        solver = regularizer.on(problem.X, problem.y)
        solution = solver.solve(np.array([tuning.penalty]), tol)
        if not solution.converged[0]:
            target = tol * float(problem.y @ problem.y) / (2 * problem.y.size)
            warnings.warn(
                f"{type(self).__name__} at penalty {tuning.penalty:.4g} stopped with a duality gap "
                f"of {solution.gaps[0]:.2g}, above the {target:.2g} that tol allows: the "
                "coefficients, and with them the selection, are approximate. Use a larger penalty, "
                "a larger tol, or drop columns that nearly repeat each other.",
                NotConvergedWarning,
                stacklevel=2,
            )
        # Set only now: a fit that fails leaves the earlier one unchanged.
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
            If left out, those of the cross-validation, or 60 from the smallest one that selects
            nothing down to a thousandth of it.
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
        solutions = solver.solve(grid[order], positive_number("tol", self.tol, 1.0))
        back = np.argsort(order)
        coefs = problem.unscale(solutions.coefs[back])
        intercepts, gaps = problem.intercept(coefs), solutions.gaps[back]
        return PenaltyPath(grid, coefs, intercepts, gaps, problem.names)

    def plot_path(self, ax: Axes | None = None) -> Axes:
        """Plot every coefficient against the penalty, with a line at `penalty_`."""
        return self.path().plot(ax, chosen=self.penalty_)


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
