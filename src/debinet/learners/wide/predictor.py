"""Predictions of a fitted network, without its eigenvectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.moments import Moments
from debinet.learners.wide.factorization import Factorization
from debinet.learners.wide.inputs import encode
from debinet.learners.wide.kernels import Architecture, kernel_matrix, row_chunks
from debinet.learners.wide.solution import Solution
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class Predictor:
    """A fitted network as a function.

    `f(z) = K(z, Z) dual + z~ linear`, where the network's kernel K is without its linear part.

    Attributes
    ----------
    architecture : Architecture
    moments : Moments
        Of the columns of `Z`.
    encoded : FloatArray of shape (n, p + 1)
        Training rows.
    dual : FloatArray of shape (n, m)
        Coefficients of the kernel functions at the training rows.
    linear : FloatArray of shape (p + 1, m)
        Coefficients of the skip connection; the last row is the intercept.
    """

    architecture: Architecture
    moments: Moments
    encoded: FloatArray
    dual: FloatArray
    linear: FloatArray


def make_predictor(factorization: Factorization, solution: Solution) -> Predictor:
    """Turn stopping times into coefficients.

    In the metric of the weighted rows, the coefficients are `a = V diag(t dual(w t)) T`. Residuals
    are orthogonal to the intercept's direction u, which gives `intercept = mean - u'A a / |s|`.
    """
    n, m = factorization.rows.size, solution.time.size
    dual, linear = np.empty((n, m)), np.empty((factorization.encoded.shape[1], m))
    for k, spectrum in enumerate(factorization.spectra):
        j = np.flatnonzero(solution.spectrum_of == k)
        time = solution.time[j]
        share = time * solution.filter_.dual(np.multiply.outer(spectrum.w, time))
        a = (spectrum.V @ (share * solution.T[:, j])) * solution.target.sd[j]
        dual[:, j] = factorization.root_weight[:, None] * a
        linear[:, j] = spectrum.skip * (factorization.encoded.T @ dual[:, j])
        length = np.linalg.norm(factorization.root_weight)
        linear[-1, j] = solution.target.mean[j] - spectrum.Au @ a / length
    return Predictor(
        factorization.architecture, factorization.moments, factorization.encoded, dual, linear
    )


def predict(predictor: Predictor, Z: FloatArray) -> FloatArray:
    """Return the outputs (r, m) for new rows (r, p), a chunk of kernel at a time."""
    encoded = encode(Z, predictor.moments)
    out = encoded @ predictor.linear
    for rows in row_chunks(Z.shape[0], predictor.encoded.shape[0]):
        kernel = kernel_matrix(encoded[rows], predictor.encoded, predictor.architecture)
        out[rows] += kernel @ predictor.dual
    return out
