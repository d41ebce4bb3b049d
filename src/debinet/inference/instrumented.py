"""A solved regression of residuals with instruments, with everything that inference needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from debinet.data.arrays import freeze_arrays, require
from debinet.data.options import one_of
from debinet.exceptions import CovarianceError
from debinet.inference import covariance as covariances
from debinet.inference.k_class import project
from debinet.inference.regression import LargestRow, ResidualRegression
from debinet.protocols import BoolArray, FloatArray, IntArray

# HC2 is unbiased under equal variances for least squares only.
KINDS = ("HC1", "HC0", "HC3", "iid", "cluster")


@dataclass(frozen=True)
class InstrumentedRegression:
    """Coefficients of `R_y = R_D coef + e`, where `R_W' e` is zero in expectation.

    Implements `Regression`. Residuals are always those of `R_D` itself, never of its projection.

    Attributes
    ----------
    R_y : FloatArray of shape (n,)
        Outcome less its conditional mean.
    R_D : FloatArray of shape (n, q)
        Treatments less theirs.
    R_W : FloatArray of shape (n, k)
        Excluded instruments less theirs.
    endogenous : BoolArray of shape (q,)
        The other treatments are instruments, too.
    coef : FloatArray of shape (q,)
    kappa : float
        Of the k-class; 1 for two-stage least squares.
    weights : FloatArray of shape (n,), optional
    left_out : FloatArray of shape (n, endogenous), optional
        Of jackknife instruments: what the other rows' first stage says of the endogenous
        treatments, which then takes the place of `R_W` in the estimate.
    intercept : bool
        Whether residuals are deviations from the means of all rows, which takes a degree of
        freedom.
    """

    R_y: FloatArray
    R_D: FloatArray
    R_W: FloatArray
    endogenous: BoolArray
    coef: FloatArray
    kappa: float = 1.0
    weights: FloatArray | None = None
    left_out: FloatArray | None = None
    intercept: bool = False

    # What linear estimates have, and these have not.
    noise_df = None
    influence = None

    def __post_init__(self) -> None:
        freeze_arrays(
            self,
            R_y="n",
            R_D="n q",
            R_W="n k",
            endogenous="q",
            coef="q",
            weights="n",
            left_out="n e",
        )
        k, needed = self.R_W.shape[1], int(self.endogenous.sum())
        require(self.endogenous.dtype == np.bool_ and 0 < needed <= k, "instruments")
        require(self.R_y.size > self.coef.size + k, "number of rows")
        require(self.weights is None or bool(self.weights.min() >= 0), "negative weight")
        require(self.left_out is None or self.left_out.shape[1] == needed, "left_out")
        require(0 < self.kappa < np.inf, "kappa")

    @cached_property
    def w(self) -> FloatArray:
        """Weights, ones if there are none, of shape (n,)."""
        return np.ones(self.R_y.size) if self.weights is None else self.weights

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
        return np.asarray(self.R_y - self.R_D @ self.coef)

    @property
    def instruments(self) -> FloatArray:
        """Exogenous treatments and what the estimate takes as instruments for the others."""
        excluded = self.R_W if self.left_out is None else self.left_out
        return np.hstack([self.R_D[:, ~self.endogenous], excluded])

    @cached_property
    def fitted(self) -> FloatArray:
        """`R_D` as the instruments predict it in the (weighted) first stage, of shape (n, q)."""
        root = np.sqrt(self.w)[:, None]
        A = self.instruments
        stage = np.linalg.lstsq(root * A, root * self.R_D, rcond=None)[0]
        return np.asarray(A @ stage)

    @property
    def scores(self) -> FloatArray:
        """`psi_i = w_i fitted_i e_i`, of shape (n, q)."""
        return (self.w * self.residuals)[:, None] * self.fitted

    @cached_property
    def bread(self) -> FloatArray:
        """`((1 - kappa) R_D'WR_D + kappa R_D'WPR_D)^-1`, of shape (q, q)."""
        root = np.sqrt(self.w)[:, None]
        D, fitted = root * self.R_D, root * self.fitted
        gram = (1 - self.kappa) * D.T @ D + self.kappa * fitted.T @ fitted
        return np.asarray(np.linalg.inv(gram))

    @property
    def contributions(self) -> FloatArray:
        """What the residual of every row adds to the coefficients, of shape (n, q)."""
        return np.asarray(self.scores @ self.bread)

    @property
    def leverage(self) -> FloatArray:
        """Weight of every row in its own fit, given the first stage, of shape (n,)."""
        return np.asarray(self.w * ((self.fitted @ self.bread) * self.R_D).sum(axis=1))

    def covariance(self, kind: str, groups: IntArray | None) -> FloatArray:
        """Return the covariance named `kind`, of shape (q, q)."""
        one_of("vcov", kind, KINDS, "With instruments use 'HC1' if in doubt.")
        if kind == "iid":
            sigma2 = (self.w * self.residuals**2).sum() / self.rest
            return np.asarray(sigma2 * self.bread)
        if kind != "cluster":
            return covariances.SANDWICHES[kind](self)
        if groups is None:
            raise CovarianceError(
                "groups for a cluster covariance",
                "none, neither in fit nor here",
                "Pass groups=... to fit or to with_vcov.",
            )
        return covariances.cluster(self, groups)

    def degrees_of_freedom(self, kind: str, groups: IntArray | None) -> float:
        """Return groups - 1 (the fewer, if two-way) for clusters, otherwise `rest`."""
        if kind == "cluster" and groups is not None:
            return float(min(np.unique(codes[self.w > 0]).size for codes in groups.T) - 1)
        return float(self.rest)

    def largest_row(self) -> LargestRow:
        """Return the row on which a single coefficient depends most."""
        return self.all_rows("leverage").largest_row()

    def all_rows(self, purpose: str) -> ResidualRegression:  # noqa: ARG002 - it has all rows
        """Return the second stage: what the first stage fitted, as instruments for `R_D`."""
        return ResidualRegression(
            self.residuals + self.fitted @ self.coef,
            self.fitted,
            self.coef,
            self.weights,
            regressors=self.R_D,
            intercept=self.intercept,
        )


def solved_rows(fit: InstrumentedRegression) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return `R_y`, `R_D` and `R_W`, rows of weight zero left out, others times their roots."""
    used = fit.w > 0
    root = np.sqrt(fit.w[used])
    return root * fit.R_y[used], root[:, None] * fit.R_D[used], root[:, None] * fit.R_W[used]


def without_exogenous(fit: InstrumentedRegression) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the same of endogenous treatments only, with the others partialled out of all."""
    y, D, W = solved_rows(fit)
    exogenous, inside = D[:, ~fit.endogenous], D[:, fit.endogenous]
    both = np.column_stack([y, inside, W])
    both = both - project(exogenous, both)
    q = inside.shape[1]
    return both[:, 0], both[:, 1 : 1 + q], both[:, 1 + q :]
