"""Learned relevance: gradients, blocks of one-hot columns, and what fades out."""

from __future__ import annotations

import numpy as np
import pytest

import debinet as dn
from debinet.data.folds import leave_one_out
from debinet.exceptions import OptionError
from debinet.learners.inputs import column_moments
from debinet.learners.tails import cut_tails
from debinet.learners.wide import relevance as module
from debinet.learners.wide import scale_search
from debinet.learners.wide.erf_pairs import erf_pairs
from debinet.learners.wide.kernel_gradient import forward, pull_back
from debinet.learners.wide.kernels import Architecture, kernel_matrix
from debinet.learners.wide.likelihood import evaluate
from debinet.learners.wide.missed_feature import missed_feature
from debinet.learners.wide.missed_pair import missed_pair
from debinet.learners.wide.one_hot import one_hot_blocks
from debinet.learners.wide.relevance import learn_relevance
from debinet.learners.wide.scale_problem import ScaleProblem

N = 60


def problem(architecture=None, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(N, 5))
    Z[:, 4] = Z[:, 4] > 0
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    M = np.column_stack([np.sin(2 * Z[:, 0]), np.abs(Z[:, 1])]) + 0.3 * rng.normal(size=(N, 2))
    root = np.sqrt(rng.uniform(0.5, 2, N))
    groups = np.arange(5)
    return ScaleProblem(Z, M, root, groups, architecture or Architecture()).of(np.arange(N))


SMOOTH = [Architecture(1, "erf", "all"), Architecture(1, "erf", "first")]
ARCHITECTURES = [
    Architecture(),
    Architecture(1, "relu", "first"),
    Architecture(2, "relu", "all"),
    Architecture(2, "relu", "first"),
    Architecture(3, "leaky_relu", "all"),
]


@pytest.mark.parametrize("architecture", ARCHITECTURES, ids=str)
def test_the_kernel_is_pulled_back_to_the_inputs(architecture):
    """Central differences of `sum B K`: exact but for their own error, about 1e-9."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(12, 3)), np.ones(12)])
    B = rng.normal(size=(12, 12))
    B = B + B.T
    way = forward(X, architecture)
    found, by_skip = pull_back(way, B, 0.7)
    kernel = kernel_matrix(X, X, architecture, 0.7)
    np.testing.assert_allclose(way.with_skip(0.7), kernel, rtol=1e-13)

    def value(rows, skip=0.7):
        return float(np.sum(B * kernel_matrix(rows, rows, architecture, skip)))

    for i, j in ((0, 0), (5, 1), (11, 2), (3, 3)):
        step = np.zeros_like(X)
        step[i, j] = 1e-6
        numerical = (value(X + step) - value(X - step)) / 2e-6
        assert found[i, j] == pytest.approx(numerical, rel=1e-6, abs=1e-6)
    numerical = (value(X, 0.7 + 1e-6) - value(X, 0.7 - 1e-6)) / 2e-6
    assert by_skip == pytest.approx(numerical, rel=1e-6)


@pytest.mark.parametrize("architecture", SMOOTH, ids=str)
def test_pairs_of_rows_and_landmarks(architecture):
    """The kernel, and central differences by scales and by rows."""
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=(12, 3)), np.ones(12)])
    P, weights = X[:5], rng.normal(size=(12, 5))
    pairs = erf_pairs(X, P, train=architecture.train)
    np.testing.assert_allclose(pairs.kernel, kernel_matrix(X, P, architecture), rtol=1e-13)
    by_scale, by_row = pairs.by_scale(weights), pairs.gradients(weights[0])
    for j in range(4):
        factor = np.exp(1e-6 * np.eye(4)[j])
        up, down = (
            np.sum(weights * kernel_matrix(X * f, P * f, architecture))
            for f in (factor, 1 / factor)
        )
        assert by_scale[j] == pytest.approx((up - down) / 2e-6, rel=1e-6, abs=1e-7)
        step = 1e-6 * np.eye(4)[j]
        up, down = (kernel_matrix(X + s, P, architecture) @ weights[0] for s in (step, -step))
        np.testing.assert_allclose(by_row[:, j], (up - down) / 2e-6, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("architecture", "landmarks"),
    [*((one, None) for one in ARCHITECTURES), *((one, m) for one in SMOOTH for m in (15, N))],
    ids=str,
)
def test_the_gradient_of_the_criterion(architecture, landmarks):
    made = problem(architecture)
    made = made if landmarks is None else made.on_landmarks(landmarks)
    theta = np.random.default_rng(2).normal(size=6) * 0.3
    gradient = evaluate(theta, made).gradient()
    for j in range(6):
        step = 1e-4 * np.eye(6)[j]
        numerical = (evaluate(theta + step, made).value - evaluate(theta - step, made).value) / 2e-4
        # the penalties are found to 1e-5, which their own optimum forgives
        assert gradient[j] == pytest.approx(numerical, abs=1e-4 * np.abs(gradient).max())


def test_with_all_rows_as_landmarks_the_criterion_is_that_of_the_kernel():
    """Restricted likelihood and leave-one-out errors, against dense matrices."""
    made = problem(SMOOTH[0]).on_landmarks(N)
    theta = np.random.default_rng(5).normal(size=6) * 0.3
    point = evaluate(theta, made)
    scale, skip = made.scales(theta)
    X = np.column_stack([made.Z * scale / np.sqrt(5), np.ones(N)])
    root = made.root_weight
    K = kernel_matrix(X, X, SMOOTH[0], skip) * np.outer(root, root)
    u = root / np.linalg.norm(root)
    value, errors = 0.0, []
    for j in range(2):
        V = np.eye(N) + point.time[j] * K
        inverse = np.linalg.inv(V)
        Q = inverse - np.outer(inverse @ u, u @ inverse) / (u @ inverse @ u)
        m = made.M[:, j]
        determinant = np.linalg.slogdet(V)[1] + np.log(u @ inverse @ u)
        value += (N - 1) * np.log(m @ Q @ m) + determinant
        errors.append(np.mean((Q @ m / np.diag(Q)) ** 2))
    assert point.value == pytest.approx(value, abs=1e-3)
    # another grid of penalties is refined to the same one
    np.testing.assert_allclose(point.heldout_errors(made.M), errors, rtol=1e-3)


def test_rows_that_are_equal_do_no_harm():
    made = problem()
    rows = np.r_[np.arange(N), 0, 0, 1]
    point = evaluate(np.zeros(6), made.of(rows))
    assert np.isfinite(point.value)
    assert np.isfinite(point.gradient()).all()


def test_blocks_of_one_hot_columns():
    rng = np.random.default_rng(0)
    three, two = np.eye(3)[np.arange(12) % 3], rng.integers(0, 2, (12, 1))
    Z = np.column_stack([rng.normal(size=12), three, two, rng.normal(size=12), three])
    moments = column_moments(Z, np.ones(12))
    assert one_hot_blocks(moments.standardize(Z)).tolist() == [0, 1, 1, 1, 2, 3, 4, 4, 4]


def sparse(n, p, seed=0):
    """Two targets of two features out of p."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, p))
    M = np.column_stack([np.sin(2 * Z[:, 0]), Z[:, 0] * np.abs(Z[:, 1])])
    return Z, M + 0.3 * rng.normal(size=(n, 2))


@pytest.mark.parametrize("n", [150, 600])
def test_features_that_do_not_matter_fade_out(n):
    Z, M = sparse(n, 8)
    net = dn.WideNet(relevance="learned").fit(Z, M)
    assert net.relevance_[:2].min() > 5 * net.relevance_[2:].max()
    new, truth = sparse(2000, 8, seed=1)
    learned, equal = (
        np.mean((fitted.predict(new) - truth) ** 2)
        for fitted in (net, dn.WideNet(relevance="equal").fit(Z, M))
    )
    assert learned < 0.7 * equal


def test_noise_leaves_features_equal():
    rng = np.random.default_rng(0)
    Z, M = rng.normal(size=(200, 10)), rng.normal(size=(200, 2))
    assert (dn.WideNet(relevance="learned").fit(Z, M).relevance_ == 1).all()


def test_more_features_than_rows_are_left_equal_and_finite():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(50, 80))
    net = dn.WideNet(relevance="learned").fit(Z, Z[:, 0] + rng.normal(size=50))
    assert (net.relevance_ == 1).all()
    assert np.isfinite(net.predict(Z)).all()


def test_units_of_measurement_do_not_matter():
    Z, M = sparse(150, 4)
    plain = dn.WideNet(relevance="learned").fit(Z, M)
    other = dn.WideNet(relevance="learned").fit(100 * Z + 7, 5 * M - 3)
    np.testing.assert_allclose(other.relevance_, plain.relevance_, rtol=1e-3)


def test_fits_do_not_depend_on_earlier_ones():
    Z, M = sparse(150, 4)
    net = dn.WideNet(relevance="learned").fit(Z, M)
    again = net.fit(Z, Z[:, [2]] ** 2).relevance_
    fresh = dn.WideNet(relevance="learned").fit(Z, Z[:, [2]] ** 2).relevance_
    np.testing.assert_array_equal(again, fresh)


def test_weights_of_zero_are_as_good_as_absent():
    Z, M = sparse(150, 4)
    weight = np.r_[np.ones(120), np.zeros(30)]
    left = dn.WideNet(relevance="learned").fit(Z, M, weight).relevance_
    np.testing.assert_allclose(
        left, dn.WideNet(relevance="learned").fit(Z[:120], M[:120]).relevance_, rtol=1e-9
    )


def test_heldout_is_exact_at_the_scales_of_all_rows():
    Z, M = sparse(60, 3)
    held = dn.WideNet(relevance="learned", skip=1.0).prepare(Z, M).hold_out(M, leave_one_out(60))
    found, net = held.predictions, held.models[0]
    moments = column_moments(Z, np.ones(60))
    X = np.column_stack([moments.standardize(Z) * net.relevance_ / np.sqrt(3), np.ones(60)])
    K = kernel_matrix(X, X, Architecture(), 1.0)
    for j in range(2):
        Q = np.linalg.inv(K + net.penalty_[j] * np.eye(60))
        Q -= np.outer(Q.sum(axis=1), Q.sum(axis=0)) / Q.sum()
        residual = Q @ M[:, j] / np.diag(Q)
        np.testing.assert_allclose(M[:, j] - found[:, j], residual, rtol=1e-6, atol=1e-9)


def test_scales_are_learned_once_for_all_steps(monkeypatch):
    calls = []

    def counted(*arguments, **options):
        calls.append(options["M"].shape[1])
        return learn_relevance(*arguments, **options)

    monkeypatch.setattr("debinet.learners.wide.network_inputs.learn_relevance", counted)
    data = dn.datasets.make_smooth_nonlinear(150, random_state=0)
    learner = dn.WideNet(relevance="learned")
    model = dn.PartiallyLinear(list(data.truth.index), learner).fit(data.X, data.y)
    assert calls == [1 + data.truth.size]
    assert list(model.relevance_.index) == [c for c in data.X if c.startswith("z")]
    means = model._fitted.means[0]
    joint, g = (part.fits[0].models[0] for part in (means.joint, means.g))
    np.testing.assert_array_equal(joint.relevance_, g.relevance_)


def test_repetitions_do_not_learn_again(monkeypatch):
    calls = []

    def counted(*arguments, **options):
        calls.append(1)
        return learn_relevance(*arguments, **options)

    monkeypatch.setattr("debinet.learners.wide.network_inputs.learn_relevance", counted)
    data = dn.datasets.make_smooth_nonlinear(120, random_state=0)
    net = dn.WideNet(relevance="learned")
    model = dn.PartiallyLinear(["d1", "d2"], net, crossfit=(3, 4), random_state=0)
    model.fit(data.X, data.y)
    assert len(calls) == 1
    model.fit(data.X, data.y**3)
    assert len(calls) == 2


def test_saved_models_keep_their_relevance(tmp_path):
    data = dn.datasets.make_smooth_nonlinear(120, random_state=0)
    learner = dn.WideNet(relevance="learned")
    model = dn.PartiallyLinear(list(data.truth.index), learner, random_state=0)
    model.fit(data.X, data.y).save(tmp_path / "model.npz")
    twin = dn.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(twin.predict(data.X), model.predict(data.X))
    assert twin.relevance_.equals(model.relevance_)
    assert twin.result_.evidence.get().relevance_names == tuple(model.relevance_.index)


def test_auto_knows_its_limits():
    rng = np.random.default_rng(0)
    for n, p, options in ((60, 3, {}), (150, 1, {}), (120, 101, {}), (150, 3, {"tune": "gcv"})):
        Z = rng.normal(size=(n, p))
        net = dn.WideNet(relevance="auto", **options).fit(Z, Z[:, 0] ** 2)
        assert (net.relevance_ == 1).all()
    Z, M = sparse(150, 4)
    assert dn.WideNet(relevance="auto").fit(Z, M).relevance_.std() > 0


@pytest.mark.parametrize(
    "options", [{"relevance": "learnt"}, {"relevance": "learned", "activation": "tanh"}]
)
def test_options_that_do_not_exist(options):
    Z, M = sparse(30, 2)
    with pytest.raises(OptionError, match=r"relevance|rectif|activation"):
        dn.WideNet(**options).fit(Z, M)


@pytest.mark.parametrize(
    ("activation", "steps"),
    [
        ("relu", {100: [100], 500: [500], 1500: [500, 1000]}),
        ("erf", {100: [100], 500: [500], 1500: [500]}),
    ],
)
def test_few_rows_are_learned_from_in_one_go(monkeypatch, activation, steps):
    sizes, real = [], module.descend_and_lift

    def counted(problem, *arguments):
        sizes.append(len(problem.Z))
        return real(problem, *arguments)

    monkeypatch.setattr(module, "descend_and_lift", counted)
    for n, expected in steps.items():
        sizes.clear()
        Z, M = sparse(n, 3)
        learn_relevance(Z, M, np.ones(n), Architecture(1, activation))
        assert sizes == expected


def test_leave_one_out_errors_are_those_of_the_network():
    made = problem()
    theta = np.zeros(6)
    errors = evaluate(theta, made).heldout_errors(made.M)
    X = np.column_stack([made.Z / np.sqrt(5), np.ones(N)])
    K = kernel_matrix(X, X, Architecture(), 1.0) * np.outer(made.root_weight, made.root_weight)
    u = made.root_weight / np.linalg.norm(made.root_weight)
    time = evaluate(theta, made).time
    for j in range(2):
        Q = np.linalg.inv(K + np.eye(N) / time[j])
        Q -= np.outer(Q @ u, u @ Q) / (u @ Q @ u)
        assert errors[j] == pytest.approx(np.mean((Q @ made.M[:, j] / np.diag(Q)) ** 2), rel=1e-6)


def test_a_pair_that_matters_together_is_found(monkeypatch):
    """Where z3 and z4 act by their product only, one of few draws in which descent misses them."""
    made = dn.datasets.make_waves(300, random_state=3)
    Z = np.column_stack(
        [made.X.drop(columns="d1"), np.random.default_rng(3).normal(size=(300, 15))]
    )
    M = np.column_stack([made.y, made.X["d1"]])
    lifted = dn.WideNet(relevance="learned").fit(Z, M).relevance_
    monkeypatch.setattr(scale_search, "_LIFTS", 0)
    left = dn.WideNet(relevance="learned").fit(Z, M).relevance_
    assert left[2:4].max() < 0.2
    assert lifted[2:4].min() > 4 * lifted[4:].max()


def test_pairs_are_seen_where_they_are_and_only_there():
    """False alarms: at most one in twenty, so more than 9 of 60 less than once in a thousand."""
    rng = np.random.default_rng(0)
    faded = np.ones(10, dtype=bool)
    alarms = 0
    for _ in range(60):
        Z, noise = rng.normal(size=(500, 10)), rng.normal(size=(500, 2))
        alarms += missed_pair(Z, noise, np.ones(500), faded) is not None
        noise[:, 1] += 0.8 * Z[:, 3] * Z[:, 7]
        assert missed_pair(Z, noise, np.ones(500), faded) == (3, 7)
        # features in use already are ignored
        assert missed_pair(Z, noise, np.ones(500), ~faded) is None
    assert alarms <= 9


def test_tails_are_cut_and_binary_targets_stay_binary():
    rng = np.random.default_rng(0)
    M = np.column_stack(
        [rng.standard_cauchy(500), rng.normal(size=500), rng.uniform(size=500) < 0.02]
    )
    cut = cut_tails(M, 3.0)
    assert np.abs(cut[:, 0]).max() < 0.1 * np.abs(M[:, 0]).max()
    assert np.corrcoef(cut[:, 1], M[:, 1])[0, 1] > 0.99
    assert np.unique(cut[:, 2]).size == 2
    assert np.isfinite(cut_tails(np.ones((5, 1)), 3.0)).all()
    same = rng.normal(size=(100, 2))
    assert cut_tails(same, 5.0) is same


def test_a_target_of_heavy_tails_cannot_take_over():
    """Outlying rows contain no information on the features; without cutting, the first scale is
    110."""
    Z, M = sparse(200, 6)
    wild = np.column_stack([M, np.random.default_rng(4).standard_cauchy(200)])
    tame, found = (dn.WideNet(relevance="learned").fit(Z, T).relevance_ for T in (M, wild))
    np.testing.assert_allclose(found[:2], tame[:2], rtol=0.2)


def test_every_output_may_have_its_own():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(150, 4))
    M = np.column_stack([np.sin(2 * Z[:, 0]), np.abs(Z[:, 1])]) + 0.2 * rng.normal(size=(150, 2))
    net = dn.WideNet(relevance="per-output").fit(Z, M)
    assert net.relevance_.shape == (4, 2)
    assert net.relevance_.argmax(axis=0).tolist() == [0, 1]
    folds = leave_one_out(150)
    heldout = dn.WideNet(relevance="per-output").prepare(Z, M).hold_out(M, folds).predictions
    for j in range(2):
        alone = dn.WideNet(relevance="learned").fit(Z, M[:, j])
        # where a search ends depends on rounding, to about eight digits
        np.testing.assert_allclose(net.relevance_[:, j], alone.relevance_, rtol=1e-6)
        np.testing.assert_allclose(net.predict(Z)[:, j], alone.predict(Z), atol=1e-6)
        one = M[:, [j]]
        expected = alone.prepare(Z, one).hold_out(one, folds).predictions
        np.testing.assert_allclose(heldout[:, [j]], expected, atol=1e-6)
        path, own = alone.stopping_path(), net.stopping_path()
        np.testing.assert_allclose(own.criterion[:, [j]], path.criterion, rtol=1e-6)
        for name in ("penalty_", "skip_", "noise_variance_", "dof_"):
            np.testing.assert_allclose(getattr(net, name)[j], getattr(alone, name)[0], rtol=1e-6)


def test_a_model_with_relevance_of_every_output(tmp_path):
    data = dn.datasets.make_smooth_nonlinear(120, random_state=0)
    treatments = list(data.truth.index)
    model = dn.PartiallyLinear(treatments, dn.WideNet(relevance="per-output"), random_state=0)
    model.fit(data.X, data.y)
    assert model.relevance_.columns.tolist() == ["y", *treatments]
    assert model.relevance_.index.tolist() == [c for c in data.X if c.startswith("z")]
    assert model.plot_relevance().get_legend() is not None
    evidence = model.result_.evidence.get()
    np.testing.assert_array_equal(evidence.relevance, model.relevance_.max(axis=1))
    model.save(tmp_path / "model.npz")
    twin = dn.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(twin.predict(data.X), model.predict(data.X))
    assert twin.relevance_.equals(model.relevance_)


@pytest.mark.parametrize("relevance", ["learned", "per-output"])
def test_constant_targets_and_rare_events(relevance):
    """A subset of the rows may have no event at all."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(600, 3))
    rare = np.zeros(600)
    rare[:2] = 1
    net = dn.WideNet(relevance=relevance).fit(Z, np.column_stack([rare, np.abs(Z[:, 0])]))
    assert np.isfinite(net.predict(Z)).all()


def test_a_season_is_found_and_noise_is_not():
    """False alarms: at most one in twenty, so more than 9 of 60 less than once in a thousand."""
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(60):
        Z, noise = rng.normal(size=(500, 8)), rng.normal(size=(500, 2))
        Z[:, 5] = rng.uniform(size=500)
        Z[:, 6] = rng.integers(0, 2, 500)
        alarms += missed_feature(Z, noise, np.ones(500)) is not None
        noise[:, 1] += np.sin(8 * np.pi * Z[:, 5])
        assert missed_feature(Z, noise, np.ones(500)) == 5
    assert alarms <= 9
    assert missed_feature(Z[:50], noise[:50], np.ones(50)) is None  # too few rows to tell


def test_a_season_gets_a_large_weight():
    rng = np.random.default_rng(1)
    Z = rng.uniform(-1.7, 1.7, size=(400, 4))
    y = np.sin(7 * Z[:, 2]) + 0.5 * rng.normal(size=400)
    net = dn.WideNet(activation="erf").fit(Z, y)
    assert net.relevance_[2] > 2
    assert net.relevance_[2] > 5 * np.delete(net.relevance_, 2).max()
    # what the weight is for: the season is followed where nothing was seen
    new = rng.uniform(-1.6, 1.6, size=(500, 4))
    assert np.mean((net.predict(new) - np.sin(7 * new[:, 2])) ** 2) < 0.05
