"""`ElasticNet`: a penalty on absolute values and squares."""

from __future__ import annotations

from debinet._random import RandomState
from debinet.data.options import positive_number
from debinet.selection.absolute_norm import AbsoluteValues
from debinet.selection.problem import LinearProblem
from debinet.selection.regularizer import Regularizer
from debinet.selection.selector import PenalizedSelector


class ElasticNet(PenalizedSelector):
    """Selects columns like the Lasso, but keeps correlated columns together.

    Minimizes `|y - X t|^2 / (2 n) + penalty (l1_ratio |t|_1 + (1 - l1_ratio) |t|^2 / 2)`, with an
    unpenalized intercept. Unlike for other selectors, the units of y matter, as squares grow faster
    than absolute values; a standard deviation of y near 1 is a sensible choice.

    Parameters
    ----------
    penalty : {"cv", "cv-1se", "plugin"} or float
        As in `Lasso`; `"plugin"` is the Lasso's divided by `l1_ratio`.
    l1_ratio : float
        Share of the absolute values, above 0 and at most 1, which is the Lasso. It is not tuned.
    standardize, tol, random_state
        As in `Lasso`. With `standardize=False`, this is `sklearn.linear_model.ElasticNet`.

    Attributes
    ----------
    coef_, intercept_, penalty_, max_penalty_, dual_gap_, tuning_, n_features_in_, feature_names_in_
        As in `Lasso`.

    References
    ----------
    Zou and Hastie (2005), Regularization and variable selection via the elastic net, JRSS B 67.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 20))
    >>> X[:, 1] = X[:, 0] + 0.01 * rng.normal(size=100)
    >>> y = 3 * X[:, 0] + rng.normal(size=100)
    >>> ElasticNet(0.5).fit(X, y).get_support(indices=True)
    array([0, 1])
    """

    def __init__(
        self,
        penalty: str | float = "cv",
        *,
        l1_ratio: float = 0.5,
        standardize: bool = True,
        tol: float = 1e-7,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(penalty, standardize=standardize, tol=tol, random_state=random_state)
        self.l1_ratio = l1_ratio

    def _regularizer(self, problem: LinearProblem) -> Regularizer:  # noqa: ARG002
        return AbsoluteValues(positive_number("l1_ratio", self.l1_ratio, 1.0))
