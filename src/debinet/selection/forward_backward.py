"""`ForwardBackward`: stepwise selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from debinet.data.options import one_of, positive_number, whole_number
from debinet.exceptions import OptionError
from debinet.selection.paths import StepPath
from debinet.selection.problem import read_problem
from debinet.selection.selector import LinearSelector
from debinet.selection.stepwise import Rule, information_rule, pvalue_rule, select_stepwise

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CRITERIA = ("bic", "aic", "pvalue")


class ForwardBackward(LinearSelector):
    """Selects columns by forward steps, each followed by backward steps as long as they improve.

    A forward step adds the column that lowers the residual sum of squares of least squares most; a
    backward step drops the column that raises it least. Coefficients are those of least squares on
    the selected columns; the scales of the columns do not matter. A column that is a linear
    combination of the selected ones never enters.

    Parameters
    ----------
    criterion : {"bic", "aic", "pvalue"}
        Steps are taken while `n log(rss / n) + k cost` falls, with cost `log(n)` (BIC) or 2 (AIC);
        or while the F test of an entering column has a p-value below `entry`, and that of a leaving
        column one above `removal`. With many columns the best one looks good by chance alone; only
        `"pvalue"` with a small `entry`, such as `0.05 / p`, accounts for that.
    entry, removal : float
        Thresholds of `"pvalue"`, `entry` at most `removal`.
    max_features : int, optional
        Largest number of columns to select; half the number of rows if left out, since a fit with
        fewer degrees of freedom says little about new rows.

    Attributes
    ----------
    steps_ : tuple of str
        The steps: "+name" or "-name".
    coef_, intercept_, n_features_in_, feature_names_in_
        As in `Lasso`.

    References
    ----------
    Efroymson (1960), Multiple regression analysis, in Mathematical Methods for Digital Computers.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 10))
    >>> y = 3 * X[:, 4] - 2 * X[:, 7] + rng.normal(size=100)
    >>> ForwardBackward("pvalue", entry=0.005).fit(X, y).steps_
    ('+x4', '+x7')
    """

    def __init__(
        self,
        criterion: str = "bic",
        *,
        entry: float = 0.05,
        removal: float = 0.10,
        max_features: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.entry = entry
        self.removal = removal
        self.max_features = max_features

    def fit(self, X: Any, y: Any) -> Self:
        """Select columns of X.

        Parameters
        ----------
        X, y
            As in `Lasso.fit`.
        """
        problem = read_problem(X, y, standardize=True)
        n, p = problem.X.shape
        rule, most = self._rule(n), self._most(n, p)
        steps = select_stepwise(problem.X, problem.y, rule, most)
        coef = np.zeros(p)
        if steps:
            coef[list(steps[-1].selected)] = steps[-1].coef
        self._keep(X, problem, coef)
        self._steps = steps
        self.steps_ = tuple(f"{'+' if s.entered else '-'}{problem.names[s.column]}" for s in steps)
        return self

    def path(self) -> StepPath:
        """Return the coefficients after every step."""
        problem = self._data()
        coefs = np.zeros((len(self._steps), problem.scale.size))
        for g, step in enumerate(self._steps):
            coefs[g, list(step.selected)] = step.coef
        coefs = problem.unscale(coefs)
        criterion = np.array([step.criterion for step in self._steps])
        return StepPath(self.steps_, criterion, coefs, problem.intercept(coefs), problem.names)

    def plot_path(self, ax: Axes | None = None) -> Axes:
        """Plot every coefficient against the number of the step."""
        return self.path().plot(ax)

    def _rule(self, n: int) -> Rule:
        one_of("criterion", self.criterion, CRITERIA)
        if self.criterion != "pvalue":
            return information_rule(2.0 if self.criterion == "aic" else float(np.log(n)))
        entry = positive_number("entry", self.entry, 1.0)
        removal = positive_number("removal", self.removal, 1.0)
        if removal < entry:
            raise OptionError(
                "entry at most as large as removal",
                f"entry {entry:g} and removal {removal:g}",
                "Columns would leave as soon as they enter: raise removal.",
            )
        return pvalue_rule(entry, removal)

    def _most(self, n: int, p: int) -> int:
        if self.max_features is None:
            return min(p, max(n // 2, 1))
        remedy = "Leave it out for half the number of rows."
        return min(whole_number("max_features", self.max_features, 1, remedy), p, n - 2)
