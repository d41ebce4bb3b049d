"""The wide network with a logistic link: against scikit-learn, refits and integrals."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from debinet.exceptions import LearnerError
from debinet.learners.logistic import _solve, fit_logistic
from debinet.learners.logistic_net import LogisticNet


def data(n=200, r=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, r))
    X -= X.mean(axis=0)
    a = (rng.uniform(size=n) < expit(X[:, 0])).astype(float)
    return X, a, rng.uniform(0.5, 2.0, size=n)


@pytest.mark.parametrize("variance", [0.01, 1.0, 100.0])
def test_coefficients_at_a_penalty_are_scikit_learns(variance):
    X, a, w = data()
    columns = np.column_stack([X, np.ones(200)])
    found = _solve(columns, a, w, variance, np.zeros(4))
    peer = LogisticRegression(C=variance, tol=1e-10, max_iter=1000).fit(X, a, sample_weight=w)
    np.testing.assert_allclose(found.coef, peer.coef_[0], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.intercept, peer.intercept_[0], rtol=1e-5, atol=1e-7)


def test_heldout_predictors_are_near_those_of_refits():
    """One quadratic step from the fit to all rows; the remainder is of second order."""
    X, a, w = data()
    columns = np.column_stack([X, np.ones(200)])
    found = _solve(columns, a, w, 1.0, np.zeros(4))
    in_sample = X @ found.coef + found.intercept
    for i in range(0, 200, 20):
        without = w * (np.arange(200) != i)
        refit = _solve(columns, a, without, 1.0, np.zeros(4))
        exact = X[i] @ refit.coef + refit.intercept
        assert abs(found.heldout[i] - exact) < 0.15 * abs(in_sample[i] - exact) + 1e-4


def test_the_laplace_likelihood_is_near_the_integral():
    """One feature: integrate the likelihood over its coefficient and a flat intercept."""
    X, a, w = data(60, 1)
    columns = np.column_stack([X, np.ones(60)])

    def log_likelihood(b, c):
        eta = b * X[:, 0] + c
        return w @ (a * eta - np.logaddexp(0.0, eta))

    found = [_solve(columns, a, w, variance, np.zeros(2)) for variance in (0.05, 2.0)]
    top = max(log_likelihood(one.coef[0], one.intercept) for one in found)

    def integral(variance):
        def over_intercepts(b):
            inner = quad(lambda c: np.exp(log_likelihood(b, c) - top), -4, 4, epsabs=1e-10)[0]
            return inner * np.exp(-0.5 * b**2 / variance) / np.sqrt(variance)

        return np.log(quad(over_intercepts, -6, 6, epsabs=1e-8)[0])

    expected = integral(2.0) - integral(0.05)
    # Laplace's approximation has an error of order 1/n.
    assert abs((found[0].criterion - found[1].criterion) - expected) < 0.02


def test_the_penalty_has_the_greatest_likelihood():
    X, a, w = data()
    columns = np.column_stack([X, np.ones(200)])
    best = fit_logistic(X, a, w).criterion
    others = [_solve(columns, a, w, v, np.zeros(4)).criterion for v in np.geomspace(1e-3, 1e3, 13)]
    assert best <= min(others) + 1e-3


def test_noise_is_not_learned():
    rng = np.random.default_rng(1)
    Z, a = rng.normal(size=(400, 3)), rng.uniform(size=400) < 0.3
    net = LogisticNet(random_state=0).fit(Z, a)
    assert np.std(net.heldout_[:, 1]) < 0.05
    assert abs(net.heldout_[:, 1].mean() - a.mean()) < 0.01


def test_a_curve_is_learned_better_than_by_a_line_and_classes_sum_to_one():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(800, 3))
    p = expit(2 * np.sin(2 * Z[:, 0]))
    a = rng.uniform(size=800) < p
    net = LogisticNet(random_state=0).fit(Z, a)
    line = LogisticRegression().fit(Z, a).predict_proba(Z)[:, 1]
    error = np.sqrt(np.mean((net.heldout_[:, 1] - p) ** 2))
    assert error < 0.08
    assert np.sqrt(np.mean((line - p) ** 2)) > 0.2
    three = LogisticNet(random_state=0).fit(Z, a + (Z[:, 1] > 0))
    np.testing.assert_allclose(three.predict_proba(Z).sum(axis=1), 1.0)
    assert three.predict(Z).shape == (800,)
    again = LogisticNet(random_state=0).fit(Z, a)
    np.testing.assert_array_equal(again.heldout_, net.heldout_)


def test_rows_of_weight_zero_have_no_influence():
    rng = np.random.default_rng(0)
    Z, a = rng.normal(size=(150, 2)), rng.integers(2, size=150)
    w = (np.arange(150) < 120) * 1.0
    whole = LogisticNet(random_state=0).fit(Z, a, w).predict_proba(Z)
    part = LogisticNet(random_state=0).fit(Z[:120], a[:120]).predict_proba(Z)
    np.testing.assert_allclose(whole, part, rtol=1e-6)
    with pytest.raises(LearnerError, match="two classes"):
        LogisticNet().fit(Z, np.zeros(150))
