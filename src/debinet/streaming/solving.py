"""Coefficients and their influence functions from Gram matrices: no data are read here.

All that a row contributes is linear in its augmented row r, with a map for each fold: the residual
of D is `r A`, that of y `r E`, and its influence on the coefficients `sqrt(weight) r Q`. Treatments
are standardized throughout, the outcome has its own units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from debinet.exceptions import CollinearError
from debinet.inference.scores import ROUNDS
from debinet.learners.tangent.solution import Tuning, learned_share
from debinet.learners.wide.contrasts import Contrasts
from debinet.protocols import FloatArray
from debinet.streaming.grams import FoldGrams
from debinet.streaming.spectra import Decomposed, Held, Sums, hold_out, tune_targets

# Less than this share of a treatment's variance is rounding.
_NOTHING_LEFT = 1e-11


@dataclass(frozen=True)
class Joint:
    """Fits of the outcome and all treatments.

    Attributes
    ----------
    tuning : Tuning
        Of the 1 + q targets.
    held : tuple of Held
        One per target.
    maps : FloatArray of shape (K, s, 1 + q)
        From a row of a fold to its residuals, held out.
    gram : FloatArray of shape (q, q)
        `R_D'W R_D` of the held-out residuals of the treatments.
    """

    tuning: Tuning
    held: tuple[Held, ...]
    maps: FloatArray
    gram: FloatArray


@dataclass(frozen=True)
class Solved:
    """Coefficients, and what a row contributes to them.

    Attributes
    ----------
    coef : FloatArray of shape (q,)
        Of standardized treatments.
    A : FloatArray of shape (K, s, q)
        Residuals of the treatments.
    E : FloatArray of shape (K, s)
        Residual of the regression.
    Q : FloatArray of shape (K, s, q), optional
        Influence on the coefficients, where the whole procedure is linear in y.
    gram : FloatArray of shape (q, q)
        `R_D'W R_D`.
    noise : float, optional
        Standard deviation of the noise in the mixed model.
    g : Tuning, optional
        Of `g(Z) = E(y - D pilot | Z)`.
    pilot : FloatArray of shape (q,), optional
    """

    coef: FloatArray
    A: FloatArray
    E: FloatArray
    Q: FloatArray | None
    gram: FloatArray
    noise: float | None = None
    g: Tuning | None = None
    pilot: FloatArray | None = None


def fit_joint(grams: FoldGrams, sums: Sums, criterion: str) -> Joint:
    """Fit all targets, each with its own penalty, and hold every fold out."""
    c = len(sums.MM)
    tuning = tune_targets(sums, np.eye(c), criterion)
    held = tuple(hold_out(sums, tuning, j) for j in range(c))
    maps = np.stack([_residual_map(one, np.eye(c)[:, [j]]) for j, one in enumerate(held)], axis=2)
    A = maps[:, :, 1:, 0]
    return Joint(tuning, held, maps[..., 0], _products(grams, A, A))


def solve_robinson(grams: FoldGrams, joint: Joint, sd_y: float) -> Solved:
    """Regress the residual of y on those of D."""
    A, E, gram = joint.maps[:, :, 1:], sd_y * joint.maps[:, :, 0], joint.gram
    coef = np.asarray(np.linalg.solve(gram, _products(grams, A, E[:, :, None])[:, 0]))
    return Solved(coef, A, E - A @ coef, None, gram)


def solve_structured(
    grams: FoldGrams, sums: Sums, joint: Joint, sd_y: float, criterion: str
) -> Solved:
    """Start from the mixed model, then alternate between g and the coefficients."""
    A, gram = joint.maps[:, :, 1:], joint.gram
    coef, row_map, noise = _mixed_model(sums, sd_y, A.shape[1])
    Q = np.repeat(row_map[None], len(A), axis=0)
    for _ in range(ROUNDS):
        v = np.concatenate([[sd_y], -coef])[:, None]
        tuning = tune_targets(sums, v, criterion)
        held = hold_out(sums, tuning, 0)
        E = _residual_map(held, v)[:, :, 0]
        step = np.linalg.solve(gram, _products(grams, A, E[:, :, None])[:, 0])
        Q = _carry(Q, grams, held, A @ np.linalg.inv(gram))
        pilot, coef = coef, coef + step
        E = E - A @ step
    return Solved(coef, A, E, Q, gram, noise, tuning, pilot)


def require_identified(gram: FloatArray, weight: float, names: Sequence[str]) -> None:
    """Require that something is left of every treatment beside the features and the others."""
    values, vectors = np.linalg.eigh(gram / weight)
    if values[0] > _NOTHING_LEFT:
        return
    worst = np.flatnonzero(np.abs(vectors[:, 0]) > 0.3 / np.sqrt(len(names)))
    raise CollinearError(
        "treatments that vary beside the nuisance features and each other",
        f"nothing left of {', '.join(repr(names[j]) for j in worst[:5])}",
        "Drop those treatments, or the nuisance features that determine them.",
    )


def _residual_map(held: Held, V: FloatArray) -> FloatArray:
    """Return maps (K, s, c) from a row to its residuals of `M V`, held out."""
    return np.concatenate(
        [-held.without(V), np.repeat(V[None], len(held.spectrum.N), axis=0)], axis=1
    )


def _products(grams: FoldGrams, left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the sum over folds of `left' G right`."""
    return np.asarray(sum(a.T @ (G @ b) for a, G, b in zip(left, grams.G, right, strict=True)))


def _mixed_model(sums: Sums, sd_y: float, size: int) -> tuple[FloatArray, FloatArray, float]:
    """Return coefficients, the map (s, q) of their influence, and the noise's deviation."""
    fits = []
    for spectrum in sums.spectra:
        contrasts = _contrasts(sums, spectrum)
        time, value = contrasts.best_time()
        fits.append((value, time, spectrum, contrasts))
    _, time, spectrum, contrasts = min(fits, key=lambda fit: fit[0])
    held = Held(spectrum, learned_share(spectrum.w, np.array([time]))[:, 0])
    T = spectrum.T
    left = sums.MM - T.T @ (held.share[:, None] * T)
    coef = np.asarray(np.linalg.solve(left[1:, 1:], left[1:, 0]) * sd_y, np.float64)
    q = len(coef)
    row_map = np.zeros((size, q))
    row_map[-q:] = np.eye(q)
    row_map[: -q - 1] = -held.fitted(np.eye(q + 1)[:, 1:])
    noise = contrasts.noise(time) * sd_y
    return coef, np.asarray(row_map @ np.linalg.inv(left[1:, 1:]), np.float64), noise


def _contrasts(sums: Sums, spectrum: Decomposed) -> Contrasts:
    T = spectrum.T
    values, vectors = np.linalg.eigh(sums.MM - T.T @ T)
    rest = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    rows = np.vstack([T, rest])
    w = np.concatenate([spectrum.w, np.zeros(len(rest))])
    return Contrasts(w, rows[:, 0], rows[:, 1:], sums.n - len(rest))


def _carry(Q: FloatArray, grams: FoldGrams, held: Held, B: FloatArray) -> FloatArray:
    """Return the influence of y on the new coefficients, given that on the old ones.

    New = old + B' L (y - D old): transposed, `Q + L'B - Q (D' L'B)`.
    """
    m1 = held.spectrum.J.shape[0]
    q = B.shape[2]
    products = np.stack([G[:m1] @ b for G, b in zip(grams.G, B, strict=True)])
    LB = B.copy()
    LB[:, :m1] += held.adjoint(products)
    D = np.zeros((len(B), B.shape[1], q))
    D[:, -q:] = np.eye(q)
    return np.asarray(Q + LB - Q @ _products(grams, D, LB))
