"""Selectors against cvxpy, skglm, asgl and sortedl1 on the same rows.

`selectors.json` was written by `benchmarks/selector_reference.py`, which names the versions.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import sklearn.linear_model
from scipy.stats import norm

from debinet.selection.elastic_net import ElasticNet
from debinet.selection.group_lasso import GroupLasso
from debinet.selection.lasso import Lasso
from debinet.selection.slope import Slope
from debinet.selection.sparse_group_lasso import SparseGroupLasso

STORED = json.loads((Path(__file__).parent / "selectors.json").read_text())
X, Y = np.array(STORED["X"]), np.array(STORED["y"])
GROUPS, L1_RATIO, Q = np.array(STORED["groups"]), STORED["l1_ratio"], STORED["q"]
EXACT = {"standardize": False, "tol": 1e-12}


def group_norms(t):
    return sum(
        np.sqrt((g == GROUPS).sum()) * np.linalg.norm(t[g == GROUPS]) for g in set(GROUPS.tolist())
    )


def sorted_norm(t):
    weights = norm.isf(np.arange(1, t.size + 1) * Q / (2 * t.size))
    return weights @ np.sort(np.abs(t))[::-1]


SELECTORS = {
    "Lasso": (Lasso, {}, lambda t: np.abs(t).sum()),
    "ElasticNet": (
        ElasticNet,
        {"l1_ratio": L1_RATIO},
        lambda t: L1_RATIO * np.abs(t).sum() + (1 - L1_RATIO) / 2 * t @ t,
    ),
    "GroupLasso": (GroupLasso, {"groups": GROUPS}, group_norms),
    "SparseGroupLasso": (
        SparseGroupLasso,
        {"groups": GROUPS, "l1_ratio": L1_RATIO},
        lambda t: L1_RATIO * np.abs(t).sum() + (1 - L1_RATIO) * group_norms(t),
    ),
    "Slope": (Slope, {"q": Q}, sorted_norm),
}


def objective(coef, penalty, penalize):
    r = Y - X @ coef
    r = r - r.mean()
    return r @ r / (2 * Y.size) + penalty * penalize(coef)


@pytest.mark.parametrize(
    "row",
    STORED["results"],
    ids=[f"{r['selector']}-{r['library']}-{r['penalty']}" for r in STORED["results"]],
)
def test_objective_equals_that_of_the_other_library(row):
    """To 1e-6 of the minimum; and never above it by more than rounding and the gap."""
    kind, options, penalize = SELECTORS[row["selector"]]
    model = kind(penalty=row["penalty"], **options, **EXACT).fit(X, Y)
    ours = objective(model.coef_, row["penalty"], penalize)
    theirs = objective(np.array(row["coef"]), row["penalty"], penalize)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    assert ours <= theirs * (1 + 1e-11)
    # the objective is strongly convex here (least eigenvalue 0.1): sqrt(2 * 1e-6 / 0.1) is 5e-3
    np.testing.assert_allclose(model.coef_, row["coef"], atol=5e-3)


@pytest.mark.parametrize("penalty", [0.01, 0.3, 1.8])
@pytest.mark.parametrize("shape", [(60, 12), (40, 90)], ids=["n above p", "p above n"])
def test_lasso_and_elastic_net_are_those_of_sklearn_without_standardization(penalty, shape):
    rng = np.random.default_rng(1)
    Z = rng.normal(size=shape)
    v = 5 + Z[:, :3].sum(axis=1) * 2 + rng.normal(size=shape[0])
    lasso = Lasso(penalty, **EXACT).fit(Z, v)
    net = ElasticNet(penalty, l1_ratio=0.4, **EXACT).fit(Z, v)
    options = {"tol": 1e-12, "max_iter": 100_000}
    peer = sklearn.linear_model.Lasso(penalty, **options).fit(Z, v)
    peer_net = sklearn.linear_model.ElasticNet(penalty, l1_ratio=0.4, **options).fit(Z, v)
    for ours, theirs in ((lasso, peer), (net, peer_net)):
        # gaps of 1e-12 leave coefficients uncertain by their square roots
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
        np.testing.assert_allclose(ours.predict(Z), theirs.predict(Z), atol=1e-5)
