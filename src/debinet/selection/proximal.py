"""Accelerated proximal gradient steps on a small quadratic problem."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgWarning
from scipy.sparse.linalg import eigsh

from debinet.protocols import FloatArray
from debinet.selection.duality import duality_gap
from debinet.selection.regularizer import Norm

MAX_STEPS = 20_000
# A gap costs as much as a step.
STEPS_BETWEEN_GAPS = 10
STEPS_BETWEEN_NEWTON = 30
# Larger systems cost more than the steps they save.
NEWTON_SIZE = 200
DENSE_EIGENVALUES = 100


@dataclass(frozen=True)
class Quadratic:
    """`t'G t / 2 - c't + square / 2 + penalty P(t)`, least squares in terms of inner products.

    Attributes
    ----------
    G : FloatArray of shape (k, k)
        `X'X / n`.
    c : FloatArray of shape (k,)
        `X'y / n`.
    square : float
        `|y|^2 / n`.
    """

    G: FloatArray
    c: FloatArray
    square: float

    def objective(self, coef: FloatArray, norm: Norm, penalty: float) -> float:
        """Return the objective, without the half of `square`."""
        return float(coef @ (self.G @ coef / 2 - self.c)) + penalty * norm.value(coef)

    def gap(self, coef: FloatArray, norm: Norm, penalty: float) -> float:
        """Return the duality gap."""
        z = self.c - self.G @ coef
        explained, left = float(self.c @ coef), float(z @ coef)
        # |r|^2 = |y|^2 - y'Xt - r'Xt
        aligned, penalized = self.square - explained, penalty * norm.value(coef)
        return duality_gap(aligned - left, aligned, penalized, norm.dual(z), penalty)


def minimize(
    quadratic: Quadratic, norm: Norm, penalty: float, start: FloatArray, gap: float
) -> FloatArray:
    """Minimize until the duality gap is at most `gap`, or give up after MAX_STEPS.

    Nesterov's acceleration, restarted whenever the momentum points uphill (O'Donoghue and Candes
    2015), which gives a linear rate without knowing the smallest eigenvalue. Every so often a
    Newton step that keeps the sparsity pattern is tried: nearly collinear columns need it.
    """
    step = 1 / _largest_eigenvalue(quadratic.G)
    coef = ahead = start
    speed = 1.0
    for count in range(1, MAX_STEPS + 1):
        gradient = quadratic.G @ ahead - quadratic.c
        new = norm.prox(ahead - step * gradient, step * penalty)
        if (ahead - new) @ (new - coef) > 0:
            speed = 1.0
        faster = (1 + np.sqrt(1 + 4 * speed**2)) / 2
        ahead = new + (speed - 1) / faster * (new - coef)
        coef, speed = new, faster
        if count % STEPS_BETWEEN_GAPS == 0:
            if quadratic.gap(coef, norm, penalty) <= gap:
                break
            if count % STEPS_BETWEEN_NEWTON == 0:
                better = _newton(quadratic, norm, penalty, coef)
                if better is not None:
                    coef = ahead = better
                    speed = 1.0
    return coef


def _newton(
    quadratic: Quadratic, norm: Norm, penalty: float, coef: FloatArray
) -> FloatArray | None:
    """Return the result of a Newton step if it lowers the objective and is cheap, else None."""
    if not 0 < np.count_nonzero(coef) <= NEWTON_SIZE:
        return None
    z = quadratic.c - quadratic.G @ coef
    try:
        with warnings.catch_warnings():
            # a nearly singular step is kept only if it lowers the objective
            warnings.simplefilter("ignore", LinAlgWarning)
            new = norm.newton(coef, quadratic.G, z, penalty)
    except np.linalg.LinAlgError:
        return None
    lower = quadratic.objective(new, norm, penalty) < quadratic.objective(coef, norm, penalty)
    return new if lower else None


def _largest_eigenvalue(G: FloatArray) -> float:
    if G.shape[0] <= DENSE_EIGENVALUES:
        return float(np.linalg.eigvalsh(G)[-1])
    # Lanczos approaches from below; the margin keeps the step safe. A fixed start: no randomness.
    found = eigsh(G, k=1, tol=1e-2, v0=np.ones(G.shape[0]), return_eigenvectors=False)
    return 1.03 * float(found[0])
