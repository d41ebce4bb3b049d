"""The learner named "linear": no control is dropped for its scale."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.linear_model import LinearRegression

import debinet as dn
from debinet.learners.linear import LinearLearner

N = 200


@pytest.fixture(scope="module")
def mixed():
    """Return controls in units that differ by factors of 1e9, as in shares and in cents."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(N, 4)) * [1e9, 1.0, 1e-6, 1e-9] + [3e9, 0.0, 1e-6, 0.0]
    units = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    d = units.sum(axis=1) + rng.normal(size=N)
    y = 2 * d + units @ [1.0, -1.0, 3.0, -3.0] + rng.normal(size=N)
    return pd.DataFrame(Z, columns=list("abcd")), d, y, units


def test_all_controls_are_used_whatever_their_scale(mixed):
    Z, d, y, units = mixed
    expected = sm.OLS(y, sm.add_constant(np.column_stack([d, units]))).fit()
    model = dn.PartiallyLinear(["t"], "linear", crossfit=None).fit(Z.assign(t=d), y)
    np.testing.assert_allclose(model.result_.estimate, expected.params[1:2], rtol=1e-8)
    np.testing.assert_allclose(model.predict(Z.assign(t=d)), expected.fittedvalues, rtol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("flat", [False, True])
def test_it_is_scikit_learns_on_one_scale(weighted, flat):
    rng = np.random.default_rng(1)
    Z, M = rng.normal(size=(50, 3)), rng.normal(size=(50, 2))
    M = M[:, 0] if flat else M
    w = rng.integers(0, 3, 50).astype(float) if weighted else None
    ours, theirs = (one.fit(Z, M, sample_weight=w) for one in (LinearLearner(), LinearRegression()))
    np.testing.assert_allclose(ours.predict(Z), theirs.predict(Z), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-12)


def test_columns_that_others_determine_are_harmless():
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(40, 3))
    y = Z[:, 0] + rng.normal(size=40)
    twice = np.column_stack([Z, Z[:, 0] + Z[:, 1], np.ones(40)])
    np.testing.assert_allclose(
        LinearLearner().fit(twice, y).predict(twice), LinearLearner().fit(Z, y).predict(Z)
    )
