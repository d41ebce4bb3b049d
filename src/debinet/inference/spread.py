"""Estimates and their covariance from one or more repetitions of cross-fitting."""

from __future__ import annotations

from dataclasses import dataclass

from debinet.inference.aggregation import median_coef, median_covariance
from debinet.inference.covariance import Regression, covariance_of, degrees_of_freedom
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class Spread:
    """Coefficients with one covariance of them.

    Attributes
    ----------
    estimate : FloatArray of shape (q,)
    covariance : FloatArray of shape (q, q)
    vcov_type : str
        Name of the covariance.
    df : float
        Degrees of freedom of the t distribution.
    """

    estimate: FloatArray
    covariance: FloatArray
    vcov_type: str
    df: float


def spread(regressions: tuple[Regression, ...], kind: str, groups: IntArray | None) -> Spread:
    """Aggregate repetitions under the covariance named `kind`."""
    coefs = [regression.coef for regression in regressions]
    covariances = [covariance_of(regression, kind, groups) for regression in regressions]
    covariance = median_covariance(coefs, covariances)
    covariance.flags.writeable = False
    return Spread(
        median_coef(coefs),
        covariance,
        kind,
        degrees_of_freedom(regressions[0], kind, groups),
    )
