"""`Slope`: a penalty on sorted absolute values."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from debinet._random import RandomState
from debinet.data.options import number_array, one_of, share
from debinet.exceptions import InputError, OptionError
from debinet.protocols import FloatArray
from debinet.selection.duality import gradient_and_gap
from debinet.selection.problem import LinearProblem
from debinet.selection.regularizer import Regularizer, Solutions
from debinet.selection.selector import PenalizedSelector
from debinet.selection.sorted_norm import SortedNorm, benjamini_hochberg_weights
from debinet.selection.working_set import WorkingSet, WorkingSetSolver

SOLVERS = ("own", "auto", "sortedl1")


class Slope(PenalizedSelector):
    """Selects the columns whose SLOPE coefficients are not zero.

    Minimizes `|y - X t|^2 / (2 n) + penalty sum_i weight_i |t|_(i)`, where `|t|_(1)` is the largest
    absolute coefficient, `|t|_(2)` the next, and the weights decrease; the intercept is not
    penalized. The strongest columns have the highest weights and the others lower ones, as in the
    procedure of Benjamini and Hochberg.

    Parameters
    ----------
    penalty : {"cv", "cv-1se", "plugin"} or float
        As in `Lasso`. `"plugin"` is `s / sqrt(n)` with s the standard deviation of the noise: for
        orthogonal columns, the false discovery rate of the selection is then at most `q`.
    q : float
        Target of the false discovery rate, between 0 and 1: the weights are
        `Phi^-1(1 - i q / (2 p))`.
    weights : sequence of p numbers, optional
        Nonincreasing weights in place of those from `q`. Equal ones give the Lasso.
    solver : {"own", "auto", "sortedl1"}
        `"sortedl1"` is the package of that name, which must be installed (GPL licence). `"auto"`
        uses it if it is installed and the duality gap shows that its solution is right. The minimum
        is the same.
    standardize, tol, random_state
        As in `Lasso`.

    Attributes
    ----------
    coef_, intercept_, penalty_, max_penalty_, dual_gap_, tuning_, n_features_in_, feature_names_in_
        As in `Lasso`.

    References
    ----------
    Bogdan, van den Berg, Sabatti, Su, Candes (2015), SLOPE - adaptive variable selection via convex
    optimization, Annals of Applied Statistics 9.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 200))
    >>> y = 3 * X[:, 4] - 2 * X[:, 7] + rng.normal(size=100)
    >>> Slope("plugin", q=0.05).fit(X, y).get_support(indices=True)
    array([4, 7])
    """

    def __init__(
        self,
        penalty: str | float = "cv",
        *,
        q: float = 0.1,
        weights: Any = None,
        solver: str = "own",
        standardize: bool = True,
        tol: float = 1e-7,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(penalty, standardize=standardize, tol=tol, random_state=random_state)
        self.q = q
        self.weights = weights
        self.solver = solver

    def _regularizer(self, problem: LinearProblem) -> Regularizer:
        p = problem.scale.size
        if self.weights is None:
            rate = share("q", self.q, "Use q=0.1 for 10 % false discoveries.")
            weights = benjamini_hochberg_weights(p, rate)
        else:
            weights = _read_weights(self.weights, p)
        own = WorkingSet(SortedNorm(weights))
        one_of("solver", self.solver, SOLVERS, "Leave it out for the library's own.")
        if self.solver == "own" or (self.solver == "auto" and not installed()):
            return own
        return SortedL1(own, fall_back=self.solver == "auto")


def _read_weights(weights: Any, p: int) -> FloatArray:
    array = number_array("weights", weights, (p,))
    if (np.diff(array) > 0).any() or array[-1] < 0 or array[0] <= 0:
        raise InputError(
            "weights that do not increase and are not negative, the first one positive",
            f"values from {array[0]:g} to {array[-1]:g}",
            "Sort them from large to small.",
        )
    return array


def installed() -> bool:
    """Return whether sortedl1 can be imported."""
    return find_spec("sortedl1") is not None


@dataclass(frozen=True)
class SortedL1:
    """A sorted norm, solved for by sortedl1.

    Attributes
    ----------
    own : WorkingSet
        The library's own solver, with a SortedNorm.
    fall_back : bool
        Whether the library's own solver takes over where the gap exceeds the tolerance.
    """

    own: WorkingSet
    fall_back: bool
    degree: ClassVar[float] = 1.0

    def on(self, X: FloatArray, y: FloatArray) -> SortedL1Solver:
        """Return a solver for these data."""
        norm = self.own.norm
        if not isinstance(norm, SortedNorm):
            raise TypeError("sortedl1 solves for sorted norms only")
        if not installed():
            raise OptionError(
                "the package sortedl1 for solver='sortedl1'",
                "an environment without it",
                "Install debinet[slope], or use solver='own'.",
            )
        return SortedL1Solver(X, y, norm, self.own.on(X, y), self.fall_back)

    def level(self, X: FloatArray) -> float:
        """Return the plug-in penalty for noise of standard deviation 1."""
        return self.own.level(X)


class SortedL1Solver:
    """Solves for one data set; its solutions are checked by their duality gaps."""

    def __init__(
        self,
        X: FloatArray,
        y: FloatArray,
        norm: SortedNorm,
        own: WorkingSetSolver,
        fall_back: bool,
    ) -> None:
        self._X, self._y, self._norm = X, y, norm
        self._own, self._fall_back = own, fall_back
        self.max_penalty = own.max_penalty

    def solve(self, penalties: FloatArray, tol: float) -> Solutions:
        """Solve for penalties to a gap of `tol |y|^2 / (2 n)`."""
        target = tol * float(self._y @ self._y) / (2 * self._y.size)
        coefs = np.empty((len(penalties), self._X.shape[1]))
        gaps = np.empty(len(penalties))
        for g, penalty in enumerate(penalties):
            coef = coefs[g] = self._ask(float(penalty), tol)
            gaps[g] = gradient_and_gap(self._X, self._y, coef, self._norm, penalty=penalty)[1]
        for g in np.flatnonzero((gaps > target) & self._fall_back).tolist():
            own = self._own.solve(penalties[g : g + 1], tol)
            coefs[g], gaps[g] = own.coefs[0], own.gaps[0]
        return Solutions(coefs, gaps, gaps <= target)

    def _ask(self, penalty: float, tol: float) -> FloatArray:
        import sortedl1

        model: Any = sortedl1.Slope(
            lam=self._norm.weights, alpha=penalty, fit_intercept=False, tol=tol / 10
        )
        model.fit(np.ascontiguousarray(self._X), self._y)
        coef = model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_
        return np.asarray(coef, dtype=np.float64).ravel()
