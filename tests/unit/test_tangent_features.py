"""Random features: their kernel, and its decomposition through either Gram matrix."""

import numpy as np
import pytest

from debinet.learners.inputs import column_moments
from debinet.learners.tangent.features import HiddenUnits, draw_directions
from debinet.learners.tangent.view import view_features
from debinet.learners.wide.input_map import InputMap
from debinet.learners.wide.kernels import Architecture, kernel_matrix


def second_layer(Z, moments):
    """What training the second layer adds to that of the first, in closed form."""
    rows = InputMap(moments).encode(Z)
    both, first = (kernel_matrix(rows, rows, Architecture(train=t)) for t in ("all", "first"))
    return both - first


def test_the_kernel_converges_like_one_over_the_root_of_width():
    """Root mean square error over 900 pairs and 8 seeds, times sqrt(width), is constant.

    Errors of pairs are strongly dependent: 8 seeds give the number to 11 - 15 % (measured), and a
    ratio of two to 20 %, so 40 % is two standard errors, for fixed seeds. Between the first and the
    last width, a rate of 1/4 in place of 1/2 would be off by a factor of 4, one of 1 by 16.
    """
    Z = np.random.default_rng(0).normal(size=(30, 4))
    moments = column_moments(Z, np.ones(30))
    exact, inputs = second_layer(Z, moments), InputMap(moments)
    scaled = []
    for width in (100, 1600, 25600):
        squared = []
        for seed in range(8):
            units = HiddenUnits(inputs, draw_directions(seed, 4, width))(Z)[:, :width]
            squared.append(((units @ units.T - exact) ** 2).mean())
        scaled.append(np.sqrt(width * np.mean(squared)))
    np.testing.assert_allclose(scaled[1:], scaled[0], rtol=0.4)
    assert scaled[-1] / np.sqrt(25600) < 0.02 * exact.mean()


def test_units_belong_to_their_seed_and_number():
    narrow, wide = draw_directions(3, 5, 10), draw_directions(3, 5, 20)
    np.testing.assert_array_equal(narrow, wide[:, :10])
    assert not np.allclose(narrow, draw_directions(4, 5, 10))


@pytest.mark.parametrize("n", [12, 40, 41, 42, 43, 44, 90])
@pytest.mark.parametrize("weighted", [False, True])
def test_decompositions_rebuild_the_kernel(n, weighted):
    """Through rows or features, whichever is less, around the change from one to the other."""
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(n, 2))
    weight = rng.uniform(0.5, 2, n) if weighted else np.ones(n)
    units = HiddenUnits(InputMap(column_moments(Z, weight)), draw_directions(0, 2, 40))
    made = view_features(Z, weight, units, (0.0, 10.0))
    phi = made.feature_map(Z)
    centred = np.sqrt(weight)[:, None] * (phi - np.average(phi, axis=0, weights=weight))
    for spectrum in made.spectra:
        scale = np.r_[np.ones(40), np.full(2, np.sqrt(spectrum.skip))]
        kernel = (centred * scale**2) @ centred.T
        U, w = spectrum.U, spectrum.w
        size = np.abs(kernel).max()
        np.testing.assert_allclose((U * w) @ U.T, kernel, atol=1e-12 * size)
        # of directions at the edge of rounding, only the product with their eigenvalue is known
        np.testing.assert_allclose((U.T @ U - np.eye(w.size)) * w, 0, atol=1e-11 * w[-1])
        np.testing.assert_allclose((centred @ spectrum.basis - U) * w, 0, atol=1e-11 * w[-1])
        np.testing.assert_allclose((spectrum.C.T @ U) * w, 0, atol=1e-11 * w[-1])
        assert w.size <= min(n - 1, 42)
