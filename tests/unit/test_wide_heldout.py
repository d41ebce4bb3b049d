"""Held-out predictions in closed form: equal to real refits at the same penalties."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from debinet.data.folds import Fold, Folds, k_folds, leave_one_out, no_folds
from debinet.exceptions import FoldError, LengthError, OptionError
from debinet.learners.inputs import column_moments
from debinet.learners.wide import WideNet
from debinet.learners.wide.input_map import InputMap
from debinet.learners.wide.kernels import Architecture, kernel_matrix
from debinet.protocols import PreparedLearner

N = 45


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


def partition(kind):
    rng = np.random.default_rng(3)
    if kind == "loo":
        return leave_one_out(N)
    if kind == "5 folds":
        return k_folds(N, 5, rng)
    sizes = np.repeat(np.arange(9), [1, 1, 2, 3, 20, 5, 1, 4, 8])
    return leave_one_out(N, rng.permutation(sizes)[:, None])


def hold_out(net, Z, M, folds, weight=None):
    """Return held-out predictions and the model of all rows."""
    held = net.prepare(Z, M, weight).hold_out(M, folds)
    return held.predictions, held.models[0]


def refit(net, Z, M, weight, train, test):
    """Fit on `train` with the standardization and the penalties of a fit on all rows.

    Bordered system for ridge, spectral definition for the flow; no code of the library but the
    kernel's.
    """
    positive = weight > 0
    A = InputMap(column_moments(Z[positive], weight[positive])).encode(Z)
    train = train[weight[train] > 0]
    out = np.empty((len(test), M.shape[1]))
    for j in range(M.shape[1]):
        architecture = Architecture(net.depth, net.activation, net.train)
        K = kernel_matrix(A[train], A[train], architecture, net.skip_[j])
        k = kernel_matrix(A[test], A[train], architecture, net.skip_[j])
        s, n = np.sqrt(weight[train]), len(train)
        u = s / np.linalg.norm(s)
        P = np.eye(n) - np.outer(u, u)
        if np.isinf(net.penalty_[j]):
            dual = np.zeros(n)
        elif net.filter == "ridge":
            border = np.zeros((n + 1, n + 1))
            border[:n, :n] = K + np.diag(net.penalty_[j] / weight[train])
            border[n, :n] = border[:n, n] = 1.0
            dual = np.linalg.solve(border, np.append(M[train, j], 0.0))[:n]
        else:
            w, E = np.linalg.eigh(P @ (s[:, None] * K * s) @ P)
            share = -np.expm1(-w / net.penalty_[j]) / np.where(w == 0, 1, w)
            dual = s * (P @ E @ (share * (E.T @ P @ (s * M[train, j]))))
        intercept = np.average(M[train, j] - K @ dual, weights=weight[train])
        out[:, j] = intercept + k @ dual
    return out


@pytest.mark.parametrize("kind", ["loo", "5 folds", "groups"])
@pytest.mark.parametrize("weighted", ["equal", "unequal", "some zero"])
@pytest.mark.parametrize("name", ["ridge", "flow"])
def test_equals_real_refits(kind, weighted, name):
    Z, M = data()
    folds, weight = partition(kind), weights(weighted)
    ours, net = hold_out(WideNet(filter=name), Z, M, folds, weight)
    full = np.ones(N) if weight is None else weight
    theirs = np.empty_like(ours)
    for fold in folds:
        theirs[fold.test] = refit(net, Z, M, full, fold.train(N), fold.test)
    np.testing.assert_allclose(ours / M.std(axis=0), theirs / M.std(axis=0), atol=1e-8)


@pytest.mark.parametrize(
    "options",
    [
        {"depth": 3},
        {"activation": "leaky_relu", "tune": "gcv"},
        {"activation": "erf", "skip": 3.0, "tune": "loo"},
        {"activation": "tanh", "filter": "flow", "tune": "loo"},
        {"train": "first", "skip": 0.0},
    ],
    ids=str,
)
def test_equals_real_refits_for_every_network(options):
    Z, M = data(1)
    folds = partition("groups")
    ours, net = hold_out(WideNet(**options), Z, M, folds)
    for fold in folds:
        theirs = refit(net, Z, M, np.ones(N), fold.train(N), fold.test)
        np.testing.assert_allclose(
            ours[fold.test] / M.std(axis=0), theirs / M.std(axis=0), atol=1e-8
        )


@pytest.mark.parametrize("name", ["ridge", "flow"])
def test_nothing_learned_is_the_mean_of_the_others(name):
    # a constant kernel's complement is empty: all rows alike
    Z, M = np.ones((10, 2)), np.arange(10.0)[:, None]
    held, net = hold_out(WideNet(filter=name), Z, M, leave_one_out(10))
    assert np.isinf(net.penalty_[0])
    np.testing.assert_allclose(held, (M.sum() - M) / 9, rtol=1e-12)


@pytest.mark.parametrize("weighted", ["equal", "unequal"])
def test_agrees_with_scikit_learns_ridge_on_kernel_features(weighted):
    # K = L L', so ridge with an intercept on the rows of L is the same estimator
    Z, M = data(2)
    weight = np.ones(N) if weighted == "equal" else weights(weighted)
    folds = partition("5 folds")
    held, net = hold_out(WideNet(), Z, M, folds, weight)
    A = InputMap(column_moments(Z, weight)).encode(Z)
    for j in np.flatnonzero(np.isfinite(net.penalty_)):
        K = kernel_matrix(A, A, Architecture(), net.skip_[j])
        w, E = np.linalg.eigh(K)
        L = E * np.sqrt(np.maximum(w, 0))
        ridge = Ridge(alpha=net.penalty_[j], solver="cholesky")
        for fold in folds:
            train = fold.train(N)
            ridge.fit(L[train], M[train, j], weight[train])
            np.testing.assert_allclose(
                held[fold.test, j], ridge.predict(L[fold.test]), rtol=1e-7, atol=1e-7
            )
        ridge.fit(L, M[:, j], weight)
        np.testing.assert_allclose(net.predict(Z)[:, j], ridge.predict(L), rtol=1e-7, atol=1e-7)


def test_is_a_prepared_learner_and_returns_a_model_of_all_rows():
    Z, M = data()
    net = WideNet()
    assert isinstance(net, PreparedLearner)
    prepared = net.prepare(Z, M)
    held = prepared.hold_out(M, partition("loo"))
    fitted = WideNet().fit(Z, M)
    assert len(held.models) == 1
    np.testing.assert_array_equal(held.models[0].predict(Z), fitted.predict(Z))
    for name in ("penalty_", "skip_", "noise_variance_", "dof_", "n_features_in_"):
        np.testing.assert_array_equal(getattr(held.models[0], name), getattr(fitted, name))
    found = prepared.diagnostics(held)
    np.testing.assert_array_equal(found.noise_variance, fitted.noise_variance_)
    np.testing.assert_array_equal(found.relevance, fitted.relevance_)
    np.testing.assert_array_equal(found.stopping.value, fitted.stopping_path().criterion)


def test_predictions_have_two_dimensions_for_one_output_too():
    Z, M = data()
    prepared = WideNet().prepare(Z, M[:, 0])
    held = prepared.hold_out(M[:, :1], partition("loo"))
    assert held.predictions.shape == (N, 1)
    assert held.models[0].predict(Z).shape == (N, 1)
    np.testing.assert_array_equal(
        held.predictions, hold_out(WideNet(), Z, M[:, :1], partition("loo"))[0]
    )


@pytest.mark.parametrize("weighted", ["equal", "some zero"])
@pytest.mark.parametrize("name", ["ridge", "flow"])
def test_without_folds_predictions_are_those_of_the_fit(name, weighted):
    Z, M = data()
    ours, net = hold_out(WideNet(filter=name), Z, M, no_folds(N), weights(weighted))
    np.testing.assert_allclose(ours / M.std(axis=0), net.predict(Z) / M.std(axis=0), atol=1e-8)


@pytest.mark.parametrize("kind", ["loo", "5 folds", "groups", "none"])
@pytest.mark.parametrize("weighted", ["equal", "some zero"])
@pytest.mark.parametrize("name", ["ridge", "flow"])
def test_the_adjoint_is_the_transpose(kind, weighted, name):
    Z, M = data()
    weight = weights(weighted)
    folds = no_folds(N) if kind == "none" else partition(kind)
    prepared = WideNet(filter=name).prepare(Z, M, weight)
    X = np.random.default_rng(5).normal(size=(N, 2))
    X[(np.ones(N) if weight is None else weight) == 0] = 0.0
    held = prepared.hold_out(M[:, :1], folds)
    np.testing.assert_allclose(
        prepared.adjoint(X, folds, held).T @ M[:, :1],
        X.T @ (M[:, :1] - held.predictions),
        rtol=1e-9,
    )
    with pytest.raises(OptionError, match="one target"):
        prepared.adjoint(X, folds, prepared.hold_out(M, folds))


def test_folds_without_a_closed_form_are_refused():
    Z, M = data()
    rows = np.arange(N)
    prepared = WideNet().prepare(Z, M)
    two_way = leave_one_out(N, np.column_stack([rows % 5, rows // 9]))
    with pytest.raises(FoldError, match="all other rows"):
        prepared.hold_out(M, two_way)
    with pytest.raises(FoldError, match="left to train on"):
        prepared.hold_out(M, Folds(N, (Fold(rows, rows),), "one"))
    with pytest.raises(LengthError):
        prepared.hold_out(M, leave_one_out(N - 1))
