"""Least squares of residuals on residuals: the step that every method ends with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from debinet.data.checks import dependent_columns
from debinet.exceptions import CollinearError
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class ResidualRegression:
    """A solved regression of `R_y` on `R_D`, with all that any covariance needs.

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
        If the whole procedure is linear in y given its tuning parameters, `coef = influence' y`.
    least_squares : bool
        Whether `coef` is the least squares solution (or an average of such), so that sandwich
        covariances of the regression are its covariances.
    noise : float, optional
        Standard deviation of the noise, where it was estimated otherwise than from `residuals`.
    noise_df : float, optional
        Degrees of freedom of intervals that rest on it; None if they rest on `residuals`.
    D_noise : FloatArray of shape (q,), optional
        Variances of the treatments given Z, where the learner estimates them.
    error : FloatArray of shape (q, q), optional
        Covariance of the errors in `R_D` that `coef` is corrected for.
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
    error: FloatArray | None = None

    def __post_init__(self) -> None:
        # Contiguous, so that a result computes the same bits after it was saved and loaded; own
        # copies that cannot be written to, so that it stays what it was.
        for name in ("R_y", "R_D", "coef", "weights", "influence", "D_noise", "error"):
            value = getattr(self, name)
            if value is not None:
                own = np.array(value, dtype=np.float64, order="C")
                own.flags.writeable = False
                object.__setattr__(self, name, own)

    @cached_property
    def w(self) -> FloatArray:
        """Weights, ones if there are none, of shape (n,)."""
        return np.ones(self.R_y.size) if self.weights is None else self.weights

    @property
    def has_own_noise(self) -> bool:
        """Whether intervals rest on a noise level that was not estimated from `residuals`."""
        return self.noise_df is not None

    @property
    def rows(self) -> int:
        """Number of rows, those of no weight included."""
        return int(self.R_y.size)

    @property
    def n(self) -> int:
        """Number of rows that count: those of positive weight."""
        return int(np.count_nonzero(self.w))

    @property
    def residuals(self) -> FloatArray:
        """`e = R_y - R_D coef`, of shape (n,)."""
        return self.R_y - self.R_D @ self.coef

    @property
    def scores(self) -> FloatArray:
        """`psi_i = w_i (R_D_i e_i + error coef)`, (n, q): zero on average at a solution."""
        scores = (self.w * self.residuals)[:, None] * self.R_D
        if self.error is None:
            return scores
        return scores + np.multiply.outer(self.w, self.error @ self.coef)

    @cached_property
    def bread(self) -> FloatArray:
        """`(R_D' W R_D - sum(w) error)^-1`, of shape (q, q)."""
        gram: FloatArray = self.R_D.T @ (self.w[:, None] * self.R_D)
        if self.error is not None:
            gram = gram - self.w.sum() * self.error
        return np.asarray(np.linalg.inv(gram), dtype=np.float64)

    @property
    def leverage(self) -> FloatArray:
        """Diagonal of the hat matrix of the weighted regression, of shape (n,)."""
        return np.asarray(self.w * ((self.R_D @ self.bread) * self.R_D).sum(axis=1))


def regress(R_y: FloatArray, R_D: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the coefficients of the (weighted) regression of `R_y` on `R_D`, without intercept."""
    root = None if weights is None else np.sqrt(weights)
    left = R_D if root is None else root[:, None] * R_D
    right = R_y if root is None else root * R_y
    # Columns of unit length, so that treatments on very different scales are solved equally well.
    lengths = np.linalg.norm(left, axis=0)
    if not lengths.all():
        raise CollinearError(
            "treatments that vary beside the nuisance features, in every fold for method='dml1'",
            "residuals of a treatment that are all zero",
            "Use fewer folds, method='dml2', or drop the treatment.",
        )
    solution: FloatArray = np.linalg.lstsq(left / lengths, right, rcond=None)[0]
    return np.asarray(solution / lengths)


def require_identified(
    R_D: FloatArray, D: FloatArray, names: Sequence[str], weights: FloatArray | None = None
) -> None:
    """Require that something is left of every treatment, on the scale of the treatment itself."""
    rows = 1.0 if weights is None else np.sqrt(weights / weights.mean())[:, None]
    dependent = dependent_columns(rows * R_D / D.std(axis=0))
    if dependent:
        listed = ", ".join(repr(names[j]) for j in dependent[:5])
        raise CollinearError(
            "treatments that vary beside the nuisance features and each other",
            f"nothing left of {listed} once the learner's predictions from Z are taken out",
            "Drop those treatments, or the nuisance features that determine them; if residuals are "
            "in-sample (crossfit=None) and the learner fits every row, use crossfit='auto'.",
        )
