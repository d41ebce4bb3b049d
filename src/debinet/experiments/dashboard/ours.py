"""Estimates of this library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from debinet.data.simulated import Simulated
from debinet.experiments.dashboard.estimates import Estimates
from debinet.inference.result import Inference


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
        model = _for_sample(self.model, sample, seed)
        return _estimates(model.fit(sample.X, sample.y).result_)


@dataclass(frozen=True)
class Streamed:
    """The same through `fit_stream`, from a frame in memory that is read in passes.

    Attributes
    ----------
    model : PartiallyLinear
        As in `Ours`.
    """

    model: Any

    def __call__(self, sample: Simulated, seed: int) -> Estimates:
        """Return the estimates for a sample."""
        model = _for_sample(self.model, sample, seed)
        return _estimates(model.fit_stream(sample.X.assign(y=sample.y), outcome="y").result_)


def _for_sample(model: Any, sample: Simulated, seed: int) -> Any:
    treatments = list(sample.truth.index)
    return clone(model).set_params(treatments=treatments, random_state=seed)


def _estimates(result: Inference) -> Estimates:
    bounds = result.confint(0.95)
    return Estimates(
        result.coef.to_numpy(),
        result.se.to_numpy(),
        bounds["lower"].to_numpy(),
        bounds["upper"].to_numpy(),
        result.trust().verdict,
    )
