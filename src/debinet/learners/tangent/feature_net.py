"""What all learners that are ridge regression on features of Z share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from debinet.data.folds import Folds
from debinet.learners.tangent.adjoint import Held, heldout_adjoint
from debinet.learners.tangent.factorization import Factorization, factorize
from debinet.learners.tangent.heldout import heldout_predictions
from debinet.learners.tangent.lowrank import LowRank
from debinet.learners.tangent.mixed import fit_mixed
from debinet.learners.tangent.predictor import Predictor, make_predictor, predict
from debinet.learners.tangent.solution import Solution, solve
from debinet.learners.wide.network import SpectralNet
from debinet.learners.wide.tuning import StoppingPath, inverse
from debinet.protocols import FloatArray, IntArray, Pilot


class FeatureNet(SpectralNet):
    """Ridge regression on features, with a penalty for each output and closed held-out forms.

    Subclasses say which features: `_network` returns a `Features` record.
    """

    tune: Any

    def adopt(
        self,
        predictor: Predictor,
        *,
        time: FloatArray,
        spectrum_of: IntArray,
        skips: Sequence[float],
        noise_variance: FloatArray,
        dof: FloatArray,
        path: StoppingPath,
    ) -> None:
        """Take over a fit of m outputs that was made from sums over rows.

        Parameters
        ----------
        predictor : Predictor
        time, noise_variance, dof : FloatArray of shape (m,)
        spectrum_of : IntArray of shape (m,)
            Positions in `skips`.
        skips : sequence of float
        path : StoppingPath
        """
        self._predictor, self._flat, self._factorization = predictor, False, None
        self._time, self._spectrum_of = time, spectrum_of
        self.penalty_, self.skip_ = inverse(time), np.asarray(skips)[spectrum_of]
        self.noise_variance_, self.dof_, self._path = noise_variance, dof, path
        self.n_features_in_ = predictor.feature_map.count - predictor.feature_map.width

    def _decompose(
        self, Z: FloatArray, weight: FloatArray, network: Any, skips: tuple[float, ...], key: bytes
    ) -> Factorization:
        return factorize(Z, weight, network, skips, key)

    def _tune(self, factorization: Factorization, M: FloatArray) -> Solution:
        return solve(factorization, M, self.tune)

    def _make_predictor(self, factorization: Factorization, solution: Solution) -> Predictor:
        return make_predictor(factorization, solution)

    def _predict(self, predictor: Predictor, Z: FloatArray) -> FloatArray:
        return predict(predictor, Z)

    def _hold_out(
        self,
        factorization: Factorization,
        solution: Solution,
        Z: FloatArray,
        M: FloatArray,
        folds: Folds,
    ) -> FloatArray:
        return heldout_predictions(factorization, solution, self._predictor, Z=Z, M=M, folds=folds)

    def _fit_mixed(self, factorization: Factorization, y: FloatArray, D: FloatArray) -> Pilot:
        return fit_mixed(factorization, y, D)

    def _adjoint(
        self,
        factorization: Factorization,
        spectrum: LowRank,
        time: float,
        X: FloatArray,
        folds: Folds,
    ) -> FloatArray:
        return heldout_adjoint(Held(factorization, spectrum, time), X, folds)
