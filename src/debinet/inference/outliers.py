"""Rows that dominate the residual variance, or the estimated variance of a coefficient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.inference.regression import ResidualRegression
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class RowShares:
    """Shares of single rows.

    Attributes
    ----------
    rows : IntArray of shape (k,)
        Positions of those with the largest residuals, largest first.
    residual : FloatArray of shape (k,)
        Their shares in `sum w e^2`.
    row : int
        The row with the largest share in the variance of any one coefficient.
    coefficient : int
        Which coefficient that is.
    variance : float
        Its share. The row moves the coefficient by about the square root of it, in standard errors.
    """

    rows: IntArray
    residual: FloatArray
    row: int
    coefficient: int
    variance: float


def row_shares(fit: ResidualRegression, count: int = 5) -> RowShares:
    """Return the rows with the largest shares.

    Parameters
    ----------
    fit : ResidualRegression
    count : int
        Most rows to return.
    """
    squares = fit.w * fit.residuals**2
    shares = squares / max(float(squares.sum()), np.finfo(np.float64).tiny)
    rows = np.argsort(-shares, kind="stable")[:count]
    terms = variance_terms(fit)
    total = terms.sum(axis=0)
    parts = np.divide(terms, total, out=np.zeros_like(terms), where=total > 0)
    row, j = np.unravel_index(int(np.argmax(parts)), parts.shape)
    return RowShares(rows, shares[rows], int(row), int(j), float(parts[row, j]))


def variance_terms(fit: ResidualRegression) -> FloatArray:
    """Return what each row adds to the variance of each coefficient, of shape (n, q)."""
    if fit.influence is not None:
        return np.asarray((fit.influence * fit.residuals[:, None]) ** 2)
    return np.asarray((fit.scores @ fit.bread) ** 2)
