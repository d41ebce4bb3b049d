"""Kernels compared by tridiagonal matrices, before any of them is decomposed."""

import numpy as np
import pytest

import debinet as dn
from debinet.learners.spectral.full import decompose
from debinet.learners.spectral.kernel_choice import least_criteria, needed_kernels
from debinet.learners.spectral.mixed import make_contrasts
from debinet.learners.spectral.prepared import judged_columns
from debinet.learners.spectral.spectrum import RIDGE
from debinet.learners.spectral.tridiagonal import reduce_kernel
from debinet.learners.spectral.tuning import reml, time_grid, tune
from debinet.learners.wide import WideNet, view


@pytest.fixture
def problem():
    """Return a kernel, roots of weights and standardized columns of 90 rows."""
    rng = np.random.default_rng(0)
    Z, weight = rng.normal(size=(90, 4)), rng.uniform(0.5, 2.0, 90)
    D = np.column_stack([np.sin(Z[:, 0]), Z[:, 1]]) + rng.normal(size=(90, 2))
    y = D @ [1.0, 2.0] + Z[:, 2] + rng.normal(size=90)
    kernel = np.exp(Z @ Z.T / 4)
    return kernel, np.sqrt(weight), judged_columns(np.column_stack([y, D]), weight)


def test_a_reduced_kernel_has_the_eigenvectors_of_the_kernel(problem):
    kernel, root, _ = problem
    whole = decompose(kernel.copy(), root, 3.0)
    reduced = reduce_kernel(kernel.copy(), root, 3.0).decompose()
    assert reduced.skip == whole.skip
    np.testing.assert_allclose(reduced.w, whole.w, atol=1e-10)
    np.testing.assert_allclose(reduced.AC, whole.AC)
    np.testing.assert_allclose(reduced.C, whole.C)
    share = np.exp(-whole.w)
    left, right = ((s.V * share) @ s.V.T for s in (whole, reduced))
    np.testing.assert_allclose(right, left, atol=1e-10)


def test_products_are_those_of_the_dense_matrix(problem):
    kernel, root, X = problem
    reduced = reduce_kernel(kernel.copy(), root, 0.0)
    products, spread = reduced.products(0.7, reduced.rotate(X))
    P = np.eye(90) - reduced.C @ reduced.C.T
    marginal = np.eye(90) + 0.7 * P @ (kernel * np.outer(root, root)) @ P
    np.testing.assert_allclose(products, X.T @ np.linalg.solve(marginal, X), rtol=1e-9)
    np.testing.assert_allclose(spread, np.linalg.slogdet(marginal)[1], rtol=1e-9)


def test_criteria_are_those_by_which_penalties_are_chosen(problem):
    """Up to the parabolas between the points of the grid."""
    kernel, root, X = problem
    spectrum = decompose(kernel.copy(), root, 0.0)
    part = spectrum.project(X)
    tuned = tune(reml(spectrum, part, RIDGE), time_grid(spectrum.w))
    found = least_criteria(reduce_kernel(kernel.copy(), root, 0.0), X)
    np.testing.assert_allclose(found[:-1], tuned.value, atol=0.05)
    np.testing.assert_allclose(found[-1], make_contrasts(part).best_time()[1], atol=0.05)


def test_dependent_treatments_are_no_reason_for_a_kernel(problem):
    kernel, root, X = problem
    twice = np.column_stack([X, X[:, 1]])
    kernels = [reduce_kernel(k, root, 0.0) for k in (kernel.copy(), kernel + 1e-9 * np.eye(90))]
    assert np.isinf(least_criteria(kernels[0], twice)[-1])
    assert needed_kernels(kernels, twice).size == 1
    one = least_criteria(reduce_kernel(kernel.copy(), root, 0.0), X[:, :1])
    np.testing.assert_allclose(one[0], one[1])


def linear_and_rough(n=300):
    """Return controls, a linear and a rough function of them with noise, and noise."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, 3))
    linear, rough = Z.sum(axis=1), np.abs(Z[:, 0]) + np.abs(Z[:, 1])
    return Z, *(signal + 0.3 * rng.normal(size=n) for signal in (linear, rough, 0.0))


def test_a_skip_weight_that_no_output_needs_is_not_decomposed():
    Z, linear, rough, noise = linear_and_rough()
    net = WideNet(relevance="equal")
    for columns, skips in (
        ([linear, noise], [10.0]),
        ([rough, noise], [0.0]),
        ([linear, rough], [0.0, 10.0]),
    ):
        spectra = net.prepare(Z, np.column_stack(columns)).spectra
        assert [spectrum.skip for spectrum in spectra] == skips
    gcv = WideNet(relevance="equal", tune="gcv").prepare(Z, np.column_stack([linear, noise]))
    assert len(gcv.spectra) == 2


def test_the_outcome_is_judged_given_the_treatments():
    """Its own likelihood hardly sees a function that is small beside the treatment's part."""
    Z, linear, rough, noise = linear_and_rough()
    D = 30 * noise
    prepared = WideNet(relevance="equal").prepare(Z, np.column_stack([10 * D + linear, D]))
    assert [spectrum.skip for spectrum in prepared.spectra] == [10.0]
    both = WideNet(relevance="equal").prepare(Z, np.column_stack([10 * D + linear, D, rough]))
    assert [spectrum.skip for spectrum in both.spectra] == [0.0, 10.0]


def test_estimates_hardly_depend_on_what_is_left_out(monkeypatch):
    X, y, truth = dn.datasets.make_table2(n=300, p=250, k=20, random_state=0)
    names = list(truth.index[truth != 0][:3])
    one = dn.PartiallyLinear(names).fit(X, y).result_
    monkeypatch.setattr(view, "needed_kernels", lambda kernels, _: range(len(kernels)))
    all_ = dn.PartiallyLinear(names).fit(X, y).result_
    # a twentieth of a standard error
    np.testing.assert_array_less(np.abs(one.coef - all_.coef), 0.05 * all_.se)


def test_needed_kernels_of_one_kernel_is_that_one(problem):
    kernel, root, X = problem
    assert needed_kernels([reduce_kernel(kernel.copy(), root, 0.0)], X).tolist() == [0]
