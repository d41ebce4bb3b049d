"""Restricted likelihood, the mixed model and the structured method, against dense matrices."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import debinet as dn
from debinet.learners.inputs import column_moments
from debinet.learners.spectral.spectrum import RIDGE
from debinet.learners.spectral.tuning import CRITERIA
from debinet.learners.tangent import TangentNet
from debinet.learners.tangent import feature_learner as module
from debinet.learners.tangent.features import HiddenUnits, draw_directions
from debinet.learners.tangent.view import view_features
from debinet.learners.wide.input_map import InputMap
from reachable import largest_array

N = 80


@pytest.fixture(scope="module")
def data():
    X, y, truth = dn.datasets.make_sparse_linear(n=N, p=4, random_state=0)
    return X, y, list(truth.index)


# Landmarks are at most as many as rows, whatever the width.
both_features = pytest.mark.parametrize("features", ["landmarks", "units"])


def network(features, **options):
    return TangentNet(features=features, relevance="equal", random_state=0, **options)


def dense_kernel(net, Z, skip):
    feature_map = net._predictor.parts[0].feature_map
    phi, linear = np.split(feature_map(Z), [feature_map.width], axis=1)
    return phi @ phi.T + skip * (linear @ linear.T)


def restricted(K, F, y, w, log_penalty):
    """Twice the negative restricted log-likelihood, and the coefficients of F."""
    S = K + np.exp(log_penalty) * np.diag(1 / w)
    inverse = np.linalg.inv(S)
    G = F.T @ inverse @ F
    coef = np.linalg.solve(G, F.T @ inverse @ y)
    residual = y - F @ coef
    logs = np.linalg.slogdet(S)[1] + np.linalg.slogdet(G)[1]
    return logs + (len(y) - F.shape[1]) * np.log(residual @ inverse @ residual), coef


def most_likely(K, F, y, w):
    """Return the penalty's logarithm and the coefficients at it."""
    grid = np.linspace(-10, 8, 73)
    best = grid[np.argmin([restricted(K, F, y, w, g)[0] for g in grid])]
    found = minimize_scalar(
        lambda g: restricted(K, F, y, w, g)[0], bounds=(best - 0.5, best + 0.5),
        method="bounded", options={"xatol": 1e-8},
    )  # fmt: skip
    return found.x, restricted(K, F, y, w, found.x)[1]


def some_weights(weighted):
    return np.random.default_rng(0).uniform(0.5, 2, N) if weighted else np.ones(N)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("width", [30, 300])
@both_features
def test_reml_equals_dense_matrices(features, width, weighted):
    """The penalty to 1e-4 in its logarithm: both searches stop well before that."""
    rng = np.random.default_rng(2)
    Z, w = rng.normal(size=(N, 3)), some_weights(weighted)
    y = np.abs(Z[:, 0]) + Z[:, 1] + 0.3 * rng.normal(size=N)
    net = network(features, width=width, skip=2.0).fit(Z, y, w)
    K = dense_kernel(net, Z, 2.0)
    log_penalty, _ = most_likely(K, np.ones((N, 1)), y, w)
    np.testing.assert_allclose(np.log(net.penalty_[0]), log_penalty, atol=1e-4)
    H = np.linalg.inv(K + net.penalty_[0] * np.diag(1 / w))
    Q = H - np.outer(H.sum(axis=1), H.sum(axis=0)) / H.sum()
    noise = net.penalty_[0] * y @ Q @ y / (N - 1)
    np.testing.assert_allclose(net.noise_variance_[0], noise, rtol=1e-8)
    dof = N - net.penalty_[0] * np.trace(Q / w)
    np.testing.assert_allclose(net.dof_[0], dof, rtol=1e-8)


def test_criteria_equal_dense_matrices():
    """REML differences and GCV at three penalties, of a target with energy beyond the features."""
    rng = np.random.default_rng(3)
    Z, y, one = rng.normal(size=(N, 3)), rng.normal(size=N), np.ones(N)
    units = HiddenUnits(InputMap(column_moments(Z, one)), draw_directions(0, 3, 30))
    made = view_features(Z, one, units, (10.0,))
    spectrum = made.spectra[0]
    projected = spectrum.project((y - y.mean())[:, None])
    phi = made.feature_map(Z) * np.r_[np.ones(30), np.full(3, np.sqrt(10.0))]
    K, times = phi @ phi.T, np.array([0.01, 1.0, 100.0])
    dense = [restricted(K, one[:, None], y, one, -np.log(t))[0] for t in times]
    ours = CRITERIA["reml"](spectrum, projected, RIDGE)(times[:, None])[:, 0]
    np.testing.assert_allclose(np.diff(ours), np.diff(dense), rtol=1e-8)
    values = CRITERIA["gcv"](spectrum, projected, RIDGE)(times[:, None])[:, 0]
    for t, value in zip(times, values, strict=True):
        H = np.linalg.inv(np.eye(N) + t * K)
        left = H - np.outer(H.sum(axis=1), H.sum(axis=0)) / H.sum()
        np.testing.assert_allclose(
            value, N * (left @ y) @ (left @ y) / np.trace(left) ** 2, rtol=1e-8
        )


@both_features
def test_gcv_finds_the_same_truth(features):
    rng = np.random.default_rng(4)
    Z = rng.normal(size=(300, 2))
    y = np.abs(Z[:, 0]) + 0.1 * rng.normal(size=300)
    for tune in ("reml", "gcv"):
        net = network(features, width=100, tune=tune).fit(Z, y)
        assert np.mean((net.predict(Z) - np.abs(Z[:, 0])) ** 2) < 0.005
        # a variance from about 270 degrees of freedom: 4 standard errors
        np.testing.assert_allclose(net.noise_variance_, 0.01, rtol=0.35)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("width", [30, 300])
@both_features
def test_gls_equals_dense_matrices(data, features, width, weighted):
    """To 1e-3 of a standard error: the penalty is found to 1e-3 in its logarithm."""
    X, y, names = data
    w = some_weights(weighted)
    Z, D = X.drop(columns=names).to_numpy(), X[names].to_numpy()
    net = network(features, width=width, skip=10.0).fit(Z, y, w)
    pilot = net.prepare(Z, y, w).gls(y.to_numpy(), D)
    F = np.column_stack([np.ones(N), D])
    _, coef = most_likely(dense_kernel(net, Z, 10.0), F, y.to_numpy(), w)
    spread = np.linalg.norm(pilot.rows, axis=0)
    assert np.all(np.abs(pilot.coef - coef[1:]) < 1e-3 * spread)
    np.testing.assert_allclose(pilot.rows.T @ y.to_numpy(), pilot.coef, rtol=1e-12)
    np.testing.assert_allclose(pilot.rows.T @ F, np.eye(3)[1:], atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("crossfit", ["loo", 5, (4, 2), None])
@both_features
def test_the_influence_of_y_gives_the_coefficients(data, features, crossfit, weighted):
    X, y, names = data
    weights = np.r_[np.zeros(5), np.random.default_rng(0).uniform(0.5, 2, N - 5)]
    net = TangentNet(width=40, features=features)
    model = dn.PartiallyLinear(names, net, crossfit=crossfit, random_state=0).fit(
        X, y, sample_weight=weights if weighted else None
    )
    for regression in model.result_.regressions:
        np.testing.assert_allclose(
            regression.influence.T @ y.to_numpy(), regression.coef, rtol=1e-9, atol=1e-10
        )
        np.testing.assert_allclose(regression.influence.sum(axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(
            regression.influence.T @ X[names].to_numpy(), np.eye(2), atol=1e-8
        )
    assert np.isfinite(model.result_.with_vcov("full").vcov).all(axis=None)
    # of 43 features and 80 rows, one decomposition has (80 - 5) x 43 numbers at least
    assert largest_array(model) < 75 * 43


@pytest.mark.parametrize("method", ["joint", "structured", "gls"])
@pytest.mark.parametrize(
    ("random_state", "crossfit", "decompositions"),
    # units without a seed of their own are drawn anew for every repetition
    [(None, "loo", 1), (None, (4, 3), 3), (0, (4, 3), 1)],
)
def test_one_decomposition_serves_all_steps(
    data, monkeypatch, method, random_state, crossfit, decompositions
):
    calls = []
    monkeypatch.setattr(module, "view_features", lambda *a: calls.append(1) or view_features(*a))
    X, y, names = data
    net = TangentNet(width=40, random_state=random_state)
    dn.PartiallyLinear(names, net, method=method, crossfit=crossfit, random_state=0).fit(X, y)
    assert len(calls) == decompositions


@both_features
def test_scales_of_the_mixed_model_do_not_matter(data, features):
    X, y, names = data
    Z, D, y = X.drop(columns=names).to_numpy(), X[names].to_numpy(), y.to_numpy()
    prepared = network(features, width=40).prepare(Z, y)
    plain, scaled = prepared.gls(y, D), prepared.gls(1e6 * y + 5, D * [1e-3, 1e3] + 7)
    np.testing.assert_allclose(scaled.coef, 1e6 * plain.coef / [1e-3, 1e3], rtol=1e-6)
