"""The projected decomposition and the filters: against dense linear algebra."""

import numpy as np
import pytest
from scipy.linalg import expm

from debinet.learners.inputs import column_moments
from debinet.learners.spectral.full import decompose
from debinet.learners.spectral.spectrum import FILTERS
from debinet.learners.wide.input_map import InputMap
from debinet.learners.wide.kernels import Architecture, kernel_matrix

# Number of rows up to which a decomposition is not made in place.
both_ways = pytest.mark.parametrize("small", [1500, 0], ids=["copied", "in place"])


def problem(n=40, p=3, weighted=True, rank=None):
    rng = np.random.default_rng(1)
    if rank is None:
        Z, others = rng.normal(size=(2, n, p))
        A = InputMap(column_moments(others, np.ones(n))).encode(Z)
        K = kernel_matrix(A, A, Architecture(), 2.0)
    else:
        L = rng.normal(size=(n, rank))
        K = L @ L.T
    s = np.sqrt(rng.uniform(0.1, 3, size=n)) if weighted else np.ones(n)
    return K, s


@both_ways
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("rank", [None, 5])
def test_is_an_orthonormal_eigenbasis_beside_the_intercept(weighted, rank, small):
    K, s = problem(weighted=weighted, rank=rank)
    A = s[:, None] * K * s
    spectrum = decompose(K.copy(), s, 2.0, small=small)
    basis = np.column_stack([spectrum.C, spectrum.V])
    np.testing.assert_allclose(basis.T @ basis, np.eye(40), atol=1e-12)
    np.testing.assert_allclose(spectrum.V.T @ A @ spectrum.V, np.diag(spectrum.w), atol=1e-11)
    np.testing.assert_allclose(spectrum.C[:, 0], s / np.linalg.norm(s))
    np.testing.assert_allclose(spectrum.AC, A @ spectrum.C, rtol=1e-12)
    assert spectrum.w.min() >= 0


@both_ways
@pytest.mark.parametrize("penalty", [1e-3, 1.0, 1e4])
def test_gives_the_projected_inverse(penalty, small):
    K, s = problem()
    A = s[:, None] * K * s
    spectrum = decompose(K.copy(), s, 0.0, small=small)
    inverse = np.linalg.inv(A + penalty * np.eye(40))
    Qu = inverse @ s
    Q = inverse - np.outer(Qu, Qu) / (s @ Qu)
    ours = (spectrum.V / (spectrum.w + penalty)) @ spectrum.V.T
    # cond(A + penalty) reaches 1e5 at the smallest penalty
    np.testing.assert_allclose(ours, Q, rtol=1e-8, atol=1e-10 / penalty)


@both_ways
def test_two_rows_and_equal_rows(small):
    spectrum = decompose(np.array([[2.0, 1.0], [1.0, 3.0]]), np.ones(2), 0.0, small=small)
    np.testing.assert_allclose(spectrum.w, [1.5])
    flat = decompose(np.full((6, 6), 1.7), np.ones(6), 0.0, small=small)
    assert np.array_equal(flat.w, np.zeros(5))


@pytest.mark.parametrize("name", FILTERS)
def test_filters_are_the_mixtures_of_ridge_filters_they_say(name):
    filter_ = FILTERS[name]
    x = np.concatenate([[0.0], np.logspace(-8, 9, 500)])
    mixture = (filter_.weight / (1 + np.multiply.outer(x, filter_.stretch))).real.sum(axis=1)
    # 24 points of the contour reach 2e-14
    np.testing.assert_allclose(mixture, filter_.residual(x), atol=1e-13)
    np.testing.assert_allclose(np.exp(filter_.log_residual(x)), filter_.residual(x), rtol=1e-14)
    positive = x[1:]
    np.testing.assert_allclose(
        positive * filter_.dual(x)[1:], 1 - filter_.residual(positive), atol=1e-15
    )
    assert filter_.dual(x)[0] == 1.0


@both_ways
def test_flow_is_gradient_descent_on_the_kernel(small):
    K, s = problem()
    A = s[:, None] * K * s
    spectrum = decompose(K.copy(), s, 0.0, small=small)
    M = np.random.default_rng(5).normal(size=40)
    time = 0.3
    P = np.eye(40) - spectrum.C @ spectrum.C.T
    exact = expm(-time * P @ A @ P) @ P @ M
    ours = spectrum.V @ (FILTERS["flow"].residual(time * spectrum.w) * (spectrum.V.T @ M))
    np.testing.assert_allclose(ours, exact, atol=1e-11)
    # and it is where small steps lead: the error of Euler's rule is linear in the step
    residual = P @ M
    for _ in range(20_000):
        residual = residual - time / 20_000 * P @ (A @ residual)
    np.testing.assert_allclose(ours, residual, atol=5e-3)
