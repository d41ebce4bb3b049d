"""Logistic regression on given features with a penalty chosen by its Laplace likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize_scalar
from scipy.special import expit

from debinet.protocols import FloatArray

# Steps of Newton's method, and the change of its criterion at which it stops.
_STEPS, _CLOSE = 50, 1e-9
# Standard deviations that coefficients may have a priori, in units of the features' total one.
_LOG_SCALES = (-4.0, 9.0)
_ACCURACY = 0.05
# Linear predictors are kept in this range, so that weights do not vanish.
_MOST = 30.0


@dataclass(frozen=True)
class LogisticFit:
    """A penalized logistic regression at one penalty.

    Attributes
    ----------
    coef : FloatArray of shape (r,)
    intercept : float
    heldout : FloatArray of shape (n,)
        Linear predictors of each row by a fit without it, from the last quadratic approximation.
    criterion : float
        Minus the logarithm of the Laplace likelihood; less is better.
    """

    coef: FloatArray
    intercept: float
    heldout: FloatArray
    criterion: float


def fit_logistic(X: FloatArray, a: FloatArray, w: FloatArray) -> LogisticFit:
    """Fit coefficients that are normal a priori; their variance maximizes the Laplace likelihood.

    Parameters
    ----------
    X : FloatArray of shape (n, r)
        Features, centred.
    a : FloatArray of shape (n,)
        Zeros and ones, of both of which some have positive weight.
    w : FloatArray of shape (n,)
        Weights.
    """
    unit = float(w @ (X**2).sum(axis=1)) / w.sum()
    mean = float(np.clip(w @ a / w.sum(), 1e-6, 1 - 1e-6))
    start = np.append(np.zeros(X.shape[1]), np.log(mean / (1 - mean)))
    columns = np.column_stack([X, np.ones(len(X))])
    if unit == 0.0:
        return _solve(columns, a, w, 1.0, start)

    def criterion(log_scale: float) -> float:
        return _solve(columns, a, w, np.exp(log_scale) / unit, start).criterion

    best = minimize_scalar(
        criterion, bounds=_LOG_SCALES, method="bounded", options={"xatol": _ACCURACY}
    )
    return _solve(columns, a, w, float(np.exp(best.x)) / unit, start)


def _solve(
    columns: FloatArray, a: FloatArray, w: FloatArray, variance: float, start: FloatArray
) -> LogisticFit:
    """Minimize by Newton's method, halving steps that do not improve."""
    ridge = np.append(np.full(columns.shape[1] - 1, 1.0 / variance), 0.0)
    coef, value = start, _penalized(columns, a, w, ridge, start)
    for _ in range(_STEPS):
        eta = np.clip(columns @ coef, -_MOST, _MOST)
        p = expit(eta)
        gradient = columns.T @ (w * (p - a)) + ridge * coef
        step = cho_solve(_hessian(columns, w * p * (1 - p), ridge), gradient)
        size = 1.0
        while (new := _penalized(columns, a, w, ridge, coef - size * step)) > value and size > 1e-8:
            size /= 2
        if new > value:
            break
        coef, gained, value = coef - size * step, value - new, new
        if gained < _CLOSE * (1.0 + abs(value)):
            break
    return _finish(columns, a, w, ridge, coef)


def _finish(
    columns: FloatArray, a: FloatArray, w: FloatArray, ridge: FloatArray, coef: FloatArray
) -> LogisticFit:
    eta = np.clip(columns @ coef, -_MOST, _MOST)
    p = expit(eta)
    v = w * p * (1 - p)
    factor = _hessian(columns, v, ridge)
    # Row i has the influence h on its own predictor: without it the quadratic is solved at
    # eta - h w (a - p) / (1 - h v).
    h = np.einsum("ij,ji->i", columns, cho_solve(factor, columns.T))
    heldout = eta - h * w * (a - p) / np.maximum(1.0 - h * v, 1e-6)
    penalized = ridge[:-1]
    determinant = 2 * np.log(np.diag(factor[0])).sum() - np.log(penalized).sum()
    value = _penalized(columns, a, w, ridge, coef) + 0.5 * determinant
    return LogisticFit(coef[:-1], float(coef[-1]), heldout, float(value))


def _penalized(
    columns: FloatArray, a: FloatArray, w: FloatArray, ridge: FloatArray, coef: FloatArray
) -> float:
    eta = columns @ coef
    return float(w @ (np.logaddexp(0.0, eta) - a * eta) + 0.5 * ridge @ coef**2)


def _hessian(columns: FloatArray, v: FloatArray, ridge: FloatArray) -> tuple[FloatArray, bool]:
    hessian = columns.T @ (v[:, None] * columns)
    diagonal = np.einsum("ii->i", hessian)
    diagonal += ridge + 1e-10 * diagonal.max()
    factor, lower = cho_factor(hessian, lower=True)
    return np.asarray(factor), bool(lower)
