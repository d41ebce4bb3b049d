"""What sensitivity needs of a result: residuals of all rows, and how they become a covariance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from debinet.exceptions import CovarianceError, EmptyInputError, OptionError
from debinet.inference.benchmarks import Benchmarks, Explained
from debinet.inference.covariance import median_coef
from debinet.inference.omitted_bias import (
    OmittedBias,
    OutcomeNoise,
    noise_level,
    omitted_bias,
    residual_moments,
)
from debinet.inference.regression import ResidualRegression
from debinet.inference.without_instruments import require_no_instruments
from debinet.protocols import FloatArray, IntArray

if TYPE_CHECKING:
    from debinet.inference.result import Inference


@dataclass(frozen=True, eq=False)
class SensitiveRows:
    """Residuals of a fit with q coefficients, in one or more repetitions.

    Attributes
    ----------
    names : tuple of str
    outcome : str
    fits : tuple of ResidualRegression
        One per repetition.
    vcov_type : str
        The covariance of the coefficients.
    df : float
        Degrees of freedom of its t distribution.
    groups : IntArray of shape (n, ways), optional
    """

    names: tuple[str, ...]
    outcome: str
    fits: tuple[ResidualRegression, ...]
    vcov_type: str
    df: float
    groups: IntArray | None

    @property
    def coef(self) -> FloatArray:
        """The estimates, of shape (q,)."""
        return median_coef([fit.coef for fit in self.fits])

    @cached_property
    def S(self) -> FloatArray:
        """Second moments of the residuals of D, of shape (q, q), averaged over repetitions."""
        return np.asarray(np.mean([residual_moments(fit) for fit in self.fits], axis=0))

    @cached_property
    def noise(self) -> OutcomeNoise:
        """Variance of y that is left; medians over repetitions."""
        levels = [noise_level(fit) for fit in self.fits]
        known = [level.likelihood for level in levels if level.likelihood is not None]
        residual = float(np.median([level.residual for level in levels]))
        return OutcomeNoise(residual, float(np.median(known)) if known else None)

    def explained(self) -> Explained:
        """Return what the fit leaves unexplained, to be compared with a fit of fewer controls."""
        return Explained(self.coef, self.noise.residual, self.S)

    def bias_of(self, A: FloatArray) -> OmittedBias:
        """Return estimates of `A coef`, with the scales of their bias."""
        return omitted_bias(self.fits, A, self.vcov_type, self.groups)

    def require_benchmarks(self, found: Benchmarks) -> None:
        """Require that benchmarks are those of the same fit."""
        if found.names != self.names or not np.allclose(found.long.coef, self.coef, rtol=1e-9):
            raise OptionError(
                f"benchmarks of the same fit, with coefficients {list(self.names)[:8]}",
                f"those of a fit of {list(found.names)[:8]} with other estimates",
                "Use model.result_.sensitivity(benchmarks=model.benchmark([...], X, y)).",
            )


def sensitive_rows(result: Inference) -> SensitiveRows:
    """Return what sensitivity needs of a result.

    Raises
    ------
    DebiNetError
        If rows were not kept, or if the estimate is not one to which the bounds apply.
    """
    provenance = result.provenance
    if not result.names:
        raise EmptyInputError(
            "at least one coefficient", "a result without any: nothing was selected", "Fit again."
        )
    require_no_instruments(provenance, "bounds on the bias by what was not measured")
    refused = {
        "a desparsified Lasso": provenance.lasso is not None,
        "Huber's M-estimator": provenance.huber is not None,
        "a correction for measurement error": provenance.errors is not None,
    }
    for what, found in refused.items():
        if found:
            raise OptionError(
                "the result of a partially linear model, whose bias by what was not measured is "
                "known",
                what,
                "Call sensitivity() on model.result_ of PartiallyLinear, DebiNet or plm.",
            )
    fits = tuple(fit for fit in result.regressions if isinstance(fit, ResidualRegression))
    if len(fits) < len(result.regressions):
        raise CovarianceError(
            "the residuals of all rows, for the noise in the bounds",
            "a result of streamed data, whose rows are not kept",
            "Fit a sample of the rows in memory, with fit, and call sensitivity() on its result.",
        )
    return SensitiveRows(
        result.names, result.outcome, fits, result.vcov_type, result.df, result.groups
    )
