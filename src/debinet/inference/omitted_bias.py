"""How far a confounder that was not measured can move linear combinations of the coefficients.

With `sigma2 = E e^2`, `S = E R_D R_D'` and `nu2 = a'S^-1 a`, the bias of `a'coef` is at most

    strength * sqrt(sigma2 nu2),    strength = |rho| sqrt(cf_y cf_d / (1 - cf_d))

where the confounder explains the share `cf_y` of the variance of e, and the share `cf_d` of what
carries `a'coef` in the treatments. The scale `sqrt(sigma2 nu2)` is an estimate, too. With

    psi_sigma2 = e^2 - sigma2,    psi_nu2 = nu2 - (a'S^-1 R_D)^2

its influence function is `(sigma2 psi_nu2 + nu2 psi_sigma2) / (2 sqrt(sigma2 nu2))`, and that of a
bound is the influence function of the coefficient plus or minus `strength` times this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from debinet.data.arrays import freeze_arrays
from debinet.inference.covariance import covariance_with
from debinet.inference.regression import ResidualRegression
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class OutcomeNoise:
    """The variance of y that treatments and controls do not explain, by two estimates.

    Bounds use the first. Held-out residuals of y and of the treatments both contain what was not
    learned of their means, so that it cancels in `sqrt(sigma2 nu2)`; with the second it would not.

    Attributes
    ----------
    residual : float
        Mean square of the residuals.
    likelihood : float, optional
        By restricted likelihood, where the learner's mixed model has it.
    """

    residual: float
    likelihood: float | None


def noise_level(fit: ResidualRegression) -> OutcomeNoise:
    """Return what is known of the variance of the noise, of rows of average weight."""
    total = float(fit.w.sum())
    residual = float(fit.w @ fit.residuals**2) / total
    # The learner's noise is that of a row of weight one; in the weighted mean all have as much.
    likelihood = None if fit.noise is None else fit.noise**2 * fit.n / total
    return OutcomeNoise(residual, likelihood)


def residual_moments(fit: ResidualRegression) -> FloatArray:
    """Return `S`, the mean of `R_D R_D'`, of shape (q, q)."""
    return np.asarray(fit.R_D.T @ (fit.w[:, None] * fit.R_D) / fit.w.sum())


@dataclass(frozen=True)
class OmittedBias:
    """Estimates of m combinations and the scales of their bias, in r repetitions.

    Attributes
    ----------
    estimate : FloatArray of shape (r, m)
    scale : FloatArray of shape (r, m)
        `sqrt(sigma2 nu2)`: the largest bias at strength 1.
    variance, scale_variance, covariance : FloatArray of shape (r, m)
        Of the estimate, of the scale, and between them.
    """

    estimate: FloatArray
    scale: FloatArray
    variance: FloatArray
    scale_variance: FloatArray
    covariance: FloatArray

    def __post_init__(self) -> None:
        names = ("estimate", "scale", "variance", "scale_variance", "covariance")
        freeze_arrays(self, **dict.fromkeys(names, "r m"))

    def pick(self, j: int) -> OmittedBias:
        """Return those of combination j alone."""
        return OmittedBias(*(value[:, [j]] for value in vars(self).values()))

    def bounds(self, strength: FloatArray, side: float | FloatArray) -> FloatArray:
        """Return the bounds of the estimates at given strengths: the median over repetitions.

        Parameters
        ----------
        strength : FloatArray of shape (g, m) or (g, 1)
        side : -1, 1 or FloatArray of shape (m,)
            -1 for lower bounds, 1 for upper ones.
        """
        return np.asarray(np.median(self._all_bounds(strength, side), axis=1))

    def errors(self, strength: FloatArray, side: float | FloatArray) -> FloatArray:
        """Return the standard errors of these bounds, of the same shape."""
        every = self._all_bounds(strength, side)
        c = strength[:, None, :]
        variance = self.variance + 2 * side * c * self.covariance + c**2 * self.scale_variance
        shift = every - np.median(every, axis=1, keepdims=True)
        return np.asarray(np.sqrt(np.median(np.maximum(variance, 0.0) + shift**2, axis=1)))

    def _all_bounds(self, strength: FloatArray, side: float | FloatArray) -> FloatArray:
        return np.asarray(self.estimate + side * strength[:, None, :] * self.scale)


def omitted_bias(
    fits: Sequence[ResidualRegression], A: FloatArray, kind: str, groups: IntArray | None
) -> OmittedBias:
    """Return the scales of the bias of `A coef`, with their noise.

    Parameters
    ----------
    fits : sequence of ResidualRegression
        One per repetition.
    A : FloatArray of shape (m, q)
    kind : str
        Covariance of the coefficients.
    groups : IntArray of shape (n, ways), optional
    """
    found = [_one_repetition(fit, A, kind, groups) for fit in fits]
    return OmittedBias(*(np.stack(values) for values in zip(*found, strict=True)))


def _one_repetition(
    fit: ResidualRegression, A: FloatArray, kind: str, groups: IntArray | None
) -> tuple[FloatArray, ...]:
    """Return the five rows (m,) of `OmittedBias`."""
    m, share = len(A), fit.w / fit.w.sum()
    solved = np.linalg.solve(residual_moments(fit), A.T)
    nu2 = (A.T * solved).sum(axis=0)
    squares = fit.residuals**2
    sigma2 = float(share @ squares)
    scale = np.sqrt(sigma2 * nu2)
    # psi_scale / scale = psi_sigma2 / (2 sigma2) + psi_nu2 / (2 nu2)
    of_sigma2 = squares / sigma2 - 1 if sigma2 > 0 else np.zeros_like(squares)
    of_nu2 = 1 - (fit.R_D @ solved) ** 2 / nu2
    psi = share[:, None] * scale / 2 * (of_sigma2[:, None] + of_nu2)
    both = covariance_with(fit, kind, groups, psi, A)
    variances = np.diag(both)
    return A @ fit.coef, scale, variances[:m], variances[m:], np.diag(both[:m, m:])
