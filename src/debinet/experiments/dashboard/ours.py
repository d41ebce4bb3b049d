"""Estimates of this library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from debinet.data.simulated import Simulated
from debinet.experiments.dashboard.estimates import Estimates


@dataclass(frozen=True)
class Ours:
    """A model of this library with its own covariance, intervals and verdict.

    Attributes
    ----------
    model : PartiallyLinear
        Cloned, and given the seed and the treatments of the sample.
    """

    model: Any

    def __call__(self, sample: Simulated, seed: int) -> Estimates:
        """Return the estimates for a sample."""
        treatments = list(sample.truth.index)
        model = clone(self.model).set_params(treatments=treatments, random_state=seed)
        result = model.fit(sample.X, sample.y).result_
        bounds = result.confint(0.95)
        return Estimates(
            result.coef.to_numpy(),
            result.se.to_numpy(),
            bounds["lower"].to_numpy(),
            bounds["upper"].to_numpy(),
            result.trust().verdict,
        )
