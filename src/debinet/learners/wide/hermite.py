"""Gaussian averages of activations without a closed form: Hermite series by quadrature."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.special import roots_hermitenorm

from debinet.protocols import FloatArray

# For tanh(s x), whose poles lie at i pi / (2 s), rule and series converge like
# exp(-c sqrt(NODES) / s). Standardized rows have s near 1.4: errors below 1e-9. Rows four times
# as long lose all but two digits of the slopes, but stay positive semi-definite.
NODES = 400
TERMS = 200
# Relative size below which a term of the series is left out.
NEGLIGIBLE = 1e-13


@lru_cache(maxsize=1)
def _weighted_polynomials() -> tuple[FloatArray, FloatArray]:
    """Return the nodes and, at them, `h_k` times the quadrature weights: (TERMS, NODES)."""
    nodes, mass = roots_hermitenorm(NODES)
    rows = [np.ones_like(nodes), nodes]
    for k in range(1, TERMS - 1):
        rows.append((nodes * rows[k] - np.sqrt(k) * rows[k - 1]) / np.sqrt(k + 1))
    return nodes, np.array(rows) * (mass / mass.sum())


def hermite_coefficients(
    function: Callable[[FloatArray], FloatArray], scale: FloatArray
) -> FloatArray:
    """Return `E[function(scale x) h_k(x)]` for standard normal x and orthonormal h_k.

    Parameters
    ----------
    function : callable
        Works element by element.
    scale : FloatArray of shape (n,)
        One scale per row.

    Returns
    -------
    FloatArray of shape (TERMS, n)
    """
    nodes, polynomials = _weighted_polynomials()
    coefficients: FloatArray = polynomials @ function(nodes[:, None] * scale)
    return coefficients


def mehler_sum(cosine: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    """Return `sum_k left_k right_k cosine^k`, the average of a product of two functions.

    Mehler's formula: for standard normal (x, x') with correlation `cosine`, the average of
    `h_j(x) h_k(x')` is `cosine^k` if j = k and 0 otherwise. Whatever the coefficients and wherever
    the series is cut, the sum is positive semi-definite: powers of a correlation matrix are.

    Parameters
    ----------
    cosine : FloatArray of shape (r, n)
    left, right : FloatArray of shapes (TERMS, r), (TERMS, n)
        From `hermite_coefficients`.
    """
    size = np.abs(left).max(axis=1, initial=0.0) * np.abs(right).max(axis=1, initial=0.0)
    total = np.zeros_like(cosine)
    power = np.ones_like(cosine)
    reached = 0
    for k in np.flatnonzero(size > NEGLIGIBLE * size.max()):
        for _ in range(k - reached):
            power *= cosine
        reached = int(k)
        term = left[k][:, None] * right[k]
        term *= power
        total += term
    return total
