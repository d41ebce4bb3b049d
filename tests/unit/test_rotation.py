"""Rotated inputs: found where the targets change along other axes, and only there."""

import numpy as np
import pytest

import debinet as dn
from debinet.learners.inputs import column_moments
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.likelihood import evaluate
from debinet.learners.wide.relevance import learn_relevance
from debinet.learners.wide.rotation import rotate_inputs
from debinet.learners.wide.scale_problem import ScaleProblem

SMOOTH = Architecture(1, "erf")


def learn(Z, M):
    one = np.ones(len(Z))
    Z, M = column_moments(Z, one).standardize(Z), column_moments(M, one).standardize(M)
    return learn_relevance(Z, M, one, SMOOTH)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_single_index_is_found(seed):
    data = dn.datasets.make_single_index(400, random_state=seed)
    M = np.column_stack([data.y, data.X["d1"]])
    matrix = learn(data.X.drop(columns="d1").to_numpy(), M).matrix
    axes, lengths, _ = np.linalg.svd(matrix)
    index = np.r_[np.ones(6), np.zeros(6)] / np.sqrt(6)
    assert abs(axes[:, 0] @ index) > 0.95
    assert lengths[0] > 2 * lengths[1]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_functions_of_single_features_are_left_to_smooths(seed):
    """Whatever axes the network has then, next to nothing is left for it to explain."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(400, 5))
    M = np.column_stack([np.sin(2 * Z[:, 0]) + np.abs(Z[:, 1]), np.sin(2 * Z[:, 2])])
    smooths = learn(Z, M + 0.5 * rng.normal(size=M.shape)).smooths
    weight = dict(zip(smooths.features.tolist(), smooths.weights, strict=True))
    # the network's own kernel is about 1
    assert min(weight[j] for j in range(3)) > 1
    assert max(weight.get(j, 0.0) for j in (3, 4)) < 0.1


@pytest.mark.parametrize("seed", range(6))
def test_noise_is_not_rotated(seed):
    rng = np.random.default_rng(seed)
    matrix = learn(rng.normal(size=(200, 4)), rng.normal(size=(200, 2))).matrix
    np.testing.assert_array_equal(matrix, np.diag(np.diag(matrix)))


def test_a_rotation_changes_nothing_by_itself():
    """The kernel depends on inner products: the criterion is the same where the search goes on."""
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(80, 6))
    Z[:, 4:] = np.eye(2)[rng.integers(0, 2, 80)]
    Z = column_moments(Z, np.ones(80)).standardize(Z)
    M = np.column_stack([np.sin(Z[:, 0] + Z[:, 1]), Z[:, 4]]) + 0.3 * rng.normal(size=(80, 2))
    groups = np.array([0, 1, 2, 3, 4, 4])
    root = np.sqrt(rng.uniform(0.5, 2, 80))
    problem = ScaleProblem(Z, M * root[:, None], root, groups, SMOOTH).of(np.arange(80))
    problem = problem.on_landmarks(40)
    point = evaluate(np.array([0.5, 0.2, -0.3, -4.0, 0.1, 0.7]), problem)
    turned = rotate_inputs(point)
    again = evaluate(turned.start, turned.problem)
    assert again.value == pytest.approx(point.value, rel=1e-9)
    # columns of one feature, and features that hardly matter, are left where they were
    scale, _ = problem.scales(point.theta)
    np.testing.assert_array_equal(turned.matrix[3:], np.diag(scale)[3:])
    np.testing.assert_allclose(turned.matrix @ turned.matrix.T, np.diag(scale**2), atol=1e-12)
    assert turned.price == 3 * 2
