"""The IV-type method: its equations, covariances and refusals, against formulas written out."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

import debinet as dn
from debinet.exceptions import CollinearError, CovarianceError, OptionError
from debinet.inference.methods import WeightedRows, solve
from debinet.protocols import HeldOut

N, Q = 90, 2


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(N, 3))
    D = np.column_stack([Z[:, 0] + rng.normal(size=N), np.abs(Z[:, 1]) + rng.normal(size=N)])
    y = D @ [1.0, -0.5] + Z[:, 0] ** 2 + rng.normal(size=N) * (1 + np.abs(D[:, 0]))
    return np.hstack([D, Z]), y, rng.uniform(0.5, 2.0, size=N), rng.integers(15, size=N)


def folds():
    codes = np.arange(N) % 3
    return [(np.flatnonzero(codes != k), np.flatnonzero(codes == k)) for k in range(3)]


def fitted(sample, method="iv-type", learner=None, **options):
    X, y, *_ = sample
    learner = Ridge(20.0) if learner is None else learner
    return dn.PartiallyLinear([0, 1], learner, crossfit=folds(), method=method).fit(X, y, **options)


def by_hand(sample, w):
    """Return R_D, D and `y - g`, with ridge regressions fitted in each fold."""
    X, y, *_ = sample
    D, Z = X[:, :Q], X[:, Q:]

    def held_out(target):
        found = np.empty_like(target)
        for train, test in folds():
            model = Ridge(20.0).fit(Z[train], target[train], sample_weight=w[train])
            found[test] = model.predict(Z[test])
        return found

    R_D = D - held_out(D)
    root = np.sqrt(w)
    start = np.linalg.lstsq(root[:, None] * R_D, root * (y - held_out(y)), rcond=None)[0]
    return R_D, D, y - held_out(y - D @ start)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_equations_of_two_treatments(sample, weighted):
    weights = sample[2]
    w = weights if weighted else np.ones(N)
    result = fitted(sample, sample_weight=weights if weighted else None).result_
    R_D, D, left = by_hand(sample, w)
    coef = np.linalg.solve(R_D.T @ (w[:, None] * D), R_D.T @ (w * left))
    np.testing.assert_allclose(result.estimate, coef, rtol=1e-10)
    e = left - D @ coef
    np.testing.assert_allclose(result.scores[0], (w * e)[:, None] * R_D, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(result.scores[0].sum(axis=0), 0, atol=1e-9)
    inverse = np.linalg.inv(R_D.T @ (w[:, None] * D))
    psi = (w * e)[:, None] * R_D
    assert result.vcov_type == "HC0"
    np.testing.assert_allclose(result.covariance, inverse @ psi.T @ psi @ inverse.T, rtol=1e-8)
    sigma2 = (w * e**2).sum() / (N - Q)
    iid = sigma2 * inverse @ (R_D.T @ (w[:, None] * R_D)) @ inverse.T
    np.testing.assert_allclose(result.with_vcov("iid").covariance, iid, rtol=1e-8)


def test_clusters(sample):
    groups = sample[3]
    result = fitted(sample).result_.with_vcov("cluster", groups)
    R_D, D, left = by_hand(sample, np.ones(N))
    psi = (left - D @ result.estimate)[:, None] * R_D
    sums = np.array([psi[groups == g].sum(axis=0) for g in np.unique(groups)])
    inverse = np.linalg.inv(R_D.T @ D)
    count = len(sums)
    correction = count / (count - 1) * (N - 1) / (N - Q)
    expected = correction * inverse @ sums.T @ sums @ inverse.T
    np.testing.assert_allclose(result.covariance, expected, rtol=1e-8)


def test_hc3_uses_the_residuals_without_each_row(sample):
    R_D, D, left = by_hand(sample, np.ones(N))
    inverse = np.linalg.inv(R_D.T @ D)
    influence = np.empty((N, Q))
    for i in range(N):
        keep = np.arange(N) != i
        alone = np.linalg.solve(R_D[keep].T @ D[keep], R_D[keep].T @ left[keep])
        influence[i] = inverse @ R_D[i] * (left[i] - D[i] @ alone)
    found = fitted(sample).result_.with_vcov("HC3").covariance
    np.testing.assert_allclose(found, influence.T @ influence, rtol=1e-8)


@pytest.mark.parametrize("kind", ["HC2", "full"])
def test_covariances_without_a_meaning_are_refused(sample, kind):
    with pytest.raises(CovarianceError):
        fitted(sample).result_.with_vcov(kind)


def test_with_means_it_is_least_squares(sample):
    """Leave-one-out residuals of means are multiples of the centred columns."""
    X, y, *_ = sample
    both = [
        dn.PartiallyLinear([0, 1], "mean", crossfit="loo", method=method).fit(X[:, :2], y).result_
        for method in ("iv-type", "dml2")
    ]
    np.testing.assert_allclose(both[0].estimate, both[1].estimate, rtol=1e-10)


def test_predictions_use_g(sample):
    X = sample[0]
    model = fitted(sample)
    means = model._fitted.means[0]
    Z, coef = X[:, Q:], model.result_.estimate
    f = means.g.predict(Z)[:, 0] + means.joint.predict(Z)[:, 1:] @ (means.pilot - coef)
    np.testing.assert_allclose(model.predict(X), X[:, :Q] @ coef + f, rtol=1e-10)


def test_it_can_be_saved(sample, tmp_path):
    model = fitted(sample)
    model.save(tmp_path / "model.npz")
    twin = dn.load(tmp_path / "model.npz").result_.with_vcov("HC3")
    np.testing.assert_array_equal(twin.covariance, model.result_.with_vcov("HC3").covariance)


def test_refusals(sample):
    X, y, *_ = sample
    model = dn.PartiallyLinear([0], LinearRegression(), crossfit=None, method="iv-type")
    with pytest.raises(OptionError, match="iv-type"):
        model.fit(X, y)
    with pytest.raises(OptionError, match="separately"):
        fitted(sample).result_.correct_measurement_error(0.1)


def test_useless_instruments_are_refused():
    rng = np.random.default_rng(0)
    R_D = rng.normal(size=(50, 1))
    D = rng.normal(size=(50, 1))
    D -= R_D * (R_D.T @ D) / (R_D.T @ R_D)
    M, R = np.hstack([D, D]), np.hstack([R_D, R_D])

    class Nothing:
        label = "nothing"

        def hold_out(self, M, *names):
            return HeldOut(np.zeros_like(M), ())

    with pytest.raises(CollinearError, match="iv-type"):
        solve("iv-type", Nothing(), WeightedRows(None), M, R)
