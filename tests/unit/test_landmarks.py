"""Landmarks: features whose kernel is the network's."""

import numpy as np
import pytest

import debinet as dn
from debinet.learners.inputs import column_moments
from debinet.learners.wide.input_map import InputMap
from debinet.learners.wide.kernels import Architecture, kernel_matrix
from debinet.learners.wide.landmarks import choose_landmarks

SMOOTH = Architecture(1, "erf")


def kernels(count, n=300):
    """Return the kernel of features and the exact one, both of all rows, and the landmarks."""
    Z = np.random.default_rng(0).normal(size=(n, 3))
    inputs = InputMap(column_moments(Z, np.ones(n)), np.diag([0.8, 0.4, 0.1]))
    found = choose_landmarks(Z, inputs, SMOOTH, count, seed=0)
    features = found(Z)
    assert features.shape == (n, found.count)
    encoded = inputs.encode(Z)
    np.testing.assert_array_equal(features[:, found.width :], encoded[:, :-1])
    phi = features[:, : found.width]
    chosen = (encoded[:, None] == found.points).all(axis=2).any(axis=1)
    assert chosen.sum() == min(count, n)
    return phi @ phi.T, kernel_matrix(encoded, encoded, SMOOTH), chosen


@pytest.mark.parametrize("count", [20, 100, 1000])
def test_the_kernel_is_exact_at_landmarks(count):
    """But for eigenvalues below 1e-10 of the largest, which is at most the number of rows."""
    approximate, exact, chosen = kernels(count)
    pairs = np.ix_(chosen, chosen)
    np.testing.assert_allclose(approximate[pairs], exact[pairs], atol=1e-6)


def test_the_kernel_is_never_too_large_and_soon_exact():
    """Errors of the best approximation by functions of the landmarks fall with their number.

    Like its own eigenvalues, of which the hundredth is less than a thousandth of the first.
    """
    worst = []
    for count in (10, 30, 100, 300):
        approximate, exact, _ = kernels(count)
        left = np.linalg.eigvalsh(exact - approximate)
        assert left.min() > -1e-6
        worst.append(left.max() / np.linalg.eigvalsh(exact).max())
    assert worst == sorted(worst, reverse=True)
    assert worst[2] < 1e-3
    assert worst[3] < 1e-8


@pytest.mark.parametrize(
    "make", [dn.datasets.make_shared_functions, dn.datasets.make_smooth_nonlinear]
)
def test_landmarks_estimate_what_the_exact_network_does(make):
    """Within a third of a standard error, with half as many landmarks as rows."""
    data = make(800, random_state=0)
    exact, landmarks = (
        dn.PartiallyLinear(list(data.truth.index), net, random_state=0).fit(data.X, data.y).result_
        for net in (dn.WideNet(activation="erf"), dn.TangentNet(width=400))
    )
    assert exact.provenance.method == landmarks.provenance.method == "joint"
    assert (np.abs(landmarks.coef - exact.coef) < exact.se / 3).all()
    np.testing.assert_allclose(landmarks.se, exact.se, rtol=0.1)


def test_seeds_choose_landmarks():
    Z = np.random.default_rng(0).normal(size=(50, 2))
    inputs = InputMap(column_moments(Z, np.ones(50)))
    one, same, other = (choose_landmarks(Z, inputs, SMOOTH, 10, seed).points for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_equal_rows_do_no_harm():
    rng = np.random.default_rng(0)
    Z = np.repeat(rng.normal(size=(30, 2)), 5, axis=0)
    y = np.sin(Z[:, 0]) + 0.1 * rng.normal(size=150)
    net = dn.TangentNet(width=100, random_state=0).fit(Z, y)
    assert np.mean((net.predict(Z) - np.sin(Z[:, 0])) ** 2) < 0.01
