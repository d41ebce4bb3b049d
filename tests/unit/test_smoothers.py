"""The kernel smoothers: against statsmodels, brute force, refits and their limits."""

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import check_estimator
from statsmodels.nonparametric.kernel_regression import KernelReg

from debinet.data.folds import k_folds, leave_one_out
from debinet.exceptions import FoldError, InputError, LengthError, MemoryLimitError, OptionError
from debinet.learners.smoothers import LocalLinear, NadarayaWatson
from debinet.learners.smoothers.bandwidths import search_features
from debinet.learners.smoothers.kernels import KERNELS, descend, kernel_weights
from debinet.learners.smoothers.leave_one_out import bandwidth_grid, leave_one_out_errors
from debinet.learners.smoothers.rows import Points, StandardizedRows
from debinet.learners.smoothers.smoothing import smooth

BOTH = pytest.mark.parametrize("smoother", [NadarayaWatson, LocalLinear])
EACH_KERNEL = pytest.mark.parametrize("kernel", list(KERNELS))

# K(u), written differently from the library's functions of u^2.
BY_HAND = {
    "gaussian": lambda u: np.exp(-(u**2) / 2),
    "uniform": lambda u: float(u <= 1),
    "triangle": lambda u: max(1 - u, 0),
    "epanechnikov": lambda u: 1 - u * u if u < 1 else 0,
    "quadratic": lambda u: (1 - u * u) ** 2 if u < 1 else 0,
    "cosine": lambda u: np.cos(np.pi * u / 2) if u < 1 else 0,
}


def data(n=60, p=2, m=2, seed=3):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, p)) * np.arange(1, p + 1) + 5
    M = np.column_stack([np.sin(2 * (Z[:, 0] - 5)), (Z[:, -1] - 5) ** 2] * m)[:, :m]
    return Z, M + 0.1 * rng.normal(size=(n, m))


def hold_out(smoother, Z, M, folds, weight=None):
    return smoother.prepare(Z, M, weight).hold_out(M, folds)


def weighted_sd(Z, weight):
    return np.sqrt(np.average((Z - np.average(Z, axis=0, weights=weight)) ** 2, 0, weight))


def predict_by_hand(Z, M, z, h, kernel, weight, smoother):
    """Predict one point of standardized inputs, by loops and the definitions of the docstrings."""
    u = [np.sqrt((((z - row) / h) ** 2).sum()) for row in Z]
    K = np.array([BY_HAND[kernel](value) for value in u])
    if K.sum() == 0:
        K = (np.array(u) == min(u)).astype(float)
    a = K * weight / (K * weight).sum()
    if smoother is NadarayaWatson:
        return a @ M
    centre = sum(ai * row for ai, row in zip(a, Z, strict=True))
    S = sum(ai * np.outer(row - centre, row - centre) for ai, row in zip(a, Z, strict=True))
    ridge = 1e-4 * np.trace(S) / len(S) + 1e-6
    e, V = np.linalg.eigh(S)
    filtered = (1 - (ridge / (e + ridge)) ** 3) / np.where(e > 1e-14, e, np.inf)
    line = a * (1 + (Z - centre) @ V @ np.diag(filtered) @ V.T @ (z - centre))
    if not np.isinf(h).all() and line @ line > 1:
        b = line - a
        line = a + max(np.roots([b @ b, 2 * a @ b, a @ a - 1]).real) * b
    return line @ M


def by_hand(Z, M, at, h, kernel, smoother, weight=None):
    weight = np.ones(len(Z)) if weight is None else weight
    sd = weighted_sd(Z, weight)
    return np.array([predict_by_hand(Z / sd, M, z, h, kernel, weight, smoother) for z in at / sd])


# The library's distances, moments and products round at 1e-16 and local covariances have condition
# numbers up to 1e6; the ridge of LocalLinear changes less than that. Targets are of order 1.
CLOSE = {"rtol": 1e-8, "atol": 1e-8}


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of statsmodels' own code
@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize(("smoother", "kind"), [(NadarayaWatson, "lc"), (LocalLinear, "ll")])
def test_equals_statsmodels(smoother, kind, p):
    Z, M = data(200, p)
    at = np.random.default_rng(0).normal(5, 0.5, size=(7, p))
    theirs = KernelReg(M[:, 0], Z, "c" * p, reg_type=kind, bw=0.5 * Z.std(axis=0)).fit(at)[0]
    ours = smoother(0.5).fit(Z, M[:, 0]).predict(at)
    np.testing.assert_allclose(ours, theirs, **CLOSE)


@BOTH
@EACH_KERNEL
@pytest.mark.parametrize("h", [0.15, 0.7, 3.0, np.array([0.3, 1.5]), np.inf], ids=str)
def test_equals_brute_force(smoother, kernel, h):
    Z, M = data(40)
    at = np.vstack([Z[:3], np.random.default_rng(0).normal(5, 2, size=(12, 2))])
    weight = np.random.default_rng(1).uniform(0.5, 2, size=40)
    given = h if np.ndim(h) == 0 else h[None, :]
    for w in (None, weight):
        ours = smoother(given, kernel).fit(Z, M, w).predict(at)
        np.testing.assert_allclose(ours, by_hand(Z, M, at, h, kernel, smoother, w), **CLOSE)


@BOTH
@EACH_KERNEL
def test_chosen_bandwidths_are_those_of_brute_force_over_the_same_grid(smoother, kernel):
    Z, M = data(25)
    fit = smoother(kernel=kernel).fit(Z, M)
    grid = bandwidth_grid(fit._fitted, kernel)
    Z = Z / Z.std(axis=0)
    expected = np.zeros((grid.size, 2))
    for k, h in enumerate(grid):
        for i in range(25):
            rest = np.arange(25) != i
            held = predict_by_hand(Z[rest], M[rest], Z[i], h, kernel, np.ones(24), smoother)
            expected[k] += (M[i] - held) ** 2 / 25
    found = leave_one_out_errors(fit._fitted, kernel, grid) * M.var(axis=0)
    np.testing.assert_allclose(found, expected, rtol=1e-6)  # squares of errors of nearly 1e-8
    np.testing.assert_array_equal(fit.bandwidth_, grid[expected.argmin(axis=0)])


@EACH_KERNEL
def test_weights_of_a_grid_are_those_of_each_bandwidth(kernel):
    Z, M = data(50)
    fit = NadarayaWatson(1.0, kernel).fit(Z, M)
    distance = ((fit._fitted.rows.Z[:, None] - fit._fitted.rows.Z) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    grid = bandwidth_grid(fit._fitted, kernel)
    assert 20 < grid.size < 80
    assert np.isinf(grid[0])
    for h, W in zip(grid, descend(kernel, distance, grid), strict=True):
        # squaring doubles a relative error, 25 times at most every second bandwidth
        np.testing.assert_allclose(W, kernel_weights(kernel, distance, h), rtol=1e-10, atol=1e-300)
        assert (W.diagonal() == 0).all()
        assert W.any(axis=1).all()


@BOTH
@EACH_KERNEL
@pytest.mark.parametrize(
    "h",
    [0.3, np.array([[0.2], [np.inf]]), np.array([[0.4, 1.0, np.inf]]), "loo"],
    ids=["number", "per output", "per feature", "loo"],
)
def test_held_out_equals_refits_at_the_same_standardization(smoother, kernel, h):
    Z, M = data(45, 3)
    weight = np.random.default_rng(1).uniform(0.5, 2, size=45)
    weight[::9] = 0
    for folds in (leave_one_out(45), k_folds(45, 4, np.random.default_rng(0))):
        found = hold_out(smoother(h, kernel), Z, M, folds, weight)
        held, fit = found.predictions, found.models[0]
        standardized = fit._inputs.standardize(Z)
        for fold in folds:
            train = np.intersect1d(fold.train(45), np.flatnonzero(weight))
            refit = fit._local(StandardizedRows(standardized[train], M[train], weight[train]))
            expected = smooth(refit, kernel, Points(standardized[fold.test]), fit.bandwidth_)
            np.testing.assert_allclose(held[fold.test], expected, **CLOSE)


@BOTH
@EACH_KERNEL
def test_held_out_equals_public_refits(smoother, kernel):
    Z, M = data(100, 3)
    # wide enough for no local design to be singular: the ridge is in units of each fit
    fit = smoother(6.0, kernel)
    folds = k_folds(100, 4, np.random.default_rng(0))
    held = hold_out(fit, Z, M, folds).predictions
    for fold in folds:
        train = fold.train(100)
        scaled = 6.0 * Z.std(axis=0) / Z[train].std(axis=0)
        refit = smoother(scaled, kernel).fit(Z[train], M[train])
        np.testing.assert_allclose(held[fold.test], refit.predict(Z[fold.test]), **CLOSE)


@BOTH
def test_pure_noise_can_have_infinite_bandwidth(smoother):
    # a seed at which both outputs of noise have it; how often that is, see below
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(300, 3))
    M = np.column_stack([np.sin(3 * Z[:, 0]), rng.normal(size=(300, 2))])
    fit = smoother().fit(Z, M)
    np.testing.assert_array_equal(np.isinf(fit.bandwidth_), [False, True, True])
    at = rng.normal(size=(10, 3))
    expected = LinearRegression().fit(Z, M).predict(at)
    if smoother is NadarayaWatson:
        expected = np.tile(M.mean(axis=0), (10, 1))
    np.testing.assert_allclose(fit.predict(at)[:, 1:], expected[:, 1:], **CLOSE)


@BOTH
def test_infinite_bandwidth_is_held_out_as_the_global_fit(smoother):
    Z, M = data(30)
    held = hold_out(smoother(np.inf), Z, M, leave_one_out(30)).predictions
    for i in range(30):
        rest = np.arange(30) != i
        expected = LinearRegression().fit(Z[rest], M[rest]).predict(Z[[i]])[0]
        if smoother is NadarayaWatson:
            expected = M[rest].mean(axis=0)
        np.testing.assert_allclose(held[i], expected, **CLOSE)


@BOTH
def test_noise_is_often_given_infinite_bandwidth(smoother):
    """Of 60 outputs at least a fifth.

    The minimum of the error is at infinity with probability one half, roughly; were it 0.4, fewer
    than 12 of 60 would have probability 5e-4.
    """
    rng = np.random.default_rng(0)
    fit = smoother().fit(rng.normal(size=(200, 2)), rng.normal(size=(200, 60)))
    assert np.isinf(fit.bandwidth_).mean() >= 0.2


@BOTH
@pytest.mark.parametrize("kernel", ["uniform", "triangle", "epanechnikov", "quadratic", "cosine"])
def test_points_out_of_reach_take_the_nearest_rows(smoother, kernel):
    Z = np.array([[0.0], [1.0], [2.0], [10.0], [10.0]])
    M = np.array([1.0, 2.0, 3.0, 5.0, 7.0])
    fit = smoother(0.01, kernel).fit(Z, M)
    # exact but for the rounding of moments around the origin
    np.testing.assert_allclose(
        fit.predict([[-50.0], [0.9], [1.2], [100.0]]), [1, 2, 2, 6], rtol=1e-7
    )


@BOTH
@EACH_KERNEL
@pytest.mark.parametrize("h", [1e-300, 1e-3, 0.5, 1e3, 1e300, "loo"])
def test_predictions_are_finite_and_within_reach_anywhere(smoother, kernel, h):
    Z, M = data(30)
    far = np.vstack([Z, np.full((1, 2), 1e4), np.full((1, 2), -1e300), Z + 1e-12])
    fit = smoother(h, kernel).fit(Z, M)
    held = hold_out(fit, Z, M, leave_one_out(30)).predictions
    # weights have a sum of squares of at most 1, so predictions are within sqrt(n) standard
    # deviations
    limit = np.abs(M - M.mean(axis=0)).max() * np.sqrt(30)
    finite = fit.bandwidth_ < 100
    for found in (fit.predict(far), held):
        assert np.isfinite(found).all()
        assert (np.abs(found - M.mean(axis=0)) <= limit)[:, finite].all()


@pytest.mark.parametrize("smoother", [NadarayaWatson])
def test_tiny_bandwidth_interpolates(smoother):
    Z, M = data()
    np.testing.assert_allclose(smoother(1e-8).fit(Z, M).predict(Z), M, rtol=1e-12)


def test_underflow_far_away_takes_the_nearest_row():
    Z, M = data()
    far = NadarayaWatson(0.1).fit(Z, M).predict(np.full((1, 2), 1e3))
    nearest = ((Z - 1e3) ** 2 / Z.var(axis=0)).sum(axis=1).argmin()
    np.testing.assert_allclose(far[0], M[nearest], rtol=1e-12)


@BOTH
@EACH_KERNEL
def test_constant_columns_tell_no_rows_apart(smoother, kernel):
    Z, M = data()
    with_constant = np.column_stack([Z, np.full(60, 3.0)])
    at = np.column_stack([Z, np.full(60, 7.0)])
    np.testing.assert_allclose(
        smoother(0.8, kernel).fit(with_constant, M).predict(at),
        smoother(0.8, kernel).fit(Z, M).predict(Z),
        rtol=1e-7,  # the ridge of LocalLinear is shared by one more column
    )
    only = smoother(kernel=kernel).fit(np.ones((20, 2)), M[:20])
    assert np.isinf(only.bandwidth_).all()
    np.testing.assert_allclose(only.predict([[0.0, 9.0]])[0], M[:20].mean(axis=0), rtol=1e-12)


@EACH_KERNEL
def test_singular_designs_have_local_lines(kernel):
    rng = np.random.default_rng(0)
    z = rng.normal(size=50)
    y = np.sin(z) + 0.1 * rng.normal(size=50)
    once = LocalLinear(0.8, kernel).fit(z[:, None], y).predict(z[:, None])
    twice = LocalLinear(0.8 * np.sqrt(2), kernel).fit(np.column_stack([z, z]), y)
    # slopes of two equal columns: their sum is determined, and found up to the ridge
    np.testing.assert_allclose(twice.predict(np.column_stack([z, z])), once, atol=1e-6)
    wide = rng.normal(size=(10, 15))
    assert np.isfinite(LocalLinear(kernel=kernel).fit(wide, z[:10]).predict(wide)).all()


def test_duplicated_rows_and_categories():
    rng = np.random.default_rng(0)
    Z = rng.integers(0, 2, size=(200, 2)).astype(float)
    y = Z[:, 0] + 2 * Z[:, 0] * Z[:, 1] + 0.1 * rng.normal(size=200)
    cells = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    means = [y[(cell == Z).all(axis=1)].mean() for cell in cells]
    for smoother in (NadarayaWatson, LocalLinear):
        fit = smoother("loo", "uniform").fit(Z, y)
        # the uniform kernel reaches one cell only, whose rows are all equal
        np.testing.assert_allclose(fit.predict(cells), means, rtol=1e-6)


@BOTH
def test_a_rare_category_is_seen(smoother):
    Z = (np.arange(200) < 10).astype(float)[:, None]
    y = 5 * Z[:, 0] + 0.1 * np.random.default_rng(0).normal(size=200)
    fit = smoother().fit(Z, y)
    # means of 10 and of 190 rows of noise 0.1
    np.testing.assert_allclose(fit.predict([[0.0], [1.0]]), [0, 5], atol=0.15)


@BOTH
@EACH_KERNEL
def test_two_rows_are_enough(smoother, kernel):
    Z, y = np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([1.0, 3.0])
    held = hold_out(smoother(kernel=kernel), Z, y, leave_one_out(2)).predictions
    np.testing.assert_allclose(held, [3, 1], rtol=1e-9)


@BOTH
def test_weights_of_zero_are_absence(smoother):
    Z, M = data()
    weight = np.ones(60)
    weight[:10] = 0
    left = smoother().fit(Z, M, weight)
    right = smoother().fit(Z[10:], M[10:])
    np.testing.assert_allclose(left.bandwidth_, right.bandwidth_, rtol=1e-12)
    np.testing.assert_allclose(left.predict(Z), right.predict(Z), **CLOSE)


@BOTH
def test_scale_of_weights_does_not_matter(smoother):
    Z, M = data()
    weight = np.random.default_rng(0).uniform(1, 2, size=60)
    one, many = (smoother().fit(Z, M, s * weight).predict(Z) for s in (1e-200, 1e200))
    np.testing.assert_allclose(one, many, rtol=1e-10)


def test_weights_are_counts_of_averages():
    Z, M = data(20)
    count = np.arange(20) % 3 + 1
    repeated = NadarayaWatson(0.5).fit(np.repeat(Z, count, axis=0), np.repeat(M, count, axis=0))
    np.testing.assert_allclose(
        NadarayaWatson(0.5).fit(Z, M, count).predict(Z), repeated.predict(Z), rtol=1e-10
    )


@BOTH
def test_every_shape_of_bandwidths(smoother):
    Z, M = data(40, p=3)
    at = Z[:5] + 0.1

    def predict(h):
        fit = smoother(h).fit(Z, M)
        return fit.bandwidth_, fit.predict(at)

    shapes = {}
    for h in (0.7, [0.7, 0.7], [[0.7], [0.7]], [0.7, 0.7, 0.7], [[0.7] * 3], [[0.7] * 3] * 2):
        bandwidth, predictions = predict(h)
        np.testing.assert_array_equal(bandwidth, np.full(bandwidth.shape, 0.7))
        shapes[np.shape(h)] = bandwidth.shape
        np.testing.assert_allclose(predictions, predict(0.7)[1], **CLOSE)
    assert shapes == {
        **dict.fromkeys([(), (2,), (2, 1)], (2,)),
        **dict.fromkeys([(3,), (1, 3), (2, 3)], (2, 3)),
    }
    for j, h in enumerate([0.4, 2.0]):
        np.testing.assert_allclose(predict([0.4, 2.0])[1][:, j], predict(h)[1][:, j], **CLOSE)
    both = np.array([[0.4, 1.0, np.inf], [2.0, np.inf, 0.5]])
    for j in range(2):
        np.testing.assert_allclose(predict(both)[1][:, j], predict(both[j])[1][:, j], **CLOSE)


@BOTH
def test_all_bandwidths_of_the_features_infinite_is_infinite(smoother):
    Z, M = data(40, p=3)
    far = [[1e3, -1e3, 0.0]]
    np.testing.assert_allclose(
        smoother([np.inf] * 3).fit(Z, M).predict(far), smoother(np.inf).fit(Z, M).predict(far)
    )


@BOTH
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_features_of_no_use_get_wide_bandwidths(smoother, kernel):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 4))
    M = np.column_stack([np.sin(3 * Z[:, 0]), Z[:, 1] * Z[:, 2]]) + 0.3 * rng.normal(size=(200, 2))
    Z = np.column_stack([Z, np.ones(200)])
    fit = smoother(kernel=kernel, per_feature=True).fit(Z, M)
    assert fit.bandwidth_.shape == (2, 5)
    assert np.isinf(fit.bandwidth_[:, 4]).all()
    assert fit.bandwidth_[0, 0] < fit.bandwidth_[0, 1:].min()
    # local lines need only one of the two to be local
    assert fit.bandwidth_[1, 1:3].min() < fit.bandwidth_[1, [0, 3]].min()
    at = rng.normal(size=(500, 5))
    truth = np.column_stack([np.sin(3 * at[:, 0]), at[:, 1] * at[:, 2]])
    same = smoother(kernel=kernel).fit(Z, M)
    errors = [((model.predict(at) - truth) ** 2).mean(axis=0) for model in (fit, same)]
    # of the first output most of the error was due to three features; of the second, some
    assert (errors[0] < [0.2, 0.9] * errors[1]).all()
    held = hold_out(fit, Z, M, leave_one_out(200)).predictions
    again = hold_out(same, Z, M, leave_one_out(200)).predictions
    assert (((M - held) ** 2).mean(axis=0) < ((M - again) ** 2).mean(axis=0)).all()


@BOTH
def test_search_of_features_starts_from_infinity_too(smoother):
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(150, 2))
    fit = smoother(np.inf).fit(Z, np.sin(3 * Z[:, 0]))
    found = search_features(fit._fitted, "gaussian", fit.bandwidth_)
    assert found[0, 0] < 1 < found[0, 1]


@BOTH
def test_many_rows_need_little_memory(smoother):
    Z, M = data(5_000)
    # the grid of the leave-one-out errors is made of the same chunks, fifty times
    model = smoother() if smoother is NadarayaWatson else smoother(0.5)
    tracemalloc.start()
    try:
        hold_out(model, Z, M, leave_one_out(5_000))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # the distances of 500 rows that set the grid (20 MB, sorted copies too), data, and chunks;
    # those of all rows would be 200 MB
    assert peak < 100e6


NUMBERS = st.floats(-100, 100)


@BOTH
@given(seed=st.integers(0, 10**6), shift=NUMBERS, scale=st.floats(0.01, 100))
def test_predictions_move_with_the_targets(smoother, seed, shift, scale):
    Z, M = data(25, seed=seed)
    kernel = list(KERNELS)[seed % len(KERNELS)]
    one = smoother(kernel=kernel).fit(Z, M).predict(Z)
    other = smoother(kernel=kernel).fit(Z, shift + scale * M).predict(Z)
    # a shift of 1e4 standard deviations, for scales of 0.01, costs four digits
    np.testing.assert_allclose(other, shift + scale * one, rtol=1e-9, atol=1e-9 * scale)


@BOTH
@given(seed=st.integers(0, 10**6))
def test_order_and_units_do_not_matter(smoother, seed):
    Z, M = data(25, seed=seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(25)
    kernel = list(KERNELS)[seed % len(KERNELS)]
    one = smoother(kernel=kernel).fit(Z, M)
    other = smoother(kernel=kernel).fit(100 * Z[order, ::-1] - 7, M[order])
    np.testing.assert_allclose(one.bandwidth_, other.bandwidth_, rtol=1e-9)
    np.testing.assert_allclose(one.predict(Z), other.predict(100 * Z[:, ::-1] - 7), **CLOSE)


@BOTH
@given(seed=st.integers(0, 10**6), value=NUMBERS, h=st.floats(0.01, 10))
def test_constant_targets_are_reproduced_exactly(smoother, seed, value, h):
    Z, _ = data(20, seed=seed)
    kernel = list(KERNELS)[seed % len(KERNELS)]
    for bandwidth in (h, "loo"):
        fit = smoother(bandwidth, kernel).fit(Z, np.full(20, value))
        np.testing.assert_array_equal(fit.predict(Z), np.full(20, value))
        np.testing.assert_array_equal(
            hold_out(fit, Z, np.full(20, value), leave_one_out(20)).predictions, np.full(20, value)
        )
    assert np.isinf(fit.bandwidth_).all()


@given(seed=st.integers(0, 10**6), slope=NUMBERS, kernel=st.sampled_from(list(KERNELS)))
def test_linear_targets_are_reproduced_by_local_lines(seed, slope, kernel):
    Z, _ = data(40, seed=seed)
    line = 3 + slope * (Z[:, 0] - Z[:, 1])
    at = np.vstack([Z, 100 * Z])
    size = 1 + abs(slope)
    fit = LocalLinear(kernel=kernel).fit(Z, line)
    assert np.isinf(fit.bandwidth_).all()
    # third order in the ridge of 1e-4 of the mean eigenvalue; no eigenvalue is below 0.01 of it
    np.testing.assert_allclose(fit.predict(at), 3 + slope * (at[:, 0] - at[:, 1]), atol=1e-6 * size)
    local = LocalLinear(4.0, kernel).fit(Z, line)
    np.testing.assert_allclose(local.predict(Z), line, atol=1e-7 * size)


@BOTH
def test_one_dimensional_targets_and_pickles(smoother):
    Z, M = data()
    flat = smoother().fit(Z, M[:, 0])
    assert flat.predict(Z).shape == (60,)
    assert hold_out(flat, Z, M[:, 0], leave_one_out(60)).predictions.shape == (60,)
    assert flat.bandwidth_.shape == (1,)
    again = pickle.loads(pickle.dumps(flat))
    np.testing.assert_array_equal(again.predict(Z), flat.predict(Z))


@BOTH
@pytest.mark.parametrize(
    "bandwidth",
    [0, -1.0, "cv", None, True, np.nan, [1.0, -1.0], [1.0] * 7, np.ones((3, 2)), [[["a"]]], {}],
    ids=str,
)
def test_bad_bandwidths_are_refused(smoother, bandwidth):
    with pytest.raises(OptionError, match="bandwidth"):
        smoother(bandwidth).fit(*data())


@BOTH
def test_a_vector_for_as_many_outputs_as_features_is_ambiguous(smoother):
    with pytest.raises(OptionError, match=r"\(2, 1\), one per output, or \(1, 2\)"):
        smoother([0.5, 1.0]).fit(*data())
    Z, M = data(p=1, m=1)
    assert smoother([0.5]).fit(Z, M).bandwidth_.shape == (1,)


@BOTH
def test_bad_options_and_inputs_are_refused(smoother):
    Z, M = data()
    for options, text in [
        ({"kernel": "parabola"}, "kernel"),
        ({"kernel": None}, "kernel"),
        ({"per_feature": "yes"}, "per_feature"),
        ({"per_feature": True, "bandwidth": 0.5}, "per_feature"),
    ]:
        with pytest.raises(OptionError, match=text):
            smoother(**options).fit(Z, M)
    with pytest.raises(InputError, match="NaN"):
        smoother().fit(np.where(Z > 6, np.nan, Z), M)
    with pytest.raises(InputError, match="features"):
        smoother(1.0).fit(Z, M).predict(Z[:, :1])
    with pytest.raises(LengthError, match="sample_weight"):
        smoother().fit(Z, M, np.ones(3))
    weight = (np.arange(60) < 30).astype(float)
    folds = k_folds(60, 2, np.random.default_rng(0), groups=(np.arange(60) // 30)[:, None])
    with pytest.raises(FoldError, match="outside of every fold"):
        hold_out(smoother(1.0), Z, M, folds, weight)


def test_local_lines_say_how_much_memory_they_need(monkeypatch):
    monkeypatch.setattr("debinet.data.free_memory.bytes_available", lambda: 10_000)
    with pytest.raises(MemoryLimitError, match="LocalLinear on 60 rows and 30 features"):
        LocalLinear().fit(np.random.default_rng(0).normal(size=(60, 30)), np.zeros(60))


@BOTH
def test_scikit_learn_checks(smoother):
    reasons = {
        "check_fit_score_takes_y": "the second argument of fit is M, several targets",
        "check_sample_weight_equivalence_on_dense_data": "the same: the check names it y",
    }
    results = check_estimator(
        smoother(), expected_failed_checks=reasons, on_fail=None, on_skip=None
    )
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert failed == {}
