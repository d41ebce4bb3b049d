"""An effect that is a random function of the controls: `R_y = R_D b + R_Dj phi(Z) c + e`.

With `c ~ N(0, v I)` the effect of treatment j is a Gaussian process with kernel `v phi phi'`. The
variance v maximizes the restricted likelihood; it is 0 if nothing suggests that effects vary.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from debinet.data.arrays import freeze_arrays
from debinet.inference.chi2_mixture import mixture_pvalue
from debinet.protocols import FloatArray, IntArray

# Logarithms of noise over signal that are searched, in units of the largest eigenvalue.
_RANGE = (-14.0, 8.0)
# Squared singular values below this share of the largest are rounding.
_LEAST = 1e-8


@dataclass(frozen=True)
class EffectSurface:
    """The effect in every row, by the posterior without that row.

    Attributes
    ----------
    mean : FloatArray of shape (n,)
        Left-out posterior means.
    se : FloatArray of shape (n,)
        Left-out posterior standard deviations.
    variance : float
        Variance of the effect over rows under the prior; 0 if effects do not vary.
    noise : float
        Variance of the noise in a row of weight one.
    """

    mean: FloatArray
    se: FloatArray
    variance: float
    noise: float

    def __post_init__(self) -> None:
        freeze_arrays(self, mean="n", se="n")


def fit_surface(
    R_y: FloatArray, R_D: FloatArray, j: int, phi: FloatArray, w: FloatArray
) -> EffectSurface:
    """Fit the surface of treatment j.

    Parameters
    ----------
    R_y : FloatArray of shape (n,)
    R_D : FloatArray of shape (n, q)
    j : int
    phi : FloatArray of shape (n, r)
        Features of the controls, centred.
    w : FloatArray of shape (n,)
        Weights.
    """
    root = np.sqrt(w)[:, None]
    y, fixed, random = root[:, 0] * R_y, root * R_D, root * R_D[:, [j]] * phi
    Q = np.linalg.qr(fixed)[0]
    left = random - Q @ (Q.T @ random)
    rest = y - Q @ (Q.T @ y)
    U, s, Vt = np.linalg.svd(left, full_matrices=False)
    kept = s**2 > _LEAST * s[0] ** 2
    ratio, noise = _restricted_likelihood(
        s[kept] ** 2, U[:, kept].T @ rest, float(rest @ rest), int((w > 0).sum()) - fixed.shape[1]
    )
    columns = np.hstack([fixed, random @ Vt[kept].T])
    own = np.zeros((len(y), columns.shape[1]))
    own[:, j] = 1.0
    own[:, fixed.shape[1] :] = phi @ Vt[kept].T
    penalty = np.zeros(columns.shape[1])
    penalty[fixed.shape[1] :] = ratio
    if not np.isfinite(ratio):
        columns, own, penalty = fixed, own[:, : fixed.shape[1]], penalty[: fixed.shape[1]]
    size = float((w @ (phi**2).sum(axis=1)) / w.sum())
    variance = noise / ratio * size if np.isfinite(ratio) else 0.0
    return _left_out(y, columns, own, penalty, noise=noise, variance=variance)


def _left_out(
    y: FloatArray,
    columns: FloatArray,
    own: FloatArray,
    penalty: FloatArray,
    *,
    noise: float,
    variance: float,
) -> EffectSurface:
    """Return posteriors without each row: a fit of rank one less, in closed form."""
    G = np.linalg.inv(columns.T @ columns + np.diag(penalty))
    coef = G @ (columns.T @ y)
    e = y - columns @ coef
    pull = columns @ G
    free = np.maximum(1.0 - (pull * columns).sum(axis=1), 1e-10)
    shared = (own * pull).sum(axis=1)
    mean = own @ coef - shared * e / free
    spread = ((own @ G) * own).sum(axis=1) + shared**2 / free
    return EffectSurface(mean, np.sqrt(noise * spread), variance, noise)


def _restricted_likelihood(
    s2: FloatArray, t: FloatArray, total: float, df: int
) -> tuple[float, float]:
    """Return noise over signal, infinite if there is no signal, and the noise variance."""

    def noise_at(ratio: float) -> float:
        return (total - float((t**2 * s2 / (s2 + ratio)).sum())) / df

    def criterion(log_ratio: float) -> float:
        ratio = np.exp(log_ratio) * s2[0]
        return float(np.log1p(s2 / ratio).sum() + df * np.log(noise_at(ratio)))

    grid = np.linspace(*_RANGE, 45)
    values = [criterion(x) for x in grid]
    k = int(np.argmin(values))
    if k == len(grid) - 1:
        return np.inf, total / df
    found = minimize_scalar(criterion, bounds=(grid[max(k - 1, 0)], grid[k + 1]), method="bounded")
    if found.fun >= df * np.log(total / df):
        return np.inf, total / df
    ratio = float(np.exp(found.x) * s2[0])
    return ratio, noise_at(ratio)


def score_test(
    e: FloatArray,
    R_D: FloatArray,
    j: int,
    phi: FloatArray,
    w: FloatArray,
    *,
    groups: IntArray | None = None,
) -> float:
    """Return the p-value of the score test that the effect of treatment j is the same for all.

    `Q = e' ((R_Dj R_Dj') o K) e` with the residuals of a constant effect. Given R_D and Z it is a
    weighted sum of chi-squared variables whose weights are the eigenvalues of the covariance of
    `phi' (R_Dj e)`, which allows for unequal variances, and for dependence within clusters.
    """
    root = np.sqrt(w)[:, None]
    Q = np.linalg.qr(root * R_D)[0]
    left = root * R_D[:, [j]] * phi
    left -= Q @ (Q.T @ left)
    # Residuals of leave-one-out regressions: plain ones are too small where leverage is large.
    residual = root[:, 0] * e
    scores = left * residual[:, None]
    loo = left * (residual / (1.0 - (Q**2).sum(axis=1)))[:, None]
    if groups is not None:
        codes = np.unique(groups[:, 0], return_inverse=True)[1]
        sums = np.zeros((int(codes.max()) + 1, loo.shape[1]))
        np.add.at(sums, codes, loo)
        loo = sums
    total = scores.sum(axis=0)
    weights = np.linalg.svd(loo, compute_uv=False) ** 2
    return mixture_pvalue(float(total @ total), weights)
