"""Estimators of this and other packages behind one call: data in, coefficients and intervals out.

Every function takes a `Problem` and a seed and returns an array of shape (3, q): coefficients,
lower and upper ends of 95 % intervals of the treatments. Used by `peers.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from doubleml_comparison import make_learner
from sklearn.linear_model import LassoCV
from sklearn.model_selection import GroupKFold

import debinet as dn

NORMAL_QUANTILE = 1.959963984540054


@dataclass(frozen=True)
class Problem:
    """Data, and the coefficients to estimate.

    Attributes
    ----------
    X : DataFrame of shape (n, p)
        All features; the treatments come first.
    y : Series of length n
    truth : Series of length q
        True coefficients by the names of the treatments.
    groups : array of shape (n,) or None
        Clusters.
    """

    X: pd.DataFrame
    y: pd.Series
    truth: pd.Series
    groups: np.ndarray | None = None


Estimator = Callable[[Problem, int], np.ndarray]


def ours(problem: Problem, seed: int, *, learner: Any = "wide", clusters: bool = True) -> Any:
    if callable(learner):
        learner = learner(seed)
    model = dn.PartiallyLinear(list(problem.truth.index), learner, random_state=seed)
    groups = problem.groups if clusters else None
    frame = model.fit(problem.X, problem.y, groups=groups).result_.to_frame()
    return frame[["coef", "lower", "upper"]].to_numpy().T


def ours_debiased_lasso(problem: Problem, seed: int) -> np.ndarray:
    model = dn.DebiasedLasso(n_jobs=1, random_state=seed).fit(problem.X, problem.y)
    frame = model.result_.to_frame().loc[problem.truth.index]
    return frame[["coef", "lower", "upper"]].to_numpy().T


def doubleml_plr(problem: Problem, seed: int, *, learner: Any, clusters: bool = True) -> np.ndarray:
    import doubleml
    from sklearn.base import clone

    frame = problem.X.assign(y=problem.y)
    options: dict[str, Any] = {"x_cols": list(problem.X.columns[len(problem.truth) :])}
    if clusters and problem.groups is not None:
        frame["cluster"] = problem.groups
        options["cluster_cols"] = "cluster"
    data = doubleml.DoubleMLData(frame, "y", list(problem.truth.index), **options)
    np.random.seed(seed)  # noqa: NPY002 - DoubleML draws its folds from the global state
    learner = learner(seed)
    model = doubleml.DoubleMLPLR(data, learner, clone(learner), n_folds=5).fit()
    return np.vstack([model.coef, model.confint().to_numpy().T])


def econml_linear(problem: Problem, seed: int) -> np.ndarray:
    """Fit EconML's `LinearDML` with a constant effect: X is None, the controls are W.

    By default it has two folds and the better of a linear model and a forest. Groups keep clusters
    together in folds; there is no covariance for them.
    """
    from econml.dml import LinearDML

    q = len(problem.truth)
    X = problem.X.to_numpy()
    grouped = problem.groups is not None
    model = LinearDML(cv=GroupKFold(2) if grouped else 2, random_state=seed)
    model.fit(
        problem.y.to_numpy(),
        X[:, :q] if q > 1 else X[:, 0],
        W=X[:, q:],
        **({"groups": problem.groups} if grouped else {}),
    )
    lower, upper = model.intercept__interval(alpha=0.05)
    return np.vstack([np.ravel(value) for value in (model.intercept_, lower, upper)])


def econml_debiased_lasso(problem: Problem, seed: int) -> np.ndarray:
    """Fit EconML's `DebiasedLasso`; three values of `alpha_cov` instead of ten, for time."""
    from econml.sklearn_extensions.linear_model import DebiasedLasso

    q = len(problem.truth)
    model = DebiasedLasso(n_alphas_cov=3, random_state=seed)
    model.fit(problem.X.to_numpy(), problem.y.to_numpy())
    lower, upper = model.coef__interval(alpha=0.05)
    return np.vstack([model.coef_[:q], lower[:q], upper[:q]])


def hidimstat_lasso(problem: Problem, seed: int, *, path: Any = None) -> np.ndarray:
    """Fit hidimstat's desparsified Lasso.

    `preconfigure_model_x_path=None` scales the nodewise penalties to the data; the default leaves
    all of them at 1.
    """
    from hidimstat import DesparsifiedLasso

    q = len(problem.truth)
    model = DesparsifiedLasso(preconfigure_model_x_path=path, random_state=seed)
    model.fit(problem.X.to_numpy(), problem.y.to_numpy())
    model.importance()
    ends = (model.confidence_bound_min_, model.confidence_bound_max_)
    return np.vstack([model.importances_[:q], *(end[:q] for end in ends)])


def hdmpy_effects(problem: Problem, seed: int) -> np.ndarray:  # noqa: ARG001 - draws nothing
    """Fit `rlassoEffects` of hdmpy, a port of R's hdm, with its default, partialling out."""
    import hdmpy

    index = list(range(len(problem.truth)))
    X, y = problem.X.to_numpy(), problem.y.to_numpy()
    fit = hdmpy.rlassoEffects(X, y, index=index, method="partialling out", par_any=False).res
    coef, se = (np.asarray(fit[name], dtype=float).ravel() for name in ("coefficients", "se"))
    return np.vstack([coef, coef - NORMAL_QUANTILE * se, coef + NORMAL_QUANTILE * se])


def _forest(seed: int) -> Any:
    return make_learner("DoubleML, forest", seed)


def _boosting(seed: int) -> Any:
    return make_learner("DoubleML, LightGBM", seed)


def _lasso(seed: int) -> Any:
    return make_learner("DoubleML, LassoCV", seed)


def _short_lasso(seed: int) -> Any:  # noqa: ARG001 - its folds are not shuffled
    return LassoCV(alphas=20)


ESTIMATORS: dict[str, Estimator] = {
    "debinet, default": ours,
    "debinet, default, clusters ignored": partial(ours, clusters=False),
    "debinet, LassoCV of 20 penalties": partial(ours, learner=_short_lasso),
    "debinet, DebiasedLasso": ours_debiased_lasso,
    "DoubleML, forest": partial(doubleml_plr, learner=_forest),
    "DoubleML, LightGBM": partial(doubleml_plr, learner=_boosting),
    "DoubleML, LassoCV": partial(doubleml_plr, learner=_lasso),
    "DoubleML, LassoCV of 20 penalties": partial(doubleml_plr, learner=_short_lasso),
    "DoubleML, LassoCV, clusters ignored": partial(doubleml_plr, learner=_lasso, clusters=False),
    "EconML LinearDML, default": econml_linear,
    "EconML DebiasedLasso": econml_debiased_lasso,
    "hidimstat DesparsifiedLasso, scaled penalties": hidimstat_lasso,
    "hidimstat DesparsifiedLasso, default": partial(hidimstat_lasso, path=True),
    "hdmpy rlassoEffects": hdmpy_effects,
}
