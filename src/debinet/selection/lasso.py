"""`Lasso`: a penalty on absolute values."""

from __future__ import annotations

from debinet.selection.absolute_norm import AbsoluteValues
from debinet.selection.problem import LinearProblem
from debinet.selection.regularizer import Regularizer
from debinet.selection.selector import PenalizedSelector


class Lasso(PenalizedSelector):
    """Selects the columns whose Lasso coefficients are not zero.

    Minimizes `|y - X t|^2 / (2 n) + penalty |t|_1` over t, with an
    unpenalized intercept.

    Parameters
    ----------
    penalty : {"cv", "cv-1se", "plugin"} or float
        A number on scikit-learn's scale, as in the formula. `"cv"`: the smallest held-out error of
        5-fold cross-validation over a path of up to 80 penalties, which ends when the error has
        not fallen for 6 of them. `"cv-1se"`: the largest penalty within one standard error of that.
        `"plugin"`: `1.1 s Phi^-1(1 - g / (2 p)) / sqrt(n)` with `g = 0.1 / log(max(n, p))` and s
        the standard deviation of the noise, from least squares on the selected columns, estimated
        in turns with the selection.
    standardize : bool
        Whether columns are first divided by their standard deviations, so that the penalty does
        not depend on their units. With False, this is `sklearn.linear_model.Lasso`.
    tol : float
        The solver stops when the duality gap is below `tol |y|^2 / (2 n)`, y centred.
    random_state : int, numpy random generator, or None
        Decides the folds of the cross-validation.

    Attributes
    ----------
    coef_ : FloatArray of shape (p,)
        Coefficients on the scale of X.
    intercept_ : float
        Intercept.
    penalty_ : float
        The penalty used.
    max_penalty_ : float
        The smallest penalty that selects nothing.
    dual_gap_ : float
        Upper bound on how far the objective is above its minimum.
    tuning_ : PenaltyChoice
        How the penalty was chosen.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (p,)
        Their names, if X had names.

    References
    ----------
    Tibshirani (1996), Regression shrinkage and selection via the Lasso, JRSS B 58.
    Belloni, Chen, Chernozhukov, Hansen (2012), Sparse models and methods for optimal instruments,
    Econometrica 80.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 200))
    >>> y = 3 * X[:, 4] - 2 * X[:, 7] + rng.normal(size=100)
    >>> Lasso("plugin").fit(X, y).get_support(indices=True)
    array([4, 7])
    """

    def _regularizer(self, problem: LinearProblem) -> Regularizer:  # noqa: ARG002
        return AbsoluteValues()
