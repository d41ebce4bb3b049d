"""What all learners that are ridge regression on features of Z share."""

from __future__ import annotations

from typing import Any

from debinet.data.folds import Folds
from debinet.learners.tangent.adjoint import Held, heldout_adjoint
from debinet.learners.tangent.factorization import Factorization, factorize
from debinet.learners.tangent.heldout import heldout_predictions
from debinet.learners.tangent.lowrank import LowRank
from debinet.learners.tangent.mixed import fit_mixed
from debinet.learners.tangent.predictor import Predictor, make_predictor, predict
from debinet.learners.tangent.solution import Solution, solve
from debinet.learners.wide.network import SpectralNet
from debinet.protocols import FloatArray, Pilot


class FeatureNet(SpectralNet):
    """Ridge regression on features, with a penalty for each output and closed held-out forms.

    Subclasses say which features: `_network` returns a `Features` record.
    """

    tune: Any

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
