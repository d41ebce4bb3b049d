"""`GroupLasso`: selection of whole groups of columns."""

from __future__ import annotations

from typing import Any

from debinet._random import RandomState
from debinet.selection.categories import find_groups
from debinet.selection.group_norm import GroupNorm
from debinet.selection.groups import make_groups
from debinet.selection.problem import LinearProblem
from debinet.selection.regularizer import Regularizer
from debinet.selection.selector import PenalizedSelector
from debinet.selection.working_set import WorkingSet


class GroupLasso(PenalizedSelector):
    """Selects groups of columns, such as the categories of a factor, as a whole.

    Minimizes `|y - X t|^2 / (2 n) + penalty sum_g weight_g |t_g|_2`, with an unpenalized
    intercept.

    Parameters
    ----------
    groups : "categories", sequence of p labels, sequence of sequences of columns, mapping, or None
        One label per column; or the columns of every group, by position or name, each column in
        exactly one group. `"categories"` finds the 0-1 columns that code one category by their
        names, such as `region_north` and `region_south`; every other column is then a group. With
        None every column is a group: the Lasso.
    penalty : {"cv", "cv-1se", "plugin"} or float
        As in `Lasso`. `"plugin"` is `1.1 s max_g Q_g / (weight_g sqrt(n))` with `Q_g^2` the
        `1 - g / m` quantile of the chi-square that approximates `|X_g'e|^2 / n` in m groups.
    group_weights : sequence of m positive numbers, optional
        In the order of the groups, or in which labels first appear; square roots of the group
        sizes if left out.
    standardize, tol, random_state
        As in `Lasso`. Columns are scaled one by one, not orthogonalized within groups.

    Attributes
    ----------
    coef_, intercept_, penalty_, max_penalty_, dual_gap_, tuning_, n_features_in_, feature_names_in_
        As in `Lasso`.

    References
    ----------
    Yuan and Lin (2006), Model selection and estimation in regression with grouped variables,
    JRSS B 68.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 6))
    >>> y = X[:, 2] + 2 * X[:, 3] + rng.normal(size=100)
    >>> GroupLasso(["a", "a", "b", "b", "c", "c"], 0.3).fit(X, y).get_support(indices=True)
    array([2, 3])
    """

    def __init__(
        self,
        groups: Any,
        penalty: str | float = "cv",
        *,
        group_weights: Any = None,
        standardize: bool = True,
        tol: float = 1e-7,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(penalty, standardize=standardize, tol=tol, random_state=random_state)
        self.groups = groups
        self.group_weights = group_weights

    def _regularizer(self, problem: LinearProblem) -> Regularizer:
        groups = find_groups(self.groups, problem)
        return WorkingSet(GroupNorm(make_groups(groups, problem.names, self.group_weights)))
