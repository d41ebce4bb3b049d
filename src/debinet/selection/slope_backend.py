"""SLOPE through the package sortedl1, if it is installed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from debinet.exceptions import OptionError
from debinet.protocols import FloatArray
from debinet.selection.duality import gradient_and_gap
from debinet.selection.regularizer import Solutions
from debinet.selection.sorted_norm import SortedNorm
from debinet.selection.working_set import WorkingSet, WorkingSetSolver


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
    """Solves for one data set; its answers are checked by their duality gaps."""

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
