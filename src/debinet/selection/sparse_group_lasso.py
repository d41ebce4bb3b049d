"""`SparseGroupLasso`: selection of groups, and of columns within them."""

from __future__ import annotations

from typing import Any

from debinet._random import RandomState
from debinet.data.options import positive_number
from debinet.selection.categories import find_groups
from debinet.selection.group_norm import GroupNorm
from debinet.selection.groups import make_groups
from debinet.selection.problem import LinearProblem
from debinet.selection.regularizer import Regularizer
from debinet.selection.selector import PenalizedSelector
from debinet.selection.working_set import WorkingSet


class SparseGroupLasso(PenalizedSelector):
    """Selects groups of columns, and within them the columns that are needed.

    Minimizes `|y - X t|^2 / (2 n) + penalty (l1_ratio |t|_1 + (1 - l1_ratio) sum_g w_g |t_g|_2)`,
    with an unpenalized intercept.

    Parameters
    ----------
    groups : "categories", sequence of p labels, sequence of sequences of columns, mapping, or None
        As in `GroupLasso`.
    penalty : {"cv", "cv-1se", "plugin"} or float
        As in `Lasso`. `"plugin"` is the smallest of `max(a, b)`, `a / l1_ratio` and
        `b / (1 - l1_ratio)`, with a the plug-in penalty of the Lasso and b of the group Lasso.
    l1_ratio : float
        From 0, the group Lasso, to 1, the Lasso. It is not tuned.
    group_weights : sequence of m positive numbers, optional
        As in `GroupLasso`.
    standardize, tol, random_state
        As in `Lasso`.

    Attributes
    ----------
    coef_, intercept_, penalty_, max_penalty_, dual_gap_, tuning_, n_features_in_, feature_names_in_
        As in `Lasso`.

    References
    ----------
    Simon, Friedman, Hastie, Tibshirani (2013), A sparse-group Lasso, JCGS 22.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 6))
    >>> y = 2 * X[:, 3] + rng.normal(size=100)
    >>> SparseGroupLasso(["a", "a", "b", "b", "c", "c"], 0.4).fit(X, y).get_support(indices=True)
    array([3])
    """

    def __init__(
        self,
        groups: Any,
        penalty: str | float = "cv",
        *,
        l1_ratio: float = 0.5,
        group_weights: Any = None,
        standardize: bool = True,
        tol: float = 1e-7,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(penalty, standardize=standardize, tol=tol, random_state=random_state)
        self.groups = groups
        self.l1_ratio = l1_ratio
        self.group_weights = group_weights

    def _regularizer(self, problem: LinearProblem) -> Regularizer:
        groups = make_groups(find_groups(self.groups, problem), problem.names, self.group_weights)
        l1_ratio = positive_number("l1_ratio", self.l1_ratio, 1, zero=True)
        return WorkingSet(GroupNorm(groups, l1_ratio))
