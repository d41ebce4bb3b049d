"""`WideNet` as an estimator: accuracy, options, memory, errors, scikit-learn's rules."""

import pickle
import tracemalloc
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from debinet.data import free_memory
from debinet.data.folds import k_folds, leave_one_out, no_folds
from debinet.exceptions import (
    DebiNetError,
    InputError,
    LengthError,
    MemoryLimitError,
    OptionError,
    TooFewRowsError,
)
from debinet.learners.spectral.full import decompose
from debinet.learners.wide import WideNet, likelihood, view
from debinet.learners.wide.relevance import bytes_to_learn
from debinet.learners.wide.view import bytes_needed
from reachable import largest_array

VARIANTS = [
    {},
    {"tune": "gcv"},
    {"tune": "loo"},
    {"filter": "flow"},
    {"filter": "flow", "tune": "gcv"},
    {"activation": "erf", "depth": 2},
    {"activation": "tanh", "skip": 1.0},
    {"train": "first", "skip": 0},
]


def data(n=80, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 4))
    M = np.column_stack([np.sin(2 * Z[:, 0]) + Z[:, 1] ** 2, Z @ [1.0, -1.0, 2.0, 0.5]])
    return Z, M + 0.3 * rng.normal(size=M.shape)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_equivariant_to_scale_and_shift(options):
    Z, M = data()
    net, moved = WideNet(**options).fit(Z, M), WideNet(**options)
    factor, shift = np.array([1e6, -1e-7]), np.array([-1e7, 3e-6])
    moved.fit(Z * [1, 10, 1e5, 1e-4] + [0, 5, 0, 1], M * factor + shift)
    # the search stops at 4e-6 in log penalty, where rounding may have led it elsewhere
    np.testing.assert_allclose(moved.penalty_, net.penalty_, rtol=2e-5)
    np.testing.assert_array_equal(moved.skip_, net.skip_)
    np.testing.assert_allclose(moved.noise_variance_, net.noise_variance_ * factor**2, rtol=1e-4)
    new = Z[:7] + 0.1
    predicted = moved.predict(new * [1, 10, 1e5, 1e-4] + [0, 5, 0, 1])
    np.testing.assert_allclose((predicted - shift) / factor, net.predict(new), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_outputs_do_not_see_each_other(options):
    Z, M = data()
    together = WideNet(**options).fit(Z, M)
    for j in range(2):
        alone = WideNet(**options).fit(Z, M[:, j])
        np.testing.assert_allclose(alone.penalty_[0], together.penalty_[j], rtol=2e-5)
        np.testing.assert_allclose(alone.predict(Z), together.predict(Z)[:, j], atol=1e-4)


def test_learns_curves_and_lines():
    rng = np.random.default_rng(5)
    Z, M = data(400)
    net = WideNet().fit(Z, M)
    new = rng.normal(size=(500, 4))
    truth = np.column_stack([np.sin(2 * new[:, 0]) + new[:, 1] ** 2, new @ [1.0, -1.0, 2.0, 0.5]])
    error = np.mean((net.predict(new) - truth) ** 2, axis=0) / truth.var(axis=0)
    # the line is found with the skip connection, to the noise's 0.09 * 5 / 400 and little more
    assert net.skip_[1] == 10.0
    assert error[0] < 0.2
    assert error[1] < 0.002
    np.testing.assert_allclose(net.noise_variance_[1], 0.09, rtol=0.35)  # 5 se of a variance
    assert net.score(Z, M) > 0.9


def test_shapes_and_attributes():
    Z, M = data()
    net = WideNet().fit(Z, M)
    assert net.predict(Z[:3]).shape == (3, 2)
    assert WideNet().fit(Z, M[:, 0]).predict(Z[:3]).shape == (3,)
    assert WideNet().fit(Z, M[:, :1]).predict(Z[:3]).shape == (3, 1)
    for name in ("penalty_", "skip_", "noise_variance_", "dof_"):
        assert getattr(net, name).shape == (2,)
    assert net.n_features_in_ == 4
    assert np.all((net.dof_ >= 1) & (net.dof_ <= 80))
    assert get_tags(net).target_tags.multi_output


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_degrees_of_freedom_are_the_smoothers_trace(options):
    Z, M = data(30)
    net = WideNet(**options).fit(Z, M[:, 0])
    held = net.prepare(Z, M[:, 0]).hold_out(M[:, :1], leave_one_out(30)).predictions[:, 0]
    fitted, residual = net.predict(Z), M[:, 0] - net.predict(Z)
    if net.filter == "ridge":  # leverage = 1 - residual / held-out residual, for ridge
        leverage = 1 - residual / (M[:, 0] - held)
        assert leverage.sum() == pytest.approx(net.dof_[0], rel=1e-6)
    assert fitted.mean() == pytest.approx(M[:, 0].mean())  # the intercept is not penalized


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_stopping_path(options):
    Z, M = data()
    net = WideNet(**options).fit(Z, M)
    path = net.stopping_path()
    assert path.penalty.shape == path.criterion.shape == path.dof.shape
    assert np.all(np.isinf(path.penalty[0]))
    np.testing.assert_allclose(path.dof[0], 1.0)
    assert np.all(np.diff(path.dof, axis=0) >= 0)
    np.testing.assert_array_equal(path.skip, net.skip_)
    nearest = np.abs(np.log(path.penalty[1:] / net.penalty_)).argmin(axis=0) + 1
    best = path.criterion.argmin(axis=0)
    assert np.all(np.abs(nearest - best) <= 1)
    with pytest.raises(AttributeError):
        path.skip = None


def test_weights():
    Z, M = data()
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.5, 2, size=80)
    weight[::4] = 0
    kept = weight > 0
    dropped = WideNet().fit(Z[kept], M[kept], weight[kept])
    zero = WideNet().fit(Z, M, weight)
    np.testing.assert_array_equal(dropped.predict(Z), zero.predict(Z))
    equal = WideNet().fit(Z, M, np.full(80, 3.0))
    plain = WideNet().fit(Z, M)
    np.testing.assert_allclose(equal.predict(Z), plain.predict(Z), atol=1e-4)
    np.testing.assert_allclose(equal.noise_variance_, 3 * plain.noise_variance_, rtol=1e-4)


def test_constant_targets_and_constant_columns():
    Z, M = data()
    Z[:, 2] = 0.1
    net = WideNet().fit(Z, np.column_stack([M[:, 0], np.full(80, 0.1)]))
    assert np.isfinite(net.predict(Z)).all()
    assert np.isinf(net.penalty_[1])
    np.testing.assert_array_equal(net.predict(Z)[:, 1], np.full(80, 0.1))
    assert net.noise_variance_[1] == 0.0


def test_clone_and_parameters():
    net = WideNet(depth=2, skip=1.0)
    twin = clone(net)
    assert twin.get_params() == net.get_params()
    assert len(net.get_params()) == 7
    Z, M = data()
    np.testing.assert_array_equal(
        twin.fit(Z, M).predict(Z), net.set_params(depth=2).fit(Z, M).predict(Z)
    )


def test_pickles_without_eigenvectors():
    Z, M = data(200)
    net = WideNet().fit(Z, M)
    text = pickle.dumps(net)
    assert len(text) < 8 * 200 * 200  # one decomposition alone would be this
    again = pickle.loads(text)
    np.testing.assert_array_equal(again.predict(Z), net.predict(Z))
    again.fit(Z, M)


@pytest.fixture
def decompositions(monkeypatch):
    """Count them."""
    calls = []

    def counted(*args):
        calls.append(args[0].shape)
        return decompose(*args)

    monkeypatch.setattr(view, "decompose", counted)
    return calls


def test_same_rows_are_decomposed_once(decompositions):
    Z, M = data()
    prepared = WideNet().prepare(Z, M)
    assert len(decompositions) == 2
    for folds in (leave_one_out(80), k_folds(80, 5, np.random.default_rng(0)), no_folds(80)):
        held = prepared.hold_out(M[:, ::-1], folds)
        prepared.diagnostics(held)
        one = prepared.hold_out(M[:, :1], folds)
        prepared.adjoint(Z[:, :2], folds, one)
    prepared.gls(M[:, 0], M[:, 1:])
    assert len(decompositions) == 2
    np.testing.assert_array_equal(
        held.models[0].predict(Z), WideNet().fit(Z, M[:, ::-1]).predict(Z)
    )


def test_other_rows_weights_or_networks_are_decomposed_again(decompositions):
    """A fit, and the arrays it was given, do not affect later fits."""
    Z, M = data()
    net = WideNet(skip=0.0).fit(Z, M)
    net.fit(Z, M, np.linspace(1, 2, 80))
    net.fit(Z[:50], M[:50])
    net.set_params(depth=2).fit(Z[:50], M[:50])
    assert len(decompositions) == 4
    Z[0] += 1.0  # changed in place
    net.fit(Z[:50], M[:50])
    assert len(decompositions) == 5
    fresh = WideNet(skip=0.0, depth=2).fit(Z[:50], M[:50])
    np.testing.assert_array_equal(net.predict(Z), fresh.predict(Z))


@pytest.mark.parametrize("relevance", ["equal", "learned", "per-output"])
def test_models_keep_no_decomposition(relevance):
    n = 150
    Z, M = data(n)
    prepared = WideNet(relevance=relevance).prepare(Z, M)
    assert largest_array(prepared) >= n * (n - 1)
    held = prepared.hold_out(M, leave_one_out(n))
    assert largest_array(held) < n * (n - 1)
    assert largest_array(WideNet(relevance=relevance).fit(Z, M)) < n * (n - 1)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"skip": -1.0}, "skip"),
        ({"skip": "always"}, "skip"),
        ({"skip": float("nan")}, "skip"),
        ({"tune": "aic"}, "tune"),
        ({"filter": "lanczos"}, "filter"),
        ({"relevance": "learnt"}, "relevance"),
        ({"depth": -1}, "depth"),
        ({"activation": None}, "activation"),
    ],
)
def test_unknown_options_are_refused(options, name):
    with pytest.raises(OptionError, match=name):
        WideNet(**options).fit(*data())


def test_bad_input_is_refused_with_typed_errors():
    Z, M = data()
    broken = Z.copy()
    broken[3, 1] = np.nan
    with pytest.raises(InputError, match="NaN"):
        WideNet().fit(broken, M)
    with pytest.raises(InputError, match="inconsistent"):
        WideNet().fit(Z, M[:-1])
    with pytest.raises(InputError, match="2D"):
        WideNet().fit(Z[:, 0], M)
    with pytest.raises(InputError, match="features"):
        WideNet().fit(Z, M).predict(Z[:, :2])
    with pytest.raises(NotFittedError):
        WideNet().predict(Z)
    with pytest.raises(NotFittedError):
        WideNet().stopping_path()
    with pytest.raises(LengthError, match="sample_weight"):
        WideNet().fit(Z, M, np.ones(3))
    with pytest.raises(InputError, match="negative"):
        WideNet().fit(Z, M, np.linspace(-1, 1, 80))
    with pytest.raises(TooFewRowsError, match="2 rows"):
        WideNet().fit(Z, M, np.eye(80)[0])


def test_two_rows_are_enough():
    net = WideNet().fit([[0.0], [1.0]], [0.0, 1.0])
    assert np.isfinite(net.predict([[0.5]])).all()


def test_memory_is_asked_for_before_it_is_taken(monkeypatch, decompositions):
    Z, M = data()
    monkeypatch.setattr(free_memory, "bytes_available", lambda: bytes_needed(80, 2) - 1)
    with pytest.raises(MemoryLimitError, match="fixed skip") as caught:
        WideNet().fit(Z, M)
    assert isinstance(caught.value, MemoryError)
    assert isinstance(caught.value, DebiNetError)
    assert not decompositions
    WideNet(skip=0.0).fit(Z, M)
    monkeypatch.setattr(free_memory, "bytes_available", lambda: 1000)
    with pytest.raises(MemoryLimitError, match="fewer rows"):
        WideNet(skip=0.0).fit(Z, M)
    monkeypatch.setattr(free_memory, "bytes_available", lambda: None)
    WideNet().fit(Z, M)


def test_available_memory_is_found_or_not_known(monkeypatch, tmp_path):
    found = free_memory.bytes_available()
    assert found is None or found > 2**20
    monkeypatch.setattr(free_memory, "_MEMINFO", tmp_path / "none")
    limit = tmp_path / "limit"
    limit.write_text("4096\n")
    monkeypatch.setattr(free_memory, "_CONTAINER_LIMIT", limit)
    found = free_memory.bytes_available()
    assert found is None or found == 4096


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize(
    "options",
    [{}, {"skip": 0.0}, {"tune": "loo"}, {"relevance": "equal"}, {"relevance": "per-output"}],
    ids=str,
)
def test_peak_memory_is_what_was_announced(options, small, monkeypatch):
    n = 400
    if not small:
        monkeypatch.setattr(view, "SMALL", 0)
        for module in (view, likelihood):
            monkeypatch.setattr(module, "decompose", partial(decompose, small=0))
    Z, M = data(n)
    net = WideNet(**options)
    tracemalloc.start()
    try:
        net.prepare(Z, M).hold_out(M, leave_one_out(n))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    count = 1 if net.skip == 0.0 else 2
    count *= M.shape[1] if net.relevance == "per-output" else 1
    announced = bytes_needed(n, count)
    if net.relevance != "equal" and net.tune == "reml":
        announced = max(announced, bytes_to_learn(n, depth=1))
    # beside n^2 terms: rows, targets, the grid of the criterion, and chunks of the kernel
    assert peak <= announced + 8 * n * 400
    assert small or bytes_needed(n, 2) <= 5 * 8 * n * n


def test_scikit_learn_checks():
    reasons = {
        "check_fit_score_takes_y": "the second argument of fit is M, several targets",
        "check_sample_weight_equivalence_on_dense_data": "weights are precisions, not counts",
        "check_sample_weight_equivalence_on_sparse_data": "sparse matrices are not accepted",
    }
    results = check_estimator(WideNet(), expected_failed_checks=reasons, on_fail=None, on_skip=None)
    failed = [r["check_name"] for r in results if r["status"] == "failed"]
    assert failed == []


def test_a_prepared_network_is_not_a_fitted_one():
    Z = np.random.default_rng(0).normal(size=(30, 2))
    net = WideNet()
    net.prepare(Z, Z[:, 0])
    with pytest.raises(NotFittedError):
        net.predict(Z)
