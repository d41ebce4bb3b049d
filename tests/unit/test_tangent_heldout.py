"""Held-out predictions in closed form: equal to real refits at the same penalties."""

import numpy as np
import pytest

from debinet.data.folds import Fold, Folds, k_folds, leave_one_out, no_folds
from debinet.exceptions import FoldError, LengthError
from debinet.learners.tangent import TangentNet
from debinet.protocols import PreparedLearner

N = 60


def data(seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(N, 3))
    M = np.column_stack(
        [np.sin(2 * Z[:, 0]), Z @ [1.0, 2.0, -1.0], np.abs(Z[:, 1]) * 1e3 + 5e3, np.zeros(N)]
    )
    M += rng.normal(size=M.shape) * [0.3, 0.3, 100.0, 1.0]
    return Z, M


def weights(kind):
    rng = np.random.default_rng(9)
    weight = rng.uniform(0.2, 3.0, size=N)
    if kind == "some zero":
        weight[rng.choice(N, 12, replace=False)] = 0.0
    return None if kind == "equal" else weight


both_features = pytest.mark.parametrize("features", ["landmarks", "units"])


def network(features, width, seed=0):
    return TangentNet(width=width, features=features, relevance="equal", random_state=seed)


def partition(kind):
    rng = np.random.default_rng(3)
    if kind == "loo":
        return leave_one_out(N)
    if kind == "5 folds":
        return k_folds(N, 5, rng)
    sizes = np.repeat(np.arange(9), [1, 1, 2, 3, 30, 5, 1, 9, 8])
    return leave_one_out(N, rng.permutation(sizes)[:, None])


def hold_out(net, Z, M, folds, weight=None):
    """Return held-out predictions and the model of all rows."""
    held = net.prepare(Z, M, weight).hold_out(M, folds)
    return held.predictions, held.models[0]


def refit(net, Z, M, weight, train, test):
    """Ridge by the normal equations, intercept included: only the features are the library's."""
    feature_map = net._predictor.parts[0].feature_map
    phi = feature_map(Z)
    out = np.empty((len(test), M.shape[1]))
    for j in range(M.shape[1]):
        scale = np.r_[np.ones(feature_map.width), np.full(Z.shape[1], np.sqrt(net.skip_[j]))]
        X = np.column_stack([phi * scale, np.ones(len(Z))])
        if np.isinf(net.penalty_[j]):
            out[:, j] = np.average(M[train, j], weights=weight[train])
            continue
        penalty = np.full(X.shape[1], net.penalty_[j])
        penalty[-1] = 0.0
        normal = (X[train].T * weight[train]) @ X[train] + np.diag(penalty)
        centre = M[:, j].mean()
        coef = np.linalg.solve(normal, X[train].T @ (weight[train] * (M[train, j] - centre)))
        out[:, j] = centre + X[test] @ coef
    return out


@pytest.mark.parametrize("kind", ["loo", "5 folds", "groups"])
@pytest.mark.parametrize("weighted", ["equal", "unequal", "some zero"])
@pytest.mark.parametrize("width", [5, 20, 200])
@both_features
def test_equals_real_refits(features, kind, weighted, width):
    """Few features: blocks by Woodbury's identity; many: directly, through the rows' kernel."""
    # With seed 0 of either a penalty near 1e-8 is chosen, at which normal equations are no
    # reference.
    Z, M = data(seed=0 if features == "units" else 1)
    folds, weight = partition(kind), weights(weighted)
    ours, net = hold_out(network(features, width, 1), Z, M, folds, weight)
    full = np.ones(N) if weight is None else weight
    theirs = np.empty_like(ours)
    for fold in folds:
        theirs[fold.test] = refit(net, Z, M, full, fold.train(N), fold.test)
    np.testing.assert_allclose(ours / M.std(axis=0), theirs / M.std(axis=0), atol=1e-8)
    np.testing.assert_allclose(
        net.predict(Z) / M.std(axis=0),
        refit(net, Z, M, full, np.arange(N), np.arange(N)) / M.std(axis=0),
        atol=1e-8,
    )


@pytest.mark.parametrize("kind", ["loo", "5 folds", "groups", "none"])
@pytest.mark.parametrize("weighted", ["equal", "some zero"])
@both_features
def test_the_adjoint_is_the_transpose(features, kind, weighted):
    Z, M = data()
    weight = weights(weighted)
    folds = no_folds(N) if kind == "none" else partition(kind)
    net = network(features, 20)
    assert isinstance(net, PreparedLearner)
    X = np.random.default_rng(5).normal(size=(N, 2))
    X[(np.ones(N) if weight is None else weight) == 0] = 0.0
    m = M[:, :1]
    prepared = net.prepare(Z, m, weight)
    held = prepared.hold_out(m, folds)
    fitted = net.fit(Z, m, weight).predict(Z) if kind == "none" else held.predictions
    np.testing.assert_allclose(
        prepared.adjoint(X, folds, held).T @ m, X.T @ (m - fitted), rtol=1e-9
    )


@pytest.mark.parametrize("weighted", ["equal", "some zero"])
@both_features
def test_without_folds_predictions_are_those_of_the_fit(features, weighted):
    Z, M = data()
    ours, net = hold_out(network(features, 20), Z, M, no_folds(N), weights(weighted))
    np.testing.assert_allclose(ours / M.std(axis=0), net.predict(Z) / M.std(axis=0), atol=1e-8)


@both_features
def test_nothing_learned_is_the_mean_of_the_others(features):
    M = np.random.default_rng(0).normal(size=(N, 1))
    ours, net = hold_out(network(features, 10), np.ones((N, 2)), M, leave_one_out(N))
    assert np.isinf(net.penalty_[0])
    np.testing.assert_allclose(ours, (M.sum() - M) / (N - 1), rtol=1e-10)


def test_predictions_have_two_dimensions():
    Z, M = data()
    prepared = TangentNet(width=10, random_state=0).prepare(Z, M[:, 0])
    held = prepared.hold_out(M[:, :1], leave_one_out(N))
    assert held.predictions.shape == held.models[0].predict(Z).shape == (N, 1)


def test_folds_that_have_no_closed_form_are_refused():
    Z, M = data()
    prepared = TangentNet(width=10, random_state=0).prepare(Z, M)
    rows = np.arange(N)
    with pytest.raises(LengthError, match="folds of 60 rows"):
        prepared.hold_out(M, leave_one_out(N - 1))
    with pytest.raises(FoldError, match="all other rows"):
        prepared.hold_out(M, leave_one_out(N, np.column_stack([rows % 5, rows // 12])))
    everything = Folds(N, (Fold(np.arange(N), np.arange(N)),), "one fold")
    with pytest.raises(FoldError, match="left to train on"):
        prepared.hold_out(M, everything)
