"""Where the Anderson-Rubin statistic of one coefficient crosses a limit: all roots, exactly."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from debinet.inference.anderson_rubin import InstrumentMoments
from debinet.protocols import FloatArray

# Eigenvalues whose imaginary part is smaller than this share of their size are real. Ends that are
# none do no harm: both sides of each are tried.
_REAL = 1e-6


def quadratic_ends(moments: InstrumentMoments, limit: float) -> list[float]:
    """Return all b at which `AR(b)` is the limit.

    `det(limit Omega - m m') = det(limit Omega) (1 - AR / limit)`: they are the real eigenvalues of
    a quadratic matrix polynomial of size k, which are found without its coefficients of degree 2k.
    """
    G, T, k = moments.G, moments.T, moments.k

    def part(s: int, t: int) -> FloatArray:
        return np.asarray(limit * T[s, t] - np.outer(G[:, s], G[:, t]))

    first, second, third = part(0, 0), -(part(0, 1) + part(1, 0)), part(1, 1)
    zero, one = np.zeros((k, k)), np.eye(k)
    left = np.block([[zero, one], [-first, -second]])
    right = np.block([[one, zero], [zero, third]])
    # As ratios: denominators are zero at infinity.
    above, below = linalg.eig(left, right, right=False, homogeneous_eigvals=True)
    finite = np.abs(below) > 1e-14 * np.abs(above)
    values = above[finite] / below[finite]
    real = np.abs(values.imag) <= _REAL * (1 + np.abs(values.real))
    return [float(value) for value in values.real[real]]
