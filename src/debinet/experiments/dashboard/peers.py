"""Estimates of other packages, imported when they are used."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from scipy import stats

from debinet.data.simulated import Simulated
from debinet.exceptions import MissingDependencyError, TooFewRowsError
from debinet.experiments.dashboard.estimates import Estimates

_FOLDS = 5
_NORMAL = float(stats.norm.ppf(0.975))


def fit_least_squares(sample: Simulated, seed: int) -> Estimates:  # noqa: ARG001 - draws nothing
    """Return least squares of y on D and Z, with HC3 standard errors."""
    n, q = len(sample.y), len(sample.truth)
    design = np.column_stack([np.ones(n), sample.X.to_numpy()])
    if n <= design.shape[1]:
        raise TooFewRowsError(
            "more rows than columns", f"{n} and {design.shape[1]}", "Use a penalized regression."
        )
    Q, R = np.linalg.qr(design)
    rows = np.linalg.solve(R, Q.T)  # (X'X)^-1 X'
    coef = rows @ sample.y.to_numpy()
    residuals = (sample.y.to_numpy() - design @ coef) / (1 - (Q**2).sum(axis=1))
    se = np.sqrt((rows**2) @ residuals**2)[1 : q + 1]
    reach = stats.t.ppf(0.975, n - design.shape[1]) * se
    coef = coef[1 : q + 1]
    return Estimates(coef, se, coef - reach, coef + reach)


def fit_doubleml(sample: Simulated, seed: int, *, learner: Callable[[int], Any]) -> Estimates:
    """Return DoubleML's `DoubleMLPLR`, partialling out, five folds.

    The folds are given to it: its own come from numpy's global random state.
    """
    doubleml = _require("doubleml", "DoubleML")
    from sklearn.model_selection import KFold

    treatments = list(sample.truth.index)
    controls = [name for name in sample.X.columns if name not in treatments]
    data = doubleml.DoubleMLData(sample.X.assign(y=sample.y), "y", treatments, x_cols=controls)
    model = doubleml.DoubleMLPLR(
        data, learner(seed), learner(seed), score="partialling out", draw_sample_splitting=False
    )
    folds = KFold(_FOLDS, shuffle=True, random_state=seed % 2**32)
    model.set_sample_splitting([list(folds.split(sample.X))])
    model.fit()
    return _normal(model.coef, model.se)


def fit_econml(sample: Simulated, seed: int) -> Estimates:
    """Return EconML's `LinearDML` with its defaults and a constant effect.

    Its default learner is the better of a linear model and a forest, with two folds.
    """
    econml = _require("econml.dml", "econml")
    q, X = len(sample.truth), sample.X.to_numpy()
    model = econml.LinearDML(random_state=seed % 2**32)
    model.fit(sample.y.to_numpy(), X[:, :q] if q > 1 else X[:, 0], W=X[:, q:])
    found = model.intercept__inference()
    return _normal(np.ravel(found.point_estimate), np.ravel(found.stderr))


def forest(seed: int) -> Any:
    """Return a random forest."""
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(200, min_samples_leaf=5, random_state=seed % 2**32)


def lightgbm(seed: int) -> Any:
    """Return LightGBM's boosted trees with their defaults."""
    package = _require("lightgbm", "lightgbm")
    return package.LGBMRegressor(n_jobs=1, verbose=-1, random_state=seed % 2**32)


def lasso(seed: int) -> Any:
    """Return a cross-validated Lasso of standardized controls."""
    from sklearn.linear_model import LassoCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LassoCV(random_state=seed % 2**32))


def mlp(seed: int) -> Any:
    """Return scikit-learn's network with one layer of 100 units, stopped early, on scaled data."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    network = MLPRegressor(early_stopping=True, max_iter=500, random_state=seed % 2**32)
    scaled = make_pipeline(StandardScaler(), network)
    return TransformedTargetRegressor(scaled, transformer=StandardScaler())


def _normal(coef: Any, se: Any) -> Estimates:
    coef, se = np.asarray(coef, dtype=np.float64), np.asarray(se, dtype=np.float64)
    return Estimates(coef, se, coef - _NORMAL * se, coef + _NORMAL * se)


def _require(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            f"the package {package}", str(error), "Run: pip install 'debinet[bench]'"
        ) from error
