"""Rows that several tables share: the paper's networks, and partially linear models."""

from __future__ import annotations

import math
from typing import Any

from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LassoCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from debinet.learners.net.net import Net
from debinet.learners.smoothers import NadarayaWatson
from debinet.models.partially_linear import PartiallyLinear

TREE = DecisionTreeRegressor(max_depth=2)
FOREST = RandomForestRegressor(n_estimators=100)
# What the paper prints of its networks: Adam with this learning rate, early stopping.
_RATE = 2e-4


def early_stopped(width: int) -> Net:
    """Return a network as in common software, stopped by a tenth of the rows.

    Weights start at random and outputs keep their scales. The paper's limitation "does not perform
    well when y and D have different scales" is one of such networks.
    """
    return Net(
        width,
        parametrization="standard",
        start="random",
        standardize="inputs",
        learning_rate=_RATE,
        patience=3,
    )


def five_epochs(width: int) -> Net:
    """Return a network with standardized outputs that starts at zero, after five epochs."""
    return Net(width, learning_rate=_RATE, epochs=5, validation_share=None)


def plm_nn(treatment: str, network: Any) -> PartiallyLinear:
    """Return Algorithm 1: one network for y and D, residuals of the rows it was trained on."""
    return PartiallyLinear([treatment], network, crossfit=None, method="robinson")


def wide_kernel(features: int) -> NadarayaWatson:
    """Return the kernel `exp(-|z - z'|^2 / p)`, scikit-learn's default, of standardized inputs.

    The paper prints no bandwidth; with this one its PLM-NW and NW post-Lasso rows are reproduced.
    """
    return NadarayaWatson(math.sqrt(features / 2))


def plm_nw(treatment: str, kernel: NadarayaWatson) -> PartiallyLinear:
    """Return Algorithm 3: kernel regressions of y, of D and of `y - D coef`."""
    return PartiallyLinear([treatment], kernel, crossfit=None, method="three-step")


def dml(treatment: str, learner: Any) -> PartiallyLinear:
    """Return Algorithm 4 with five folds: the mean of the folds' own coefficients."""
    return PartiallyLinear([treatment], learner, crossfit=5, method="dml1")


def dml_lasso(treatment: str) -> PartiallyLinear:
    """Return Algorithm 4 with a cross-validated Lasso of standardized controls."""
    return dml(treatment, make_pipeline(StandardScaler(), LassoCV(alphas=30)))


def dml_tree(treatment: str) -> PartiallyLinear:
    """Return Algorithm 4 with a tree of depth two for each of y and D."""
    return dml(treatment, MultiOutputRegressor(TREE))


def dml_forest(treatment: str) -> PartiallyLinear:
    """Return Algorithm 4 with a forest of 100 trees for each of y and D."""
    return dml(treatment, MultiOutputRegressor(FOREST))
