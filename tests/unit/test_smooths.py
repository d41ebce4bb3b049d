"""Functions of single features beside the network."""

from __future__ import annotations

import numpy as np
import pytest

import debinet as dn
from debinet.learners.inputs import column_moments
from debinet.learners.wide.input_map import InputMap
from debinet.learners.wide.kernels import Architecture, kernel_matrix
from debinet.learners.wide.landmarks import choose_landmarks
from debinet.learners.wide.likelihood import evaluate
from debinet.learners.wide.relevance import learn_relevance
from debinet.learners.wide.scale_problem import ScaleProblem
from debinet.learners.wide.smooths import place_smooths

SMOOTH = Architecture(activation="erf")
N = 80


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(N, 4))


def one_input_kernel(a, b):
    """The erf network of one input, from its formula."""
    g = np.multiply.outer(a, b) + 1
    P = np.multiply.outer(3 + 2 * a**2, 3 + 2 * b**2)
    return 2 / np.pi * np.arcsin(2 * g / np.sqrt(P)) + g * (4 / np.pi) / np.sqrt(P - 4 * g**2)


def test_columns_have_the_kernel_of_networks_of_one_input(rows):
    weights = np.array([1.0, 0.5, 0.1, 2.0])
    columns = place_smooths(rows, np.ones(4, bool)).weighted(weights)(rows)
    direct = sum(a * one_input_kernel(z, z) for a, z in zip(weights, rows.T, strict=True))
    assert columns.shape == (N, 48)
    np.testing.assert_allclose(columns @ columns.T, direct, atol=0.01 * direct.max())


def test_few_values_and_categories_have_no_smooth(rows):
    rows[:, 1] = np.arange(N) % 4
    alone = np.array([True, True, False, True])
    assert place_smooths(rows, alone).features.tolist() == [0, 3]


def test_gradient_by_differences(rows):
    rng = np.random.default_rng(1)
    M = np.column_stack([np.sin(2 * rows[:, 0]), rows[:, 1] * rows[:, 2]])
    root = np.sqrt(rng.uniform(0.5, 2, N))
    M = (M + 0.3 * rng.normal(size=(N, 2))) * root[:, None]
    problem = ScaleProblem(rows, M, root, np.arange(4), SMOOTH)
    problem = problem.with_smooths(place_smooths(rows, np.ones(4, bool))).of(np.arange(N))
    problem = problem.on_landmarks(30)
    assert problem.size == 9
    theta = 0.3 * rng.normal(size=9)
    for step, derivative in zip(1e-4 * np.eye(9), evaluate(theta, problem).gradient(), strict=True):
        up, down = evaluate(theta + step, problem).value, evaluate(theta - step, problem).value
        assert derivative == pytest.approx((up - down) / 2e-4, rel=1e-4, abs=1e-3)


def test_landmarks_on_all_rows_have_the_kernel_with_smooths(rows):
    smooths = place_smooths(rows, np.ones(4, bool)).weighted(np.array([1.0, 0.5, 0.1, 2.0]))
    inputs = InputMap(column_moments(rows, np.ones(N)), np.diag([0.8, 0.4, 0.1, 0.3]), smooths)
    features = choose_landmarks(rows, inputs, SMOOTH, N, 0)
    columns = features(rows)
    assert columns.shape == (N, features.count)
    encoded = inputs.encode(rows)
    kernel = kernel_matrix(encoded, encoded, SMOOTH, added=inputs.added)
    np.testing.assert_allclose(
        columns[:, : features.width] @ columns[:, : features.width].T, kernel, atol=1e-5
    )


def test_functions_of_next_to_no_weight_are_left_out(rows):
    smooths = place_smooths(rows, np.ones(4, bool))
    assert smooths.weighted(np.array([1.0, 1e-6, 0.1, 0.0])).features.tolist() == [0, 2]
    assert smooths.weighted(np.zeros(4)) is None


def test_a_sum_of_functions_gets_smooths_and_a_product_next_to_none():
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(400, 4))
    found = []
    for f in (np.sin(2 * Z[:, 0]) + np.abs(Z[:, 1]) + np.cos(2 * Z[:, 2]), Z[:, 0] * Z[:, 1]):
        y = (f + 0.5 * rng.normal(size=400))[:, None]
        found.append(learn_relevance(Z, y / y.std(), np.ones(400), SMOOTH).smooths)
    assert found[0].features.tolist()[:3] == [0, 1, 2]
    assert found[1] is None or found[1].weights.sum() < 0.01 * found[0].weights.sum()


def test_fit_with_smooths_is_ridge_regression_with_their_kernel():
    """Predictions against the dense formula, at the penalty that was chosen."""
    rng = np.random.default_rng(3)
    Z, new = rng.normal(size=(150, 3)), rng.normal(size=(5, 3))
    y = np.sin(2 * Z).sum(axis=1) + 0.3 * rng.normal(size=150)
    net = dn.WideNet(activation="erf").fit(Z, y)
    inputs = net._predictor.parts[0].inputs
    assert inputs.smooths is not None
    a, b = inputs.encode(Z), inputs.encode(new)
    r = inputs.width + 1

    def kernel(left, right):
        base = kernel_matrix(left[:, :r].copy(), right[:, :r].copy(), SMOOTH, float(net.skip_[0]))
        return base + left[:, r:] @ right[:, r:].T

    K, ones = kernel(a, a) + float(net.penalty_[0]) * np.eye(150), np.ones(150)
    solved = np.linalg.solve(K, np.column_stack([y, ones]))
    mean = (ones @ solved[:, 0]) / (ones @ solved[:, 1])
    expected = mean + kernel(b, a) @ (solved[:, 0] - mean * solved[:, 1])
    np.testing.assert_allclose(net.predict(new), expected, rtol=1e-6)
