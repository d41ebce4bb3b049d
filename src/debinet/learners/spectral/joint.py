"""The joint model: f and E(D|Z) may be related, as they are if both depend on confounders.

Let f and `m = E(D|Z)` have a joint Gaussian prior with the kernel K, `f = m rho + f_perp`. Given D,
m has the mean `S_D D`, the smooth of each treatment at its own penalty, and the covariance
`s_D^2 S_D`, s_D the noise of the treatment. So

    y = D coef + S_D D rho + u + f_perp + e,   rho ~ N(0, tau I),   f_perp ~ N(0, s^2 t K),

with `u = (m - S_D D) rho ~ N(0, sum_j rho_j^2 s_D^2 S_D)`, at the estimated rho. In the coordinates
of a spectrum the contrasts of y have covariance `s^2 (diag(1 / r) + tau H H')`,
`1 / r = 1 + w t + var(u) / s^2` and `H = S_D T_D`, so every value of the restricted likelihood
costs O(k q^2). The ratio of tau to `tau_0 = t sum(w) / sum(H^2)`, at which both parts of f have the
same size, has the prior density `1 / (1 + ratio)^2`: without it, treatments that are nearly
functions of Z cannot be told from their smooths. A ratio of 0 is the mixed model of `mixed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from debinet.learners.spectral.mixed import Contrasts, MixedFit, make_contrasts, scaled_time
from debinet.learners.spectral.spectrum import RIDGE, Projected, Spectrum
from debinet.learners.spectral.tuning import reml, time_grid, tune
from debinet.protocols import FloatArray

# Ratios tau / tau_0 that are tried first.
_RATIOS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0)
# Newton's method in the logarithms of t and of the ratio, by differences of this size.
_STEP, _NEWTON_STEPS, _ENOUGH = 0.02, 25, 1e-7
_SHORT, _LONGEST = 1e-3, 1.0
_RATIO_BOUND = 14.0
# How often the variance of u is estimated, at the rho of the fit before.
_ROUNDS = 2
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class _Point:
    """The joint model at given parameters, in the coordinates of a spectrum.

    Attributes
    ----------
    value : float
        Twice the negative restricted log-likelihood and log prior, up to a constant.
    gram, moment : FloatArray of shapes (q, q), (q,)
        `D' P D` and `D' P y` with P the inverse covariance in units of s^2.
    inner : FloatArray of shape (q, q)
        `(I / tau + H' R H)^-1`.
    HRD, HRy : FloatArray of shapes (q, q), (q,)
        `H' R D` and `H' R y`.
    rss : float
    """

    value: float
    gram: FloatArray
    moment: FloatArray
    inner: FloatArray
    HRD: FloatArray
    HRy: FloatArray
    rss: float

    @property
    def rho(self) -> FloatArray:
        """Coefficients (q,) of the smooths, as expected of y."""
        left = self.HRy - self.HRD @ np.linalg.solve(self.gram, self.moment)
        return np.asarray(self.inner @ left)


@dataclass(frozen=True)
class JointContrasts:
    """Outcome, treatments and their smooths.

    Attributes
    ----------
    plain : Contrasts
        Of k directions and q treatments.
    share : FloatArray of shape (k, q)
        What the smooth of each treatment keeps of every direction.
    noise : FloatArray of shape (q,)
        Variances of the treatments' noise.
    unknown : FloatArray of shape (k,)
        Variances of u, in units of s^2.
    """

    plain: Contrasts
    share: FloatArray
    noise: FloatArray
    unknown: FloatArray

    @property
    def H(self) -> FloatArray:
        """Smooths of the treatments (k, q)."""
        return self.share * self.plain.D

    def tau(self, time: float, ratio: float) -> float:
        """Return the variance of rho at a ratio."""
        return float(ratio * time * self.plain.w.sum() / max((self.H**2).sum(), _TINY))

    def left(self, time: float) -> FloatArray:
        """Return r (k,)."""
        return np.asarray(1.0 / (1.0 + self.plain.w * time + self.unknown))

    def at(self, time: float, ratio: float) -> _Point:
        """Evaluate the model."""
        plain, q = self.plain, self.share.shape[1]
        r = self.left(time)
        root = np.sqrt(r)[:, None]
        columns = root * np.column_stack([plain.D, self.H, plain.y])
        products = columns.T @ columns
        DD, DH, HH = products[:q, :q], products[:q, q:-1], products[q:-1, q:-1]
        tau = self.tau(time, ratio)
        capacity = np.eye(q) + tau * HH
        inner = tau * np.linalg.inv(capacity)
        gram = DD - DH @ inner @ DH.T
        Hy = products[q:-1, -1]
        moment = products[:q, -1] - DH @ (inner @ Hy)
        yy = float(products[-1, -1] - Hy @ inner @ Hy)
        rss = yy - float(moment @ np.linalg.solve(gram, moment))
        logarithms = np.linalg.slogdet(capacity)[1] + np.linalg.slogdet(gram)[1] - np.log(r).sum()
        value = plain.count * np.log(max(rss, _TINY)) + logarithms + 2 * np.log1p(ratio)
        return _Point(float(value), gram, moment, inner, DH.T, Hy, rss)

    def informed(self, point: _Point) -> JointContrasts:
        """Return the same with the variance of u at the rho of a point."""
        s2 = max(point.rss, _TINY) / self.plain.count
        return replace(self, unknown=self.share @ (point.rho**2 * self.noise) / s2)

    def best(self) -> tuple[JointContrasts, float, float, _Point]:
        """Return the contrasts with the variance of u; time, ratio and point of the least value."""
        time, value = self.plain.best_time()
        if time <= 0.0 or not (self.H**2).sum() > 0.0:
            return self, time, 0.0, self.at(time, 0.0)
        tried = [(self.at(time, ratio).value, ratio) for ratio in _RATIOS]
        _, ratio = min(tried)
        grid = time_grid(self.plain.w)[1:]
        low = np.array([np.log(grid[0]), -_RATIO_BOUND])
        high = np.array([np.log(grid[-1]), _RATIO_BOUND])
        x, contrasts = _newton(self, np.log([time, ratio]), low, high), self
        for _ in range(_ROUNDS):
            contrasts = contrasts.informed(contrasts.at(*np.exp(x)))
            x = _newton(contrasts, x, low, high)
        time_, ratio_ = (float(one) for one in np.exp(x))
        point = contrasts.at(time_, ratio_)
        if point.value < value:
            return contrasts, time_, ratio_, point
        return self, time, 0.0, self.at(time, 0.0)


def _newton(
    contrasts: JointContrasts, x: FloatArray, low: FloatArray, high: FloatArray
) -> FloatArray:
    """Minimize over the logarithms of time and ratio; the end does not depend on rounding."""

    def value(x: FloatArray) -> float:
        return contrasts.at(*np.exp(x)).value

    here, eye = value(x), _STEP * np.eye(2)
    for _ in range(_NEWTON_STEPS):
        up, down = [value(x + e) for e in eye], [value(x - e) for e in eye]
        both = value(x + eye.sum(axis=0))
        gradient = np.array([(a - b) / (2 * _STEP) for a, b in zip(up, down, strict=True)])
        hessian = np.diag([(a - 2 * here + b) / _STEP**2 for a, b in zip(up, down, strict=True)])
        hessian[0, 1] = hessian[1, 0] = (both - up[0] - up[1] + here) / _STEP**2
        values, axes = np.linalg.eigh(hessian)
        step = -axes @ ((axes.T @ gradient) / np.maximum(np.abs(values), 1e-3))
        step *= min(1.0, _LONGEST / max(float(np.abs(step).max()), _TINY))
        for _ in range(12):
            new = np.clip(x + step, low, high)
            there = value(new)
            # of a short step the direction is known, but the change in value may be rounding
            if there <= here or float(np.abs(step).max()) < _SHORT:
                break
            step /= 4
        else:
            return x
        done = float(np.abs(new - x).max()) < _ENOUGH
        x, here = new, there
        if done:
            break
    return x


@dataclass(frozen=True)
class JointChoice:
    """Spectrum and parameters of a joint model.

    Attributes
    ----------
    spectrum : Spectrum
    contrasts : JointContrasts
        Of the columns whose coefficients are estimated.
    time, ratio : float
    """

    spectrum: Spectrum
    contrasts: JointContrasts
    time: float
    ratio: float

    def solve(self, X: FloatArray, factor: float = 1.0) -> MixedFit:
        """Estimate for columns X, with the penalty of f times a factor.

        The penalties of the smooths are not multiplied: with smaller ones they would be close to
        the treatments themselves.
        """
        spectrum, contrasts = self.spectrum, self.contrasts
        time = scaled_time(self.time, contrasts.plain.w, factor)
        point, k = contrasts.at(time, self.ratio), spectrum.w.size
        left, share, D = contrasts.left(time)[:k, None], contrasts.share[:k], X[..., 1:]
        weighted = spectrum.residual(D, left)
        smooth = weighted - spectrum.residual(D, left * (1.0 - share))
        inverse = np.asarray(np.linalg.inv(point.gram), np.float64)
        rows = (weighted - smooth @ (point.inner @ point.HRD)) @ inverse
        noise = float(np.sqrt(max(point.rss, 0.0) / contrasts.plain.count))
        return MixedFit(inverse @ point.moment, rows, noise, inverse, self)


def make_joint(spectrum: Spectrum, part: Projected) -> JointContrasts:
    """Smooth the treatments, each at its own penalty, and return what the model needs."""
    treatments = Projected(
        part.w, part.T[:, 1:], part.rest[:, 1:], part.directions, part.unpenalized
    )
    tuned = tune(reml(spectrum, treatments, RIDGE), time_grid(part.w))
    left = RIDGE.residual(np.multiply.outer(part.w, tuned.time))
    noise = treatments.energy(left.T[None])[0] / part.directions
    idle = np.zeros((len(part.rest), left.shape[1]))
    share = np.vstack([1.0 - left, idle])
    return JointContrasts(make_contrasts(part), share, noise, np.zeros(len(share)))


def fit_joint(
    spectra: Sequence[Spectrum],
    X: FloatArray,
    factor: float = 1.0,
    judged: FloatArray | None = None,
) -> MixedFit:
    """Estimate the joint model under the spectrum and parameters of greatest likelihood.

    Parameters
    ----------
    spectra : sequence of Spectrum
    X : columns, 1 + q of them
        Standardized and weighted, y first, then D.
    factor : float
        By which the penalty of f is then multiplied.
    judged : columns, 1 + q of them, optional
        By which spectrum and parameters are chosen, if not by X.
    """
    fits = []
    for spectrum in spectra:
        made = make_joint(spectrum, spectrum.project(X if judged is None else judged))
        fits.append((*made.best(), spectrum))
    contrasts, time, ratio, _, spectrum = min(fits, key=lambda fit: fit[3].value)
    if judged is not None:
        contrasts = replace(contrasts, plain=make_contrasts(spectrum.project(X)))
    return JointChoice(spectrum, contrasts, time, ratio).solve(X, factor)
