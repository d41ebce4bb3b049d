"""Predictions of a fitted network from the coefficients of its features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.tangent.factorization import Factorization
from debinet.learners.tangent.features import FeatureMap
from debinet.learners.tangent.solution import Solution, learned_share
from debinet.learners.wide.kernels import row_chunks
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class Predictor:
    """A fitted network as a function, `f(z) = phi(z)' coef + intercept`.

    Attributes
    ----------
    feature_map : FeatureMap
    coef : FloatArray of shape (width + p, m)
        Outgoing weights of the hidden units, and of the skip connection.
    intercept : FloatArray of shape (m,)
    """

    feature_map: FeatureMap
    coef: FloatArray
    intercept: FloatArray


def make_predictor(factorization: Factorization, solution: Solution) -> Predictor:
    """Turn stopping times into coefficients: `basis diag(share) T`."""
    coef = np.empty((factorization.centre.size, solution.time.size))
    for k, spectrum in enumerate(factorization.spectra):
        j = solution.outputs_of(k)
        learned = learned_share(spectrum.w, solution.time[j]) * solution.T[k][:, j]
        coef[:, j] = (spectrum.basis @ learned) * solution.target.sd[j]
    intercept = solution.target.mean - factorization.centre @ coef
    return Predictor(factorization.feature_map, coef, intercept)


def predict(predictor: Predictor, Z: FloatArray) -> FloatArray:
    """Return the outputs (r, m) for new rows (r, p), a chunk of features at a time."""
    out = np.empty((Z.shape[0], predictor.intercept.size))
    for rows in row_chunks(Z.shape[0], predictor.coef.shape[0]):
        out[rows] = predictor.feature_map(Z[rows]) @ predictor.coef + predictor.intercept
    return out
