"""Honest intervals: quantiles, coverage at the worst function, and what they refuse."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression

import debinet as dn
from debinet.exceptions import InputError, OptionError
from debinet.inference.honest import bias_bounds, folded_quantile
from debinet.inference.infer import infer
from debinet.inference.regression import ResidualRegression


@pytest.mark.parametrize("t", [0.0, 0.3, 1.0, 4.0, 50.0])
def test_quantile_is_that_of_draws(t):
    draws = np.abs(np.random.default_rng(0).normal(size=1_000_000) + t)
    # density at the quantile is at least 0.05, so its Monte Carlo error is below 0.005: 4 of them
    assert folded_quantile(0.95, t) == pytest.approx(np.quantile(draws, 0.95), abs=0.02)
    assert folded_quantile(0.95, -t) == folded_quantile(0.95, t)


def test_quantile_without_bias_and_with_much():
    assert folded_quantile(0.95, 0.0) == pytest.approx(stats.norm.ppf(0.975))
    assert folded_quantile(0.95, 29.999) == pytest.approx(29.999 + stats.norm.ppf(0.95))


@pytest.fixture(scope="module")
def joint():
    X, y, _ = dn.datasets.make_shared_functions(n=200, random_state=0)
    return dn.PartiallyLinear(["d1"], random_state=0).fit(X, y).result_


def _half(frame):
    return ((frame["upper"] - frame["lower"]) / 2).to_numpy()


def test_bias_is_not_counted_twice(joint):
    bounds = bias_bounds(joint)
    total = joint.se.to_numpy() ** 2
    np.testing.assert_allclose(bounds.se**2 + bounds.bias**2, total, rtol=1e-10)
    robust = joint.with_vcov("HC0")
    np.testing.assert_allclose(bias_bounds(robust).se, robust.se.to_numpy())
    half = _half(joint.confint(honest=True, norm=0.0))
    np.testing.assert_allclose(half, stats.t.ppf(0.975, joint.df) * bounds.se)


def test_few_clusters_without_bias_are_the_usual_interval(joint):
    clustered = joint.with_vcov("cluster", np.arange(joint.n) % 6)
    usual = _half(clustered.confint())
    assert usual > _half(joint.with_vcov("HC0").confint())
    np.testing.assert_allclose(_half(clustered.confint(honest=True, norm=0.0)), usual)


def test_none_is_one_and_more_is_longer(joint):
    one = joint.confint(honest=True)
    assert one.equals(joint.confint(honest=True, norm=1.0))
    assert (_half(joint.confint(honest=True, norm=2.0)) > _half(one)).all()


def test_zero_enters_at_the_breakdown_norm(joint):
    norm = joint.breakdown_norm()["d1"]
    assert norm > 0
    edge = joint.confint(honest=True, norm=norm).loc["d1"]
    assert min(abs(edge["lower"]), abs(edge["upper"])) == pytest.approx(0.0, abs=1e-8)


def test_worst_function_of_that_norm_is_covered():
    # coef = A'y, prior f ~ N(0, K): among f = K a with a'K a = C^2 the bias A'f is largest for
    # a proportional to A, where it is C sqrt(A'K A).
    rng, n, C = np.random.default_rng(1), 60, 4.0
    Z = rng.normal(size=(n, 1))
    K = np.exp(-0.5 * (Z - Z.T) ** 2)
    D = Z + rng.normal(size=(n, 1))
    P = np.linalg.inv(K + np.eye(n))
    A = P @ D @ np.linalg.inv(D.T @ P @ D)
    bias = A.T @ K @ A
    f = C * (K @ A)[:, 0] / np.sqrt(bias[0, 0])
    others = [K @ a for a in rng.normal(size=(500, n))]
    norms = [np.sqrt(g @ np.linalg.lstsq(K, g, rcond=None)[0]) for g in others]
    largest = max(abs(A[:, 0] @ g) * C / size for g, size in zip(others, norms, strict=True))
    assert largest <= A[:, 0] @ f == pytest.approx(C * np.sqrt(bias[0, 0]))
    covered = np.zeros(2)
    runs = 2000
    for _ in range(runs):
        coef = A.T @ (D[:, 0] + f + rng.normal(size=n))
        fit = ResidualRegression(
            D[:, 0], D, coef, influence=A, least_squares=False, noise=1.0, bias=bias
        )
        result = infer([fit], ["d"], "iid")
        for k, frame in enumerate((result.confint(honest=True, norm=C), result.confint())):
            covered[k] += frame["lower"]["d"] <= 1.0 <= frame["upper"]["d"]
    # 4 Monte Carlo errors of 0.0049: a false alarm in 16,000
    assert covered[0] / runs == pytest.approx(0.95, abs=0.02)
    assert covered[1] / runs < 0.9


def test_methods_without_a_known_bias_are_refused():
    X, y, _ = dn.datasets.make_sparse_linear(n=100, random_state=0)
    for method in ("dml2", "structured"):
        model = dn.PartiallyLinear(["d1"], LinearRegression(), method=method, random_state=0)
        result = model.fit(X, y).result_
        with pytest.raises(OptionError, match="'joint' or 'gls'"):
            result.confint(honest=True)
        with pytest.raises(OptionError, match=method):
            result.breakdown_norm()


def test_impossible_requests_are_refused(joint):
    with pytest.raises(InputError, match="not negative"):
        joint.confint(honest=True, norm=-1.0)
    with pytest.raises(OptionError, match="honest=True"):
        joint.confint(norm=1.0)
    with pytest.raises(OptionError, match="joint=False"):
        joint.confint(joint=True, honest=True)
