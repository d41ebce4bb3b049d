"""The tangent kernels: against wide finite networks, published formulas and identities."""

import numpy as np
import pytest
from scipy.special import erf

from debinet.data.free_memory import row_chunks
from debinet.exceptions import OptionError
from debinet.learners.inputs import column_moments
from debinet.learners.wide import kernels
from debinet.learners.wide.activations import ACTIVATIONS, LEAKY_SLOPE
from debinet.learners.wide.input_map import InputMap
from debinet.learners.wide.kernels import Architecture, kernel_matrix

FUNCTIONS = {
    "relu": (lambda x: np.maximum(x, 0), lambda x: (x > 0).astype(float)),
    "leaky_relu": (
        lambda x: np.where(x > 0, x, LEAKY_SLOPE * x),
        lambda x: np.where(x > 0, 1.0, LEAKY_SLOPE),
    ),
    "erf": (erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-(x**2))),
    "tanh": (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
}
ALL = [
    Architecture(depth, activation, train)
    for depth in (1, 3)
    for activation in ACTIVATIONS
    for train in ("all", "first")
]


def encoded_rows(n, p, seed=0):
    Z = np.random.default_rng(seed).normal(size=(n, p))
    return InputMap(column_moments(Z, np.ones(n))).encode(Z)


def finite_tangent_kernel(A, architecture, width, rng):
    """Gradient inner products of one random network of one or two hidden layers."""
    a, slope = FUNCTIONS[architecture.activation]
    nodes = np.linspace(-9, 9, 1201)
    gain = np.exp(-(nodes**2) / 2).sum() / np.sum(a(nodes) ** 2 * np.exp(-(nodes**2) / 2))
    W1 = rng.normal(size=(A.shape[1], width))
    H1 = A @ W1
    out = rng.normal(size=width)
    if architecture.depth == 1:
        G1 = slope(H1) * out
        first, last = (A @ A.T) * (G1 @ G1.T) / width, a(H1) @ a(H1).T / width
        return first if architecture.train == "first" else first + last
    X1 = a(H1) * np.sqrt(gain / width)
    W2 = rng.normal(size=(width, width))
    H2 = X1 @ W2
    G2 = slope(H2) * out / np.sqrt(width)
    G1 = (G2 @ W2.T) * slope(H1) * np.sqrt(gain / width)
    first = (A @ A.T) * (G1 @ G1.T)
    if architecture.train == "first":
        return first
    return first + (X1 @ X1.T) * (G2 @ G2.T) + a(H2) @ a(H2).T / width


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("train", ["all", "first"])
@pytest.mark.parametrize(("depth", "width", "runs"), [(1, 2000, 40), (2, 400, 40)])
def test_is_the_average_of_wide_finite_networks(activation, train, depth, width, runs):
    architecture = Architecture(depth, activation, train)
    A = encoded_rows(5, 3)
    rng = np.random.default_rng(7)
    sample = np.array([finite_tangent_kernel(A, architecture, width, rng) for _ in range(runs)])
    error = sample.std(axis=0, ddof=1) / np.sqrt(runs)
    # 16 cases of 15 entries: |t_39| > 6 has probability 5e-7 each, so a false alarm in 1 of 8000
    # runs of this file; finite networks are biased by O(1 / width) from the second layer on
    bias = 0.0 if depth == 1 else 4.0 / width
    exact = kernel_matrix(A, A, architecture)
    assert np.all(np.abs(sample.mean(axis=0) - exact) <= 6 * error + bias * np.abs(exact).max())


def test_first_layer_is_the_papers_h_infinity():
    A = encoded_rows(30, 4)
    unit = A / np.linalg.norm(A, axis=1)[:, None]
    inner = A @ A.T
    H = inner * (np.pi - np.arccos(np.clip(unit @ unit.T, -1, 1))) / (2 * np.pi)
    np.fill_diagonal(H, np.diag(inner) / 2)
    # arccos of a cosine off by 1e-16 is off by at most 1e-8, and only next to the diagonal
    np.testing.assert_allclose(
        kernel_matrix(A, A, Architecture(train="first")), H, rtol=1e-12, atol=1e-9
    )


def test_both_layers_add_the_arc_cosine_kernel():
    A = encoded_rows(30, 4)
    norms = np.linalg.norm(A, axis=1)
    theta = np.arccos(np.clip(A @ A.T / np.outer(norms, norms), -1, 1))
    added = np.outer(norms, norms) * (np.sin(theta) + (np.pi - theta) * np.cos(theta)) / 2 / np.pi
    difference = kernel_matrix(A, A, Architecture()) - kernel_matrix(
        A, A, Architecture(train="first")
    )
    np.testing.assert_allclose(difference, added, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("architecture", ALL, ids=str)
def test_symmetric_and_positive_semidefinite(architecture):
    A = encoded_rows(60, 3, seed=2)
    A[10] = A[11]
    K = kernel_matrix(A, A, architecture)
    # the coefficients of the series for tanh come from matrix products, rounded by shape
    np.testing.assert_allclose(K, K.T, rtol=1e-12 if architecture.activation == "tanh" else 0)
    w = np.linalg.eigvalsh(K)
    assert w.min() >= -1e-13 * w.max()  # rounding of 60 x 60
    # equal rows are equal, whatever BLAS rounds
    np.testing.assert_allclose(K[10, 10], K[10, 11], rtol=1e-14)


@pytest.mark.parametrize("architecture", ALL, ids=str)
def test_continuous_as_the_angle_vanishes(architecture):
    a = encoded_rows(2, 4)[:1]
    for step, tolerance in ((1e-4, 1e-3), (1e-7, 1e-6), (0.0, 1e-14)):
        b = a + step * np.array([[1.0, -1.0, 1.0, -1.0, 0.0]])
        assert kernel_matrix(a, b, architecture)[0, 0] == pytest.approx(
            kernel_matrix(a, a, architecture)[0, 0], rel=tolerance
        )


@pytest.mark.parametrize("activation", ["relu", "leaky_relu"])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_rectifiers_are_homogeneous(activation, depth):
    A = encoded_rows(20, 3)
    architecture = Architecture(depth, activation)
    K = kernel_matrix(A, A, architecture)
    np.testing.assert_allclose(kernel_matrix(3 * A, 3 * A, architecture), 9 * K, rtol=1e-12)
    np.testing.assert_allclose(kernel_matrix(A, 3 * A, architecture), 3 * K, rtol=1e-12)


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_diagonal_of_relu_counts_the_layers(depth):
    # every layer keeps the length and contributes it once, the last one halves it
    A = encoded_rows(20, 3)
    K = kernel_matrix(A, A, Architecture(depth))
    np.testing.assert_allclose(np.diag(K), (A**2).sum(axis=1) * (depth + 1) / 2, rtol=1e-12)


@pytest.mark.parametrize("row_length", [1.0, 1.5, 3.0])
def test_tanh_series_is_the_double_integral(row_length):
    # the trapezoid rule is exact to rounding at this step; the library uses another rule
    nodes = np.linspace(-9, 9, 1201)
    mass = np.exp(-(nodes**2) / 2)
    mass /= mass.sum()
    cosine = 0.6
    u = row_length * nodes[:, None]
    v = row_length * (cosine * nodes[:, None] + np.sqrt(1 - cosine**2) * nodes[None, :])
    weight = mass[:, None] * mass[None, :]
    variance = np.full(1, row_length**2)
    moments = ACTIVATIONS["tanh"].moments(cosine * variance[:, None], variance, variance)
    a, slope = FUNCTIONS["tanh"]
    tolerance = {1.0: 1e-12, 1.5: 1e-10, 3.0: 1e-4}[row_length]  # as the module says
    assert moments.value[0, 0] == pytest.approx(np.sum(weight * a(u) * a(v)), rel=tolerance)
    assert moments.slope[0, 0] == pytest.approx(np.sum(weight * slope(u) * slope(v)), rel=tolerance)


def test_skip_adds_the_linear_kernel():
    Z = np.random.default_rng(3).normal(size=(15, 4))
    moments = column_moments(Z, np.ones(15))
    A = InputMap(moments).encode(Z)
    S = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    difference = kernel_matrix(A, A, Architecture(), 7.0) - kernel_matrix(A, A, Architecture())
    np.testing.assert_allclose(difference, 7.0 * S @ S.T / 4, atol=1e-13)


def test_chunks_do_not_show(monkeypatch):
    A = encoded_rows(23, 3)
    chunks = list(row_chunks(23, 23, size=100))
    assert len(chunks) > 5
    np.testing.assert_array_equal(
        np.concatenate([np.arange(23)[rows] for rows in chunks]), range(23)
    )
    monkeypatch.setattr(kernels, "row_chunks", lambda *_: [slice(None)])
    whole = kernel_matrix(A, A, Architecture(2, "erf"), 1.0)
    monkeypatch.setattr(kernels, "row_chunks", lambda *_: chunks)
    assert np.array_equal(whole, kernel_matrix(A, A, Architecture(2, "erf"), 1.0))


@pytest.mark.parametrize(
    "options",
    [
        {"depth": 0},
        {"depth": 1.5},
        {"depth": True},
        {"activation": "swish"},
        {"train": "last"},
    ],
)
def test_unknown_architectures_are_refused(options):
    with pytest.raises(OptionError, match=next(iter(options))):
        Architecture(**options)
