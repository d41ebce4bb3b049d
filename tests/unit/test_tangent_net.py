"""TangentNet as an estimator: accuracy, options, memory, errors, scikit-learn's rules."""

import pickle
import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from debinet.data import free_memory
from debinet.data.folds import k_folds, leave_one_out
from debinet.exceptions import (
    InputError,
    LengthError,
    MemoryLimitError,
    OptionError,
    TooFewRowsError,
)
from debinet.learners.tangent import TangentNet, feature_learner, view
from debinet.learners.wide import WideNet
from debinet.testing import check_learner


def data(n=80, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 4))
    M = np.column_stack([np.abs(Z[:, 0]) + Z[:, 1] ** 2, Z @ [1.0, -2.0, 0.5, 0.0]])
    return Z, M + 0.3 * rng.normal(size=M.shape)


def small(**options):
    return TangentNet(**{"width": 60, "random_state": 0, **options})


def test_hidden_units_learn_what_there_is():
    Z, M = data(1000)
    net = small(width=300, features="units", relevance="equal").fit(Z, M)
    new = np.random.default_rng(1).normal(size=(500, 4))
    truth = np.column_stack([np.abs(new[:, 0]) + new[:, 1] ** 2, new @ [1.0, -2.0, 0.5, 0.0]])
    error = ((net.predict(new) - truth) ** 2).mean(axis=0)
    same = WideNet(relevance="equal").fit(Z, M)
    exact = ((same.predict(new) - truth) ** 2).mean(axis=0)
    assert net.skip_[1] == 10.0
    assert error[0] < 2 * exact[0]
    assert error[1] < 0.002
    np.testing.assert_allclose(net.noise_variance_[1], 0.09, rtol=0.25)  # 5 se of a variance


def test_landmarks_learn_what_the_exact_network_does():
    Z, M = data(1000)
    net, exact = small(width=300).fit(Z, M), WideNet(activation="erf").fit(Z, M)
    np.testing.assert_allclose(net.relevance_, exact.relevance_, rtol=1e-12)
    np.testing.assert_allclose(net.noise_variance_, exact.noise_variance_, rtol=0.02)
    new = np.random.default_rng(1).normal(size=(500, 4))
    truth = np.column_stack([np.abs(new[:, 0]) + new[:, 1] ** 2, new @ [1.0, -2.0, 0.5, 0.0]])
    ours, theirs = (((one.predict(new) - truth) ** 2).mean(axis=0) for one in (net, exact))
    assert np.all(ours < 1.1 * theirs)


def test_shapes_and_attributes():
    Z, M = data()
    net = small().fit(Z, M)
    assert net.predict(Z[:3]).shape == (3, 2)
    assert small().fit(Z, M[:, 0]).predict(Z[:3]).shape == (3,)
    assert small().fit(Z, M[:, :1]).predict(Z[:3]).shape == (3, 1)
    for name in ("penalty_", "skip_", "noise_variance_", "dof_"):
        assert getattr(net, name).shape == (2,)
    assert net.n_features_in_ == 4
    assert get_tags(net).target_tags.multi_output
    assert net.predict(Z).mean(axis=0) == pytest.approx(M.mean(axis=0))


@pytest.mark.parametrize("tune", ["reml", "gcv"])
@pytest.mark.parametrize("width", [20, 200])
def test_scale_and_shift_of_the_targets(tune, width):
    """To the 4e-6 to which the logarithms of the penalties are found."""
    Z, M = data()
    scale, shift = np.array([1e-6, 1e7]), np.array([1e-4, -1e9])
    plain = small(tune=tune, width=width).fit(Z, M)
    moved = small(tune=tune, width=width).fit(Z, M * scale + shift)
    np.testing.assert_array_equal(moved.skip_, plain.skip_)
    np.testing.assert_allclose(moved.penalty_, plain.penalty_, rtol=1e-4)
    np.testing.assert_allclose((moved.predict(Z) - shift) / scale, plain.predict(Z), atol=1e-5)
    np.testing.assert_allclose(moved.noise_variance_ / scale**2, plain.noise_variance_, rtol=1e-4)


def test_every_output_is_fitted_as_if_alone():
    Z, M = data()
    both = small().fit(Z, M).predict(Z)
    alone = np.column_stack([small().fit(Z, column).predict(Z) for column in M.T])
    np.testing.assert_allclose(both, alone, atol=1e-5)


def test_weights():
    Z, M = data()
    weight = np.random.default_rng(1).uniform(0.5, 2, size=80)
    weight[::4] = 0
    kept = weight > 0
    dropped, zero = small().fit(Z[kept], M[kept], weight[kept]), small().fit(Z, M, weight)
    np.testing.assert_array_equal(dropped.predict(Z), zero.predict(Z))
    equal, plain = small().fit(Z, M, np.full(80, 3.0)), small().fit(Z, M)
    np.testing.assert_allclose(equal.predict(Z), plain.predict(Z), atol=1e-4)
    np.testing.assert_allclose(equal.noise_variance_, 3 * plain.noise_variance_, rtol=1e-4)


def test_constant_targets_and_columns_and_two_rows():
    Z, M = data()
    Z[:, 2] = 0.1
    net = small().fit(Z, np.column_stack([M[:, 0], np.full(80, 0.1)]))
    assert np.isinf(net.penalty_[1])
    assert net.noise_variance_[1] == 0.0
    np.testing.assert_array_equal(net.predict(Z)[:, 1], np.full(80, 0.1))
    assert np.isfinite(small().fit([[0.0], [1.0]], [0.0, 1.0]).predict([[0.5]])).all()


def test_seeds():
    Z, M = data()
    np.testing.assert_array_equal(small().fit(Z, M).predict(Z), small().fit(Z, M).predict(Z))
    assert not np.allclose(small().fit(Z, M).predict(Z), small(random_state=1).fit(Z, M).predict(Z))
    free = small(random_state=None)
    assert np.isfinite(free.prepare(Z, M).hold_out(M, leave_one_out(80)).predictions).all()
    assert free.random_state is None
    # a generator is drawn from once in a fit, as its number would be
    seed = int(np.random.default_rng(5).integers(2**32))
    drawn = small(random_state=np.random.default_rng(5)).fit(Z, M)
    np.testing.assert_array_equal(drawn.predict(Z), small(random_state=seed).fit(Z, M).predict(Z))


def test_clone_and_pickle():
    Z, M = data(300)
    net = small(skip=1.0).fit(Z, M[:, 0])
    assert clone(net).get_params() == net.get_params()
    text = pickle.dumps(net)
    assert len(text) < 8 * 300 * 60  # one decomposition alone would be this
    again = pickle.loads(text)
    np.testing.assert_array_equal(again.predict(Z), net.predict(Z))
    again.fit(Z, M)
    held = net.prepare(Z, M).hold_out(M, leave_one_out(300))
    assert len(pickle.dumps(held.models)) < 8 * 300 * 60


def test_same_rows_are_decomposed_once(monkeypatch):
    calls = []
    real = view.view_features
    monkeypatch.setattr(feature_learner, "view_features", lambda *a: calls.append(1) or real(*a))
    Z, M = data()
    net = small()
    prepared = net.prepare(Z, M)
    for folds in (leave_one_out(80), k_folds(80, 5, np.random.default_rng(0))):
        held = prepared.hold_out(M[:, ::-1], folds)
        prepared.diagnostics(held)
        prepared.adjoint(Z[:, :2], folds, prepared.hold_out(M[:, :1], folds))
    prepared.gls(M[:, 0], M[:, 1:])
    assert len(calls) == 1
    np.testing.assert_array_equal(held.models[0].predict(Z), small().fit(Z, M[:, ::-1]).predict(Z))
    net.set_params(width=50).fit(Z, M)
    net.set_params(random_state=1).fit(Z, M)
    net.fit(Z, M, np.linspace(1, 2, 80))
    Z[0] += 1.0  # changed in place
    net.fit(Z, M)
    fresh = small(width=50, random_state=1).fit(Z, M)
    np.testing.assert_array_equal(net.predict(Z), fresh.predict(Z))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"width": 0}, "width"),
        ({"width": 2.5}, "width"),
        ({"width": True}, "width"),
        ({"skip": -1.0}, "skip"),
        ({"tune": "loo"}, "tune"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_unknown_options_are_refused(options, name):
    with pytest.raises(OptionError, match=name):
        small(**options).fit(*data())


def test_bad_input_is_refused_with_typed_errors():
    Z, M = data()
    broken = Z.copy()
    broken[3, 1] = np.nan
    with pytest.raises(InputError, match="NaN"):
        small().fit(broken, M)
    with pytest.raises(InputError, match="features"):
        small().fit(Z, M).predict(Z[:, :2])
    with pytest.raises(NotFittedError):
        small().predict(Z)
    with pytest.raises(LengthError, match="sample_weight"):
        small().fit(Z, M, np.ones(3))
    with pytest.raises(TooFewRowsError, match="2 rows"):
        small().fit(Z, M, np.eye(80)[0])
    folds, prepared = leave_one_out(80), small().prepare(Z, M)
    held = prepared.hold_out(M, folds)
    with pytest.raises(OptionError, match="one target"):
        prepared.adjoint(np.ones((80, 1)), folds, held)


def test_memory_is_asked_for_before_it_is_taken(monkeypatch):
    Z, M = data()
    enough = view.bytes_needed(80, 64, 2)
    monkeypatch.setattr(free_memory, "bytes_available", lambda: enough - 1)
    with pytest.raises(MemoryLimitError, match="fixed skip"):
        small().fit(Z, M)
    small(skip=0.0).fit(Z, M)
    monkeypatch.setattr(free_memory, "bytes_available", lambda: 1000)
    with pytest.raises(MemoryLimitError, match="fewer hidden units"):
        small(skip=0.0).fit(Z, M)


@pytest.mark.parametrize(("n", "width"), [(3000, 100), (250, 1000)])
@pytest.mark.parametrize("features", ["landmarks", "units"])
def test_peak_memory_is_what_was_announced(features, n, width):
    Z, M = data(n)
    net = small(width=width, features=features, relevance="equal")
    tracemalloc.start()
    try:
        net.prepare(Z, M).hold_out(M, leave_one_out(n))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # beside it: an eighth of the features as a chunk, rows, targets and the grid of the criterion
    assert peak <= view.bytes_needed(n, width + 4, 2) + n * width + 8 * (40 * n + 1000 * width)


def test_serves_as_a_learner():
    assert len(check_learner(small())) == 7


def test_scikit_learn_checks():
    reasons = {
        "check_fit_score_takes_y": "the second argument of fit is M, several targets",
        "check_sample_weight_equivalence_on_dense_data": "weights are precisions, not counts",
        "check_sample_weight_equivalence_on_sparse_data": "sparse matrices are not accepted",
    }
    results = check_estimator(small(), expected_failed_checks=reasons, on_fail=None, on_skip=None)
    failed = [r["check_name"] for r in results if r["status"] == "failed"]
    assert failed == []
