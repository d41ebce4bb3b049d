"""Data of a replication, and the errors and coverage of a fit to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.base import clone

from debinet.data.simulated import Simulated
from debinet.experiments.plan import Values
from debinet.inference.result import Inference
from debinet.protocols import FloatArray


class SimulatedSample(NamedTuple):
    """Rows to fit and new rows of the same design.

    Attributes
    ----------
    X : DataFrame of shape (n, p)
    y : Series of length n
    X_new : DataFrame of shape (m, p)
    y_new : Series of length m
    truth : Series
        True coefficients by name.
    """

    X: pd.DataFrame
    y: pd.Series
    X_new: pd.DataFrame
    y_new: pd.Series
    truth: pd.Series


def draw_sample(
    make: Callable[..., Simulated], n: int, new: int, *, random_state: int, **options: Any
) -> SimulatedSample:
    """Draw n + new rows of a design; the last `new` are for prediction."""
    X, y, truth = make(n=n + new, random_state=random_state, **options)
    return SimulatedSample(
        X.iloc[:n],
        y.iloc[:n],
        X.iloc[n:].reset_index(drop=True),
        y.iloc[n:].reset_index(drop=True),
        truth,
    )


def estimation_errors(coef: pd.Series, truth: pd.Series) -> dict[str, float]:
    """Return the mean squared error and mean error of coefficients, and how many there are.

    Only coefficients with a known truth count: a selected control has none.
    """
    known = coef.index.intersection(truth.index, sort=False)
    errors = coef[known] - truth[known]
    return {
        "error": float((errors**2).mean()),
        "bias": float(errors.mean()),
        "coefficients": float(len(known)),
    }


def interval_metrics(bounds: pd.DataFrame, truth: pd.Series) -> dict[str, float]:
    """Return coverage and mean width of the intervals whose truth is known."""
    bounds = bounds.loc[bounds.index.intersection(truth.index, sort=False)]
    wanted = truth[bounds.index]
    covers = (bounds["lower"] <= wanted) & (wanted <= bounds["upper"])
    return {
        "coverage": float(covers.mean()),
        "width": float((bounds["upper"] - bounds["lower"]).mean()),
    }


def prediction_errors(
    fitted: FloatArray, new: FloatArray, sample: SimulatedSample
) -> dict[str, float]:
    """Return the mean squared errors of the fitted rows and of new rows."""
    return {
        "train": float(np.mean((fitted - sample.y.to_numpy()) ** 2)),
        "test": float(np.mean((new - sample.y_new.to_numpy()) ** 2)),
    }


@dataclass(frozen=True)
class Fit:
    """A method: fit a model to a sample and assess coefficients, intervals and predictions.

    Attributes
    ----------
    model : PartiallyLinear, DebiNet or DebiasedLasso
        Cloned, given the seed and fitted; treatments `()` are the columns with a known truth.
    vcov : str or None
        Covariance of the intervals, the model's own if None.
    level : float
        Confidence level of the intervals.
    """

    model: Any
    vcov: str | None = None
    level: float = 0.95

    def fit(self, sample: SimulatedSample, seed: int) -> Any:
        """Return the fitted model."""
        model = clone(self.model).set_params(random_state=seed)
        if getattr(model, "treatments", None) == ():
            model.set_params(treatments=list(sample.truth.index))
        return model.fit(sample.X, sample.y)

    def result(self, model: Any) -> Inference:
        """Return the result of a fitted model, with covariance `vcov`."""
        result: Inference = model.result_
        return result if self.vcov is None else result.with_vcov(self.vcov)

    def __call__(self, sample: SimulatedSample, seed: int) -> Values:
        """Return the metrics of one replication."""
        model = self.fit(sample, seed)
        result = self.result(model)
        return {
            **estimation_errors(result.coef, sample.truth),
            **interval_metrics(result.confint(self.level), sample.truth),
            **prediction_errors(model.predict(sample.X), model.predict(sample.X_new), sample),
        }
