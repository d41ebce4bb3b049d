"""Plug-in penalties: just above what noise alone would reach.

A penalty above the dual norm of `X'e / n` keeps every column out that is not needed. The levels are
its quantile for Gaussian noise of standard deviation 1, times the slack that Belloni, Chen,
Chernozhukov and Hansen (2012, Econometrica 80) recommend. Noise and selection are estimated in
turns: the noise from the residuals of least squares on the selected columns.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2, norm

from debinet.protocols import BoolArray, FloatArray
from debinet.selection.groups import Groups
from debinet.selection.regularizer import Regularizer

SLACK = 1.1
ROUNDS = 15
# Relative change of the noise at which the iteration stops; it is known to a few percent at best.
SAME_NOISE = 1e-3


def plugin_penalty(
    regularizer: Regularizer, X: FloatArray, y: FloatArray, tol: float
) -> tuple[float, float]:
    """Return the penalty and the estimated standard deviation of the noise.

    Selection and noise are estimated in turns, starting from the standard deviation of y.
    """
    solver, level = regularizer.on(X, y), regularizer.level(X)
    noise = float(y.std(ddof=1))
    for _ in range(ROUNDS):
        solution = solver.solve(np.array([(level * noise) ** regularizer.degree]), tol)
        refitted = refitted_noise(X, y, solution.coefs[0] != 0)
        if refitted is None or abs(refitted - noise) <= SAME_NOISE * noise:
            break
        noise = refitted
    return (level * noise) ** regularizer.degree, noise


def refitted_noise(X: FloatArray, y: FloatArray, support: BoolArray) -> float | None:
    """Return the residual standard deviation of least squares on the support, None if it is 0."""
    n, k = y.size, int(support.sum())
    spare = n - k - 1
    if spare < 1:
        return None
    chosen = X[:, support]
    residual = y - chosen @ np.linalg.lstsq(chosen, y)[0] if k else y
    noise = float(np.sqrt(residual @ residual / spare))
    # a perfect fit leaves rounding errors, not noise
    return noise if noise > 1e-10 * float(y.std()) else None


def gaussian_level(X: FloatArray) -> float:
    """Return `1.1 Phi^-1(1 - g / (2 p)) / sqrt(n)` with `g = 0.1 / log(max(n, p))`.

    Times the largest standard deviation of a column, where columns are not standardized.
    """
    n, p = X.shape
    return float(SLACK * norm.isf(_miss(n, p) / (2 * p)) / np.sqrt(n) * X.std(axis=0).max())


def group_level(X: FloatArray, groups: Groups) -> float:
    """Return the level for groups, `1.1 max_g Q_g / (weight_g sqrt(n))`.

    `Q_g^2` is the `1 - g / m` quantile of `|X_g'e|^2 / n`, a quadratic form in Gaussian variables:
    `a` times a chi-square of `d` degrees, `a = tr(S^2) / tr(S)`, `d = tr(S)^2 / tr(S^2)` with S the
    covariance of the group (Satterthwaite). It is exact for uncorrelated, for equal, and for single
    columns, where it is the level of the Lasso.
    """
    n, p = X.shape
    miss = _miss(n, p) / groups.weights.size
    levels = []
    for code, weight in enumerate(groups.weights):
        chosen = X[:, groups.codes == code]
        covariance = chosen.T @ chosen / n
        trace, square = np.trace(covariance), (covariance * covariance).sum()
        bound = square / trace * chi2.isf(miss, trace**2 / square)
        levels.append(np.sqrt(bound) / weight)
    return float(SLACK * max(levels) / np.sqrt(n))


def _miss(n: int, p: int) -> float:
    return 0.1 / float(np.log(max(n, p)))
