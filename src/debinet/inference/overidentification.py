"""Tests of overidentifying restrictions: whether all instruments say the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from debinet.inference.clustered_products import clustered_products
from debinet.inference.instrumented import InstrumentedRegression, solved_rows
from debinet.protocols import IntArray


@dataclass(frozen=True)
class OveridentificationTest:
    """Result of a test that the instruments agree.

    Attributes
    ----------
    name : {"Sargan", "Hansen J"}
        Under equal variances, or robust: the criterion of two-step GMM.
    statistic : float
        Chi-squared distributed if all instruments are valid.
    df : int
        Instruments beyond the number of endogenous treatments.
    pvalue : float
    """

    name: str
    statistic: float
    df: int
    pvalue: float


def overidentification(
    fit: InstrumentedRegression, kind: str, groups: IntArray | None
) -> OveridentificationTest | None:
    """Return the test under a covariance; None if there are no instruments to spare."""
    df = fit.R_W.shape[1] - int(fit.endogenous.sum())
    if df == 0:
        return None
    y, D, W = solved_rows(fit)
    A = np.linalg.qr(np.hstack([D[:, ~fit.endogenous], W]))[0]
    e = y - D @ fit.coef
    if kind == "iid":
        fitted = A.T @ e
        statistic = len(e) * float(fitted @ fitted) / float(e @ e)
        return OveridentificationTest("Sargan", statistic, df, float(stats.chi2.sf(statistic, df)))
    codes = groups[fit.w > 0] if kind == "cluster" and groups is not None else None
    half = np.linalg.cholesky(clustered_products(A * e[:, None], codes))
    left, right = np.linalg.solve(half, A.T @ D), np.linalg.solve(half, A.T @ y)
    rest = right - left @ np.linalg.lstsq(left, right, rcond=None)[0]
    statistic = float(rest @ rest)
    return OveridentificationTest("Hansen J", statistic, df, float(stats.chi2.sf(statistic, df)))
