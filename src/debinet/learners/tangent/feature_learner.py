"""What all learners that are ridge regression on features of Z share."""

from __future__ import annotations

from abc import abstractmethod

from debinet.learners.spectral.learner import SpectralLearner
from debinet.learners.tangent.features import FeatureMap
from debinet.learners.tangent.view import FeatureView, view_features
from debinet.protocols import FloatArray

# What penalties may minimize; the first is the default.
CRITERIA = ("reml", "gcv")


class FeatureLearner(SpectralLearner):
    """Ridge regression on features, with a penalty for each output and closed held-out forms."""

    @abstractmethod
    def feature_map(
        self, Z: FloatArray, M: FloatArray, weight: FloatArray
    ) -> tuple[FeatureMap, tuple[float, ...]]:
        """Return the features for rows (n, p) and targets (n, m), and the skip weights to try."""

    def check_options(self) -> None:
        """Check all options before anything is decomposed."""
        self.skip_weights()

    def _decompose(
        self, Z: FloatArray, M: FloatArray, weight: FloatArray
    ) -> tuple[FeatureView, ...]:
        return (view_features(Z, weight, *self.feature_map(Z, M, weight)),)
