"""The mixed-model estimate, the structured method and the covariance of the full procedure."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LinearRegression

import debinet as dn
from debinet.exceptions import CovarianceError, OptionError
from debinet.inference.methods import choose_method
from debinet.learners.inputs import column_moments
from debinet.learners.spectral.full import decompose
from debinet.learners.wide import view
from debinet.learners.wide.input_map import InputMap
from debinet.learners.wide.kernels import Architecture, kernel_matrix
from reachable import largest_array

N = 80


@pytest.fixture(scope="module")
def data():
    X, y, truth = dn.datasets.make_sparse_linear(n=N, p=4, random_state=0)
    return X, y, list(truth.index)


def dense_gls(X, y, names, skip, weights=None):
    """Restricted maximum likelihood and generalized least squares with dense matrices."""
    w = np.ones(N) if weights is None else weights
    Z = X.drop(columns=names).to_numpy()
    encoded = InputMap(column_moments(Z, w)).encode(Z)
    K = kernel_matrix(encoded, encoded, Architecture(1, "relu", "all"), skip)
    F = np.column_stack([np.ones(N), X[names]])

    def parts(log_penalty):
        S = K + np.exp(log_penalty) * np.diag(1 / w)
        inverse = np.linalg.inv(S)
        G = F.T @ inverse @ F
        coef = np.linalg.solve(G, F.T @ inverse @ y)
        residual = y - F @ coef
        return S, G, coef, residual @ inverse @ residual

    def negative_likelihood(log_penalty):
        S, G, _, rss = parts(log_penalty)
        logs = np.linalg.slogdet(S)[1] + np.linalg.slogdet(G)[1]
        return logs + (N - F.shape[1]) * np.log(rss)

    grid = np.linspace(-12, 8, 81)
    best = grid[np.argmin([negative_likelihood(g) for g in grid])]
    found = minimize_scalar(
        negative_likelihood, bounds=(best - 0.5, best + 0.5), method="bounded",
        options={"xatol": 1e-8},
    )  # fmt: skip
    return parts(found.x)[2][1:]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("skip", [0.0, 10.0])
def test_gls_equals_dense_matrices(data, skip, weighted):
    """To 1e-3 of a standard error: the penalty is found to 1e-3 in its logarithm."""
    X, y, names = data
    weights = np.random.default_rng(0).uniform(0.5, 2, N) if weighted else None
    model = dn.PartiallyLinear(names, dn.WideNet(skip=skip), method="gls")
    result = model.fit(X, y, sample_weight=weights).result_
    expected = dense_gls(X, y.to_numpy(), names, skip, weights)
    np.testing.assert_allclose(result.estimate, expected, atol=1e-3 * result.se.min())


@pytest.mark.parametrize("filter_", ["ridge", "flow"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("crossfit", ["loo", 5, (4, 2), None])
def test_the_influence_of_y_gives_the_coefficients(data, crossfit, weighted, filter_):
    X, y, names = data
    weights = np.r_[np.zeros(5), np.random.default_rng(0).uniform(0.5, 2, N - 5)]
    model = dn.PartiallyLinear(
        names, dn.WideNet(filter=filter_), crossfit=crossfit, random_state=0
    ).fit(X, y, sample_weight=weights if weighted else None)
    for regression in model.result_.regressions:
        np.testing.assert_allclose(
            regression.influence.T @ y.to_numpy(), regression.coef, rtol=1e-9, atol=1e-10
        )
        # and none of a constant, nor of what the model excludes
        np.testing.assert_allclose(regression.influence.sum(axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(
            regression.influence.T @ X[names].to_numpy(), np.eye(2), atol=1e-8
        )


def test_the_smoother_covariance_is_its_formula(data):
    X, y, names = data
    result = dn.PartiallyLinear(names).fit(X, y).result_.with_vcov("full")
    solved = result.regressions[0]
    by_hand = np.zeros((2, 2))
    for a, e, r in zip(solved.influence, solved.residuals, solved.R_D, strict=True):
        share = min(max(r @ a, 0.0), 1.0)
        by_hand += (e**2 + share * solved.noise**2) * np.outer(a, a)
    np.testing.assert_allclose(result.vcov, by_hand, rtol=1e-10)


def test_the_smoother_covariance_of_clusters(data):
    """Every row its own cluster is the plain form but for the small-sample factor."""
    X, y, names = data
    result = dn.PartiallyLinear(names).fit(X, y).result_
    plain = result.with_vcov("full")
    alone = result.with_vcov("full", groups=np.arange(N))
    factor = N / (N - 1) * (N - 1) / (N - 2)
    np.testing.assert_allclose(alone.vcov, factor * plain.vcov, rtol=1e-10)
    pairs = result.with_vcov("full", groups=np.arange(N) // 2)
    assert pairs.df == N // 2 - 1
    assert not np.allclose(pairs.vcov, plain.vcov)


def test_with_nothing_to_learn_it_is_nearly_least_squares(data):
    """Z is independent of D and y, so the mixed model is close to OLS of y on D, errors
    included."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(200, 6)), columns=["d1", "d2", "a", "b", "c", "e"])
    y = X["d1"] + rng.normal(size=200)
    model = dn.PartiallyLinear(["d1", "d2"], dn.WideNet(skip=0.0), method="gls").fit(X, y)
    ols = dn.PartiallyLinear(["d1", "d2"], "mean", crossfit=None).fit(X, y).result_
    np.testing.assert_allclose(model.coef_, ols.estimate, atol=0.5 * ols.se.min())
    np.testing.assert_allclose(model.result_.se, ols.se, rtol=0.1)


def test_gls_needs_a_mixed_model(data):
    X, y, names = data
    with pytest.raises(OptionError, match="mixed model"):
        dn.PartiallyLinear(names, LinearRegression(), method="gls").fit(X, y)
    result = dn.PartiallyLinear(names, method="gls").fit(X, y).result_
    assert result.vcov_type == "full"
    solved = result.regressions[0]
    leverage = (solved.R_D * solved.influence).sum(axis=1)
    terms = solved.influence * (solved.residuals / (1 - leverage))[:, None]
    np.testing.assert_allclose(result.with_vcov("HC3").vcov, terms.T @ terms, rtol=1e-10)
    other = dn.PartiallyLinear(names, LinearRegression(), random_state=0).fit(X, y).result_
    with pytest.raises(CovarianceError, match="linear in y"):
        other.with_vcov("full")


def test_results_with_influence_survive_saving(data, tmp_path):
    X, y, names = data
    for method in ("structured", "gls"):
        result = dn.PartiallyLinear(names, method=method).fit(X, y).result_
        result.save(tmp_path / "r.npz")
        loaded = dn.load(tmp_path / "r.npz")
        pd.testing.assert_frame_equal(loaded.with_vcov("full").vcov, result.with_vcov("full").vcov)


def test_a_fitted_model_keeps_no_decomposition(data):
    import pickle

    X, y, names = data
    for learner in ("wide", dn.WideNet(relevance="per-output")):
        model = dn.PartiallyLinear(names, learner, crossfit=(3, 2), random_state=0).fit(X, y)
        assert largest_array(model) < N * (N - 1)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_decompositions_are_shared_by_all_steps(data, monkeypatch):
    """One per skip weight serves [y, D], the mixed model, both rounds for g and repetitions."""
    calls = []
    monkeypatch.setattr(view, "decompose", lambda *a: calls.append(1) or decompose(*a))
    X, y, names = data
    for crossfit in ("auto", (3, 4), None):
        calls.clear()
        dn.PartiallyLinear(names, crossfit=crossfit, random_state=0).fit(X, y)
        assert len(calls) == 2


def test_the_smoother_covariance_does_not_depend_on_the_unit_of_the_weights(data):
    """Weights are precisions: noise that a row lost is measured in its own."""
    X, y, names = data
    weights = np.r_[np.zeros(5), np.random.default_rng(0).uniform(0.5, 2, N - 5)]
    one, seven = (
        dn.PartiallyLinear(names).fit(X, y, sample_weight=c * weights).result_ for c in (1.0, 7.0)
    )
    np.testing.assert_allclose(one.vcov, seven.vcov, rtol=1e-6)
    solved = one.regressions[0]
    by_hand = np.zeros((2, 2))
    for a, e, r, w in zip(solved.influence, solved.residuals, solved.R_D, weights, strict=True):
        if w > 0:
            share = min(max(r @ a, 0.0), 1.0)
            by_hand += (e**2 + share * solved.noise**2 / w) * np.outer(a, a)
    np.testing.assert_allclose(one.vcov, by_hand, rtol=1e-10)


@pytest.mark.parametrize(
    ("learner", "options", "method"),
    [
        (dn.WideNet(), {}, "structured"),
        (dn.WideNet(), {"per_row": 0.2}, "structured"),
        (dn.WideNet(), {"per_row": 0.21}, "gls"),
        (dn.WideNet(), {"per_row": 0.5, "refits": True}, "structured"),
        (dn.WideNet(activation="erf"), {"per_row": 0.5}, "joint"),
        (LinearRegression(), {"per_row": 0.5}, "structured"),
    ],
)
def test_auto_depends_on_learner_and_treatments_per_row(learner, options, method):
    assert choose_method("auto", learner, **options) == method
    assert choose_method("dml2", learner, **options) == "dml2"
