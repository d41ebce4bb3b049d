"""Wald tests with the covariance that holds under the hypothesis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from debinet.inference.covariance import spread
from debinet.inference.hypotheses import WaldTest, wald_test
from debinet.inference.regression import ResidualRegression
from debinet.inference.result import Inference
from debinet.protocols import FloatArray


def wald_under_null(result: Inference, R: FloatArray) -> WaldTest:
    """Test `R coef = 0` with residuals of the regression in which it holds.

    Robust covariances from residuals of a fit that is free to follow outlying rows reject too
    often; with the restricted fit they do much less (Davidson and MacKinnon 1985).

    Parameters
    ----------
    result : Inference
        Whose rows were kept.
    R : FloatArray of shape (m, q)
    """
    restricted = tuple(
        _restrict(one.all_rows("a test of effects"), R) for one in result.regressions
    )
    covariance = spread(restricted, result.vcov_type, result.groups).covariance
    return wald_test(result.estimate, covariance, result.df, R, np.zeros(len(R)))


def _restrict(fit: ResidualRegression, R: FloatArray) -> ResidualRegression:
    """Return the regression at the least squares coefficients with `R coef = 0`."""
    pull = fit.bread @ R.T
    return replace(fit, coef=fit.coef - pull @ np.linalg.solve(R @ pull, R @ fit.coef))
