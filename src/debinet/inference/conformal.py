"""Prediction intervals from held-out residuals: jackknife+, CV+ and the jackknife.

A row that was left out is a new row to the fit without it. With `mu_b` the prediction by the fit
without the block of rows b, and `r_i` the residual of row i from the fit without its block, the
interval of a new row goes from the quantile `1 - level` of `mu_b(i) - |r_i|` over all rows i to the
quantile `level` of `mu_b(i) + |r_i|`. With blocks of single rows this is jackknife+, otherwise CV+
(Barber, Candes, Ramdas and Tibshirani 2021). With one prediction for all blocks it is the
jackknife.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.data.free_memory import row_chunks
from debinet.exceptions import TooFewRowsError
from debinet.inference.covariance import LEVERAGE_LIMIT
from debinet.inference.regression import ResidualRegression
from debinet.protocols import BoolArray, FloatArray, IntArray

# With fewer blocks than this, their residuals are sorted once for all new rows.
_FEW = 64
# Halvings of an interval: to the last digit.
_HALVINGS = 60
# Rounding of sums of shares.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class LeftOut:
    """A regression without each block of its rows.

    Attributes
    ----------
    codes : IntArray of shape (n,)
        The block of every row, from 0.
    residuals : FloatArray of shape (n,)
        Of every row from the fit without its block; infinite if the other rows do not determine
        the coefficients.
    shift : FloatArray of shape (blocks, q), or (blocks, 1 + q) with an intercept
        Coefficients without the block less those of all rows; the intercept is the first.
    """

    codes: IntArray
    residuals: FloatArray
    shift: FloatArray


def leave_out(fit: ResidualRegression, codes: IntArray) -> LeftOut:
    """Leave out blocks of rows: exactly for least squares and for generalized least squares.

    With `coef = A' y`, the coefficients without the block b are `coef - A_b' r_b`, where
    `r_b = (I - R_b A_b')^-1 e_b` are its residuals from the fit without it.

    Parameters
    ----------
    fit : ResidualRegression
        Of n rows; the nuisance functions were held out from their blocks.
    codes : IntArray of shape (n,)
    """
    A = fit.w[:, None] * fit.R_D @ fit.bread if fit.influence is None else fit.influence
    R = fit.R_D
    if fit.intercept:
        A = np.column_stack([fit.w / fit.w.sum(), A])
        R = np.column_stack([np.ones(len(R)), R])
    e = fit.residuals
    blocks = int(codes.max()) + 1
    if blocks == len(codes):
        own = np.clip((R * A).sum(axis=1), 0.0, 1.0)
        left = np.full(len(e), np.inf)
        np.divide(e, 1 - own, out=left, where=own <= LEVERAGE_LIMIT)
        shift = np.empty_like(A)
        shift[codes] = -A * np.where(np.isfinite(left), left, 0.0)[:, None]
        return LeftOut(codes, left, shift)
    left, shift = np.empty_like(e), np.zeros((blocks, A.shape[1]))
    for block in range(blocks):
        rows = codes == block
        middle = np.eye(A.shape[1]) - A[rows].T @ R[rows]
        moved = A[rows].T @ e[rows]
        if np.linalg.svd(middle, compute_uv=False).min(initial=1.0) < 1 - LEVERAGE_LIMIT:
            left[rows] = np.inf
            continue
        shift[block] = -np.linalg.solve(middle, moved)
        left[rows] = e[rows] - R[rows] @ shift[block]
    return LeftOut(codes, left, shift)


@dataclass(frozen=True)
class Calibration:
    """Predictions of new rows without each block, and the residuals of the rows of the blocks.

    Attributes
    ----------
    centre : FloatArray of shape (r, blocks)
        Of the r new rows.
    codes : IntArray of shape (n,)
        The block of every row.
    size : FloatArray of shape (n,)
        Absolute residuals.
    mass : FloatArray of shape (n,)
        Weights of the rows.
    rows : int
        Number of different rows of positive weight.
    """

    centre: FloatArray
    codes: IntArray
    size: FloatArray
    mass: FloatArray
    rows: int

    def bounds(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper ends (r,) of the intervals."""
        # A new row takes part with the weight of an average one, and an unknown residual.
        total = self.mass.sum() * (1 + 1 / self.rows)
        share = self.mass / total
        upper = _upper(self.centre, self.codes, self.size, share, level)
        return -_upper(-self.centre, self.codes, self.size, share, level), upper


def require_rows_for(level: float, n: int) -> None:
    """Require as many rows as a quantile at this level needs."""
    least = int(np.ceil(level / (1 - level) - _ROUNDING))
    if n < least:
        raise TooFewRowsError(
            f"at least {least} rows for prediction intervals at the level {level:g}",
            f"{n} rows",
            "Use a lower level: of so few residuals, none is large with a known probability.",
        )


def _upper(
    centre: FloatArray, codes: IntArray, size: FloatArray, share: FloatArray, level: float
) -> FloatArray:
    """Return the least values (r,) with at least the share `level` of `centre + size` below."""
    if centre.shape[1] <= _FEW:
        return _upper_of_few(centre, codes, size, share, level)
    out = np.empty(len(centre))
    for rows in row_chunks(len(centre), size.size):
        values = centre[rows][:, codes] + size
        order = np.argsort(values, axis=1)
        reached = np.cumsum(share[order], axis=1) >= level - _ROUNDING
        first = np.argmax(reached, axis=1)
        found = np.take_along_axis(values, order, axis=1)[np.arange(len(values)), first]
        out[rows] = np.where(reached[:, -1], found, np.inf)
    return out


def _upper_of_few(
    centre: FloatArray, codes: IntArray, size: FloatArray, share: FloatArray, level: float
) -> FloatArray:
    """Do the same by halving: the residuals of a block are sorted once."""
    sorted_, below = [], []
    for block in range(centre.shape[1]):
        order = np.flatnonzero(codes == block)
        order = order[np.argsort(size[order])]
        sorted_.append(size[order])
        below.append(np.append(0.0, np.cumsum(share[order])))

    def reached(value: FloatArray) -> BoolArray:
        total = np.zeros(len(centre))
        for block, (sizes, shares) in enumerate(zip(sorted_, below, strict=True)):
            total += shares[np.searchsorted(sizes, value - centre[:, block], side="right")]
        return total >= level - _ROUNDING

    finite = size[np.isfinite(size)]
    low = centre.min(axis=1)
    high = centre.max(axis=1) + (finite.max() if finite.size else 0.0)
    high += 1e-12 * np.abs(high)  # `value - centre` is rounded
    possible = reached(high)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        enough = reached(middle)
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    return np.where(possible, high, np.inf)
