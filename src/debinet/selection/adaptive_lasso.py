"""`AdaptiveLasso`: a Lasso whose weights come from a first estimate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from debinet._random import RandomState
from debinet.data.options import number_array, positive_number
from debinet.exceptions import CollinearError, OptionError
from debinet.protocols import FloatArray
from debinet.selection.absolute_norm import AbsoluteValues
from debinet.selection.plugin import gaussian_level
from debinet.selection.problem import LinearProblem
from debinet.selection.regularizer import Regularizer, Solutions
from debinet.selection.selector import PenalizedSelector
from debinet.selection.tuning import read_penalty, tune


class AdaptiveLasso(PenalizedSelector):
    """Selects the columns whose adaptive Lasso coefficients are not zero.

    Minimizes `|y - X t|^2 / (2 n) + penalty sum_j weight_j |t_j|`, with
    `weight_j = 1 / |initial_j|^exponent` (of standardized columns, if they are standardized) and an
    unpenalized intercept. Large coefficients are hardly shrunk, so fewer columns are selected to
    make up for the shrinkage. Columns whose first coefficient is zero are not selected.

    Parameters
    ----------
    penalty : {"cv", "cv-1se", "plugin"} or float
        As in `Lasso`. `"plugin"` is the Lasso's to the power `1 + exponent`: a column is then
        penalized less than by the Lasso if its first coefficient is above the Lasso's penalty. The
        first estimate is computed again for every fold of the cross-validation.
    initial : {"lasso", "ols"} or array of shape (p,)
        The first estimate: a Lasso, its penalty from theory if `penalty="plugin"` and from
        cross-validation otherwise; least squares, for fewer columns than rows; or given
        coefficients, on the scale of X.
    exponent : float
        How strongly the weights depend on the first estimate.
    standardize, tol, random_state
        As in `Lasso`.

    Attributes
    ----------
    coef_, intercept_, penalty_, max_penalty_, dual_gap_, tuning_, n_features_in_, feature_names_in_
        As in `Lasso`.

    References
    ----------
    Zou (2006), The adaptive Lasso and its oracle properties, JASA 101.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 200))
    >>> y = 3 * X[:, 4] - 2 * X[:, 7] + rng.normal(size=100)
    >>> model = AdaptiveLasso("plugin").fit(X, y)
    >>> model.coef_[model.get_support()].round(1)
    array([ 2.8, -1.8])
    """

    def __init__(
        self,
        penalty: str | float = "cv",
        *,
        initial: Any = "lasso",
        exponent: float = 1.0,
        standardize: bool = True,
        tol: float = 1e-7,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(penalty, standardize=standardize, tol=tol, random_state=random_state)
        self.initial = initial
        self.exponent = exponent

    def _regularizer(self, problem: LinearProblem) -> Regularizer:
        exponent = positive_number("exponent", self.exponent)
        if not isinstance(self.initial, str):
            given = number_array("initial coefficients", self.initial, problem.scale.shape)
            return AdaptiveDescent(partial(_given, given * problem.scale), exponent)
        if self.initial == "ols":
            return AdaptiveDescent(_least_squares, exponent)
        if self.initial == "lasso":
            word = "plugin" if read_penalty(self.penalty) == "plugin" else "cv"
            first = tune(AbsoluteValues(), problem, word, self.tol, self.random_state)
            return AdaptiveDescent(partial(_first_lasso, first.penalty, self.tol), exponent)
        raise OptionError(
            "initial to be 'lasso', 'ols' or coefficients",
            repr(self.initial),
            "Leave it out for the default.",
        )


def _first_lasso(penalty: float, tol: float, X: FloatArray, y: FloatArray) -> FloatArray:
    solver = AbsoluteValues().on(X, y)
    return np.asarray(solver.solve(np.array([penalty]), tol).coefs[0])


def _given(coef: FloatArray, X: FloatArray, y: FloatArray) -> FloatArray:  # noqa: ARG001
    return coef


def _least_squares(X: FloatArray, y: FloatArray) -> FloatArray:
    coef, _, rank, _ = np.linalg.lstsq(X, y)
    if rank < X.shape[1]:
        raise CollinearError(
            "linearly independent columns, fewer than rows, for a first estimate by least squares",
            f"{X.shape[1]} columns of rank {rank}",
            "Use initial='lasso'.",
        )
    return np.asarray(coef)


@dataclass(frozen=True)
class AdaptiveDescent:
    """`sum_j weight_j |t_j|` with `weight_j = |initial_j|^-exponent`.

    Attributes
    ----------
    initial : callable
        Maps centred X (n, p) and y (n,) to first coefficients (p,). It is called for every set of
        rows, so cross-validation covers the first estimate as well.
    exponent : float
        Positive.
    """

    initial: Callable[[FloatArray, FloatArray], FloatArray]
    exponent: float = 1.0

    def on(self, X: FloatArray, y: FloatArray) -> AdaptiveSolver:
        """Return a solver for these data."""
        return AdaptiveSolver(X, y, self.initial(X, y), self.exponent)

    def level(self, X: FloatArray) -> float:
        """Return the level of the Lasso for noise of standard deviation 1."""
        return gaussian_level(X)

    @property
    def degree(self) -> float:
        """The power of the Lasso's plug-in penalty that is used here.

        A first coefficient as large as the Lasso's penalty, which noise may reach, is then
        penalized as in the Lasso; larger ones less, smaller ones more.
        """
        return 1 + self.exponent


class AdaptiveSolver:
    """The Lasso on columns divided by their weights; columns of infinite weight stay out."""

    def __init__(self, X: FloatArray, y: FloatArray, initial: FloatArray, exponent: float) -> None:
        self._p = X.shape[1]
        self._kept = np.flatnonzero(initial)
        if not self._kept.size:
            self.max_penalty = float(np.abs(X.T @ y).max()) / y.size
            return
        self._weights = np.abs(initial[self._kept]) ** -exponent
        scaled = np.asfortranarray(X[:, self._kept] / self._weights)
        self._inner = AbsoluteValues().on(scaled, y)
        self.max_penalty = self._inner.max_penalty

    def solve(self, penalties: FloatArray, tol: float) -> Solutions:
        """Solve for decreasing penalties to a gap of `tol |y|^2 / (2 n)`."""
        coefs = np.zeros((len(penalties), self._p))
        if not self._kept.size:
            return Solutions(coefs, np.zeros(len(penalties)), np.ones(len(penalties), dtype=bool))
        inner = self._inner.solve(penalties, tol)
        coefs[:, self._kept] = inner.coefs / self._weights
        return Solutions(coefs, inner.gaps, inner.converged)
