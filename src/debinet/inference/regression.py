"""Least squares of residuals on residuals: the step that every method ends with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from debinet.data.arrays import freeze_arrays, require
from debinet.exceptions import CollinearError
from debinet.inference.covariance import covariance_of
from debinet.protocols import FloatArray, IntArray


class LargestRow(NamedTuple):
    """The row with the largest share in the weight behind any one coefficient.

    Attributes
    ----------
    row : int
    coefficient : int
        Position of the coefficient.
    share : float
    """

    row: int
    coefficient: int
    share: float


class Regression(Protocol):
    """A solved regression of `R_y` on `R_D`, whether its rows were kept or only sums over them."""

    @property
    def coef(self) -> FloatArray:
        """Coefficients, of shape (q,)."""

    @property
    def n(self) -> int:
        """Number of rows of positive weight."""

    @property
    def R_y(self) -> FloatArray:
        """Residuals of the outcome, of shape (r,): all rows, or a sample of them."""

    @property
    def R_D(self) -> FloatArray:
        """Residuals of the treatments in the same rows, of shape (r, q)."""

    @property
    def scores(self) -> FloatArray:
        """Scores of the same rows, of shape (r, q)."""

    def covariance(self, kind: str, groups: IntArray | None) -> FloatArray:
        """Return the covariance named `kind`, of shape (q, q)."""

    def degrees_of_freedom(self, kind: str, groups: IntArray | None) -> float:
        """Return the degrees of freedom of the t distribution for this covariance."""

    def largest_row(self) -> LargestRow:
        """Return the row on which a single coefficient depends most."""

    def all_rows(self, purpose: str) -> ResidualRegression:
        """Return the regression with all rows, or raise if they were not kept."""


@dataclass(frozen=True)
class ResidualRegression:
    """A solved regression of `R_y` on `R_D`, with everything that a covariance needs.

    Attributes
    ----------
    R_y : FloatArray of shape (n,)
        Outcome less its conditional mean.
    R_D : FloatArray of shape (n, q)
        Treatments less their conditional means.
    coef : FloatArray of shape (q,)
        Coefficients.
    weights : FloatArray of shape (n,), optional
        Sample weights.
    influence : FloatArray of shape (n, q), optional
        If the full procedure is linear in y given its tuning parameters, `coef = influence' y`.
    least_squares : bool
        Whether `coef` solves the sum of the scores (or is an average of such solutions), so that
        sandwich covariances of the regression are its covariances.
    noise : float, optional
        Standard deviation of the noise, if it was not estimated from `residuals`.
    noise_df : float, optional
        Degrees of freedom of intervals that use it; None if they use `residuals`.
    D_noise : FloatArray of shape (q,), optional
        Variances of the treatments given Z, where the learner estimates them.
    bias : FloatArray of shape (q, q), optional
        Second moments of the bias of `influence' y` under the prior of a mixed model.
    error : FloatArray of shape (q, q), optional
        Covariance of the errors in `R_D` that `coef` is corrected for.
    regressors : FloatArray of shape (n, q), optional
        What `coef` multiplies, if `R_D` are instruments for it: D for `method="iv-type"`. `R_y` is
        then such that `residuals` are those of the regressors.
    clip : float, optional
        Size at which residuals are clipped in the scores of Huber's M-estimator.
    intercept : bool
        Whether `R_y` and `R_D` are deviations from the means of the same rows, so that the
        regression is one with an intercept: it takes a degree of freedom and has leverage.
    """

    R_y: FloatArray
    R_D: FloatArray
    coef: FloatArray
    weights: FloatArray | None = None
    influence: FloatArray | None = None
    least_squares: bool = True
    noise: float | None = None
    noise_df: float | None = None
    D_noise: FloatArray | None = None
    bias: FloatArray | None = None
    error: FloatArray | None = None
    regressors: FloatArray | None = None
    clip: float | None = None
    intercept: bool = False

    def __post_init__(self) -> None:
        freeze_arrays(
            self,
            R_y="n",
            R_D="n q",
            coef="q",
            weights="n",
            influence="n q",
            D_noise="q",
            bias="q q",
            error="q q",
            regressors="n q",
        )
        # Only a noise level of its own allows for more coefficients than rows.
        require(self.R_y.size > self.coef.size or self.noise_df is not None, "number of rows")
        reached = self.influence is None or bool((self.influence != 0).any(axis=0).all())
        require(reached, "influence: a coefficient that no row influences")
        for value in (self.weights, self.noise, self.noise_df, self.clip):
            require(value is None or bool(np.min(value) >= 0), "negative weight or noise")

    @cached_property
    def w(self) -> FloatArray:
        """Weights, ones if there are none, of shape (n,)."""
        return np.ones(self.R_y.size) if self.weights is None else self.weights

    @property
    def has_own_noise(self) -> bool:
        """Whether intervals use a noise level that was not estimated from `residuals`."""
        return self.noise_df is not None

    @property
    def n(self) -> int:
        """Number of rows of positive weight."""
        return int(np.count_nonzero(self.w))

    @property
    def rest(self) -> int:
        """Rows that are left for the noise: n less the coefficients, the intercept included."""
        return self.n - self.coef.size - int(self.intercept)

    @property
    def residuals(self) -> FloatArray:
        """`e = R_y - R_D coef`, of shape (n,)."""
        return self.R_y - self.R_D @ self.coef

    @property
    def scores(self) -> FloatArray:
        """`psi_i = w_i (R_D_i e_i + error coef)`, (n, q): zero on average at a solution.

        With `clip`, e_i is at most that large.
        """
        residuals = self.residuals
        if self.clip is not None:
            residuals = np.clip(residuals, -self.clip, self.clip)
        scores = (self.w * residuals)[:, None] * self.R_D
        if self.error is None:
            return scores
        return scores + np.multiply.outer(self.w, self.error @ self.coef)

    @cached_property
    def bread(self) -> FloatArray:
        """`(R_D' W R_D - sum(w) error)^-1`, of shape (q, q).

        With regressors D, `(D' W R_D)^-1`. With `clip`, of the rows whose residuals are smaller.
        """
        left = self.R_D if self.regressors is None else self.regressors
        w = self.w if self.clip is None else self.w * (np.abs(self.residuals) <= self.clip)
        gram: FloatArray = left.T @ (w[:, None] * self.R_D)
        if self.error is not None:
            gram = gram - self.w.sum() * self.error
        return np.asarray(np.linalg.inv(gram), dtype=np.float64)

    @property
    def contributions(self) -> FloatArray:
        """What the residual of every row adds to the coefficients, of shape (n, q)."""
        if self.least_squares or self.influence is None:
            return np.asarray(self.scores @ self.bread)
        return self.influence * self.residuals[:, None]

    @property
    def leverage(self) -> FloatArray:
        """Weight of every row in its own fit, of shape (n,).

        The diagonal of the hat matrix if the coefficients are those of the weighted regression.
        """
        if not self.least_squares and self.influence is not None:
            return np.asarray(np.clip((self.R_D * self.influence).sum(axis=1), 0.0, 1.0))
        fitted = self.R_D if self.regressors is None else self.regressors
        leverage = self.w * ((self.R_D @ self.bread) * fitted).sum(axis=1)
        return np.asarray(leverage + self.w / self.w.sum() if self.intercept else leverage)

    def covariance(self, kind: str, groups: IntArray | None) -> FloatArray:
        """Return the covariance named `kind`, of shape (q, q)."""
        return covariance_of(self, kind, groups)

    def degrees_of_freedom(self, kind: str, groups: IntArray | None) -> float:
        """Return groups - 1 (the fewer, if two-way) for clusters, otherwise `rest`.

        A noise level of its own has its own degrees of freedom.
        """
        if kind in {"cluster", "full"} and groups is not None:
            return float(min(np.unique(codes[self.w > 0]).size for codes in groups.T) - 1)
        return float(self.rest) if self.noise_df is None else self.noise_df

    def largest_row(self) -> LargestRow:
        """Return the row on which a single coefficient depends most."""
        weight = (self.w[:, None] * (self.R_D @ self.bread)) ** 2
        share = weight / weight.sum(axis=0)
        row, j = np.unravel_index(int(np.argmax(share)), share.shape)
        return LargestRow(int(row), int(j), float(share[row, j]))

    def all_rows(self, purpose: str) -> ResidualRegression:  # noqa: ARG002 - needed by sums only
        """Return the regression itself: it has all rows."""
        return self


def regress(R_y: FloatArray, R_D: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the coefficients of the (weighted) regression of `R_y` on `R_D`, without intercept."""
    root = None if weights is None else np.sqrt(weights)
    left = R_D if root is None else root[:, None] * R_D
    right = R_y if root is None else root * R_y
    # Columns of unit length, so that treatments on very different scales are solved equally well.
    lengths = np.linalg.norm(left, axis=0)
    if not lengths.all():
        raise CollinearError(
            "treatments that vary given the controls, in every fold for method='dml1'",
            "residuals of a treatment that are all zero",
            "Use fewer folds, method='dml2', or drop the treatment.",
        )
    solution: FloatArray = np.linalg.lstsq(left / lengths, right, rcond=None)[0]
    return np.asarray(solution / lengths)
