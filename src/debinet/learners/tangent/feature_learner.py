"""What all learners that are ridge regression on features of Z share."""

from __future__ import annotations

from abc import abstractmethod

from debinet.learners.spectral.learner import SpectralLearner
from debinet.learners.tangent.features import Features
from debinet.learners.tangent.view import FeatureView, view_features
from debinet.protocols import FloatArray

# What penalties may minimize; the first is the default.
CRITERIA = ("reml", "gcv")


class FeatureLearner(SpectralLearner):
    """Ridge regression on features, with a penalty for each output and closed held-out forms."""

    @abstractmethod
    def features(self) -> Features:
        """Return the choice of features, from checked options."""

    def _check_options(self) -> None:
        self.skip_weights()

    def _decompose(
        self,
        Z: FloatArray,
        M: FloatArray,  # noqa: ARG002
        weight: FloatArray,
    ) -> tuple[FeatureView, ...]:
        return (view_features(Z, weight, self.features(), self.skip_weights()),)
