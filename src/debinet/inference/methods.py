"""Methods: from held-out residuals to coefficients.

All solve a linear score, `psi = psi_b - psi_a coef` with `psi_a = w R_D R_D'` and
`psi_b = w R_D R_y`. `robinson` and `dml2` solve it over all rows, `dml1` within each fold.

`structured` uses what the model says about the mean of the outcome, `m_y = g + m_D coef`. Learning
m_y directly suffers from the variance of `D coef`, which the model already explains. So `g` is
learned from `y - D coef` at the coefficients so far, with held-out residual e, and
`R_y = e + R_D coef` takes the place of the residual of y. The error of those coefficients cancels
to first order, as e contains `-R_D (their error)`.

`gls` and `joint` are estimates of the learner's mixed model, in which f is unrelated or related to
the conditional means of D.

`iv-type` uses the residuals of D as instruments for D itself: it solves
`sum w R_D (y - g - D coef) = 0`, g learned from `y - D coef` at the coefficients of `dml2`
(Chernozhukov et al. 2018, equation 4.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from debinet.exceptions import CollinearError, FoldError, OptionError
from debinet.inference.regression import ResidualRegression, regress
from debinet.protocols import FloatArray, HeldOut, IntArray, Pilot, SmoothLearner

METHODS = ("joint", "structured", "gls", "robinson", "three-step", "dml1", "dml2", "iv-type")
AUTO = "auto"
# Methods that are the estimate of a mixed model, and those that start from one, too.
MODELS = frozenset({"gls", "joint"})
MIXED = MODELS | {"structured"}
# With more treatments per row than this, "auto" estimates the mixed model (docs/decisions/0026).
_CROWDED = 0.2
# How often the structured method alternates between g and the coefficients.
_ROUNDS = 2
# Instruments of this correlation with D, relative to that with their own values, are useless.
_USELESS = 1e-10


class Nuisances(Protocol):
    """Holds out any targets, given rows, a learner and folds."""

    @property
    def label(self) -> str:
        """The learner and the folds, in words."""

    def hold_out(self, M: FloatArray, *names: str | int) -> HeldOut:
        """Predict every row of targets; `names` distinguish the random states of fits."""

    def adjoint(self, X: FloatArray, held: HeldOut) -> FloatArray:
        """Return `L' X`, `L m` being the held-out residuals of the one target m of `held`."""


class MixedNuisances(Nuisances, Protocol):
    """Nuisances of a learner that may have a mixed model."""

    def gls(self, y: FloatArray, D: FloatArray, *, joint: bool = False) -> Pilot | None:
        """Return the estimate of the learner's mixed model, if it has one."""


class RowAlgebra(Protocol):
    """Products of columns over the rows, which are arrays or, for streams, maps of a row."""

    def regress(self, R_y: FloatArray, R_D: FloatArray) -> FloatArray:
        """Return the coefficients of the weighted regression."""

    def average(self, R_y: FloatArray, R_D: FloatArray) -> FloatArray:
        """Return the average of the coefficients of all folds, the paper's Algorithm 4."""

    def dual(self, R_D: FloatArray) -> FloatArray:
        """Return `B = W R_D (R_D'W R_D)^-1`: the coefficients are `B' R_y`."""

    def inner(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return `left' right`."""


@dataclass(frozen=True)
class Solved:
    """Coefficients, and what they are computed from.

    Attributes
    ----------
    coef : FloatArray of shape (q,)
    R_y : column
        Residual of y, or what takes its place.
    influence : columns, q of them, optional
        If the full procedure is linear in y, `coef = influence' y`.
    noise : float, optional
        Standard deviation of the noise in the mixed model.
    g : HeldOut, optional
        Of `g(Z) = E(y - D pilot | Z)`.
    pilot : FloatArray of shape (q,), optional
        The coefficients for which g was learned.
    bias : FloatArray of shape (q, q), optional
        Second moments of the bias under the prior of a mixed model.
    """

    coef: FloatArray
    R_y: FloatArray
    influence: FloatArray | None = None
    noise: float | None = None
    g: Any = None
    pilot: FloatArray | None = None
    bias: FloatArray | None = None


def choose_method(method: str, learner: Any, *, per_row: float = 0.0, refits: bool = False) -> str:
    """Return the method, chosen for the learner if it is "auto" (docs/decisions/0020, 0026).

    Parameters
    ----------
    method : str
    learner : learner
    per_row : float
        Treatments per row.
    refits : bool
        Whether folds need a fit each; the learner's mixed model is then not used.
    """
    if method != AUTO:
        return method
    if refits or not isinstance(learner, SmoothLearner):
        return "structured"
    if learner.is_smooth:
        return "joint"
    return "gls" if per_row > _CROWDED else "structured"


def first_estimate(method: str, nuisances: MixedNuisances, M: FloatArray) -> Pilot | None:
    """Return the estimate that a method starts from, or is; None if it needs none.

    Parameters
    ----------
    method : str
    nuisances : MixedNuisances
    M : columns, 1 + q of them
        Outcome and treatments.
    """
    if method not in MIXED:
        return None
    return nuisances.gls(M[..., 0], M[..., 1:], joint=method == "joint")


def solve(
    method: str,
    nuisances: Nuisances,
    rows: RowAlgebra,
    M: FloatArray,
    R: FloatArray,
    *,
    pilot: Pilot | None = None,
) -> Solved:
    """Solve for the coefficients by the method of this name.

    Parameters
    ----------
    method : str
    nuisances : Nuisances
    rows : RowAlgebra
    M : columns, 1 + q of them
        Outcome and treatments.
    R : columns, 1 + q of them
        Their held-out residuals.
    pilot : Pilot, optional
        Estimate of the learner's mixed model, for the methods in `MIXED`.
    """
    y, D, R_y, R_D = M[..., 0], M[..., 1:], R[..., 0], R[..., 1:]
    if method == "structured":
        return _structured(nuisances, rows, M, R, pilot)
    if method in MODELS:
        return _mixed_model(method, nuisances, M, R_D, pilot)
    if method == "dml1":
        return Solved(rows.average(R_y, R_D), R_y)
    coef = rows.regress(R_y, R_D)
    if method == "iv-type":
        return _instrumented(nuisances, rows, M, R_D, coef)
    if method == "three-step":
        # The paper's Algorithm 3: predictions are D coef + f(Z), f a regression of its own.
        f = nuisances.hold_out((y - D @ coef)[..., None], "three-step")
        return Solved(coef, R_y, g=f, pilot=coef)
    return Solved(coef, R_y)


def _structured(
    nuisances: Nuisances, rows: RowAlgebra, M: FloatArray, R: FloatArray, first: Pilot | None
) -> Solved:
    """Start from generalized or ordinary least squares, then alternate between g and coef."""
    D, R_y, R_D = M[..., 1:], R[..., 0], R[..., 1:]
    influence, noise = (None, None) if first is None else (first.rows, first.noise)
    coef = rows.regress(R_y, R_D) if first is None else first.coef
    for round_ in range(_ROUNDS):
        pilot = coef
        g, R_y = _residual_at(nuisances, M, R_D, pilot, round_)
        coef = rows.regress(R_y, R_D)
        if influence is not None:
            # New = old + B' L (y - D old), L the held-out residual operator of g: transposed,
            # `A + L'B - A (D' L'B)`.
            LB = nuisances.adjoint(rows.dual(R_D), g)
            influence = influence + LB - influence @ rows.inner(D, LB)
    return Solved(coef, R_y, influence, noise, g, pilot)


def _mixed_model(
    method: str, nuisances: Nuisances, M: FloatArray, R_D: FloatArray, pilot: Pilot | None
) -> Solved:
    """Take the coefficients of the learner's mixed model as they are."""
    if pilot is None:
        raise OptionError(
            f"a learner with a mixed model for method={method!r}, and folds that it needs no "
            "refits for",
            nuisances.label,
            "Use learner='wide', or method='structured'.",
        )
    g, R_y = _residual_at(nuisances, M, R_D, pilot.coef, 0)
    return Solved(pilot.coef, R_y, pilot.rows, pilot.noise, g, pilot.coef, pilot.bias)


def _instrumented(
    nuisances: Nuisances, rows: RowAlgebra, M: FloatArray, R_D: FloatArray, pilot: FloatArray
) -> Solved:
    """Take the residuals of D as instruments for D, with g learned at the coefficients so far."""
    D = M[..., 1:]
    target = (M[..., 0] - D @ pilot)[..., None]
    g = nuisances.hold_out(target, "g", 0)
    y_left = M[..., 0] - g.predictions[..., 0]
    # `B = W R_D (R_D'W R_D)^-1` instead of `W R_D` changes nothing but the scale of the equations.
    B = rows.dual(R_D)
    left, right = rows.inner(B, D), rows.inner(B, y_left)
    units = np.sqrt(np.diag(rows.inner(R_D, R_D)))
    # The identity, if the predictions of D are orthogonal to the residuals.
    shares = np.linalg.svd(units[:, None] * left / units, compute_uv=False)
    if shares.min() < _USELESS:
        raise CollinearError(
            "treatments that are correlated with their residuals, for method='iv-type'",
            "predictions of D that cancel this correlation",
            "Use method='structured', or another learner.",
        )
    coef = np.asarray(np.linalg.solve(left, right))
    return Solved(coef, y_left - (D - R_D) @ coef, g=g, pilot=pilot)


def _residual_at(
    nuisances: Nuisances, M: FloatArray, R_D: FloatArray, coef: FloatArray, round_: int
) -> tuple[HeldOut, FloatArray]:
    """Learn g at some coefficients; return it and the residual of y that belongs to it."""
    target = (M[..., 0] - M[..., 1:] @ coef)[..., None]
    g = nuisances.hold_out(target, "g", round_)
    return g, (target - g.predictions)[..., 0] + R_D @ coef


@dataclass(frozen=True)
class WeightedRows:
    """Rows in memory: columns are arrays (n, c). Implements `RowAlgebra`.

    Attributes
    ----------
    weights : FloatArray of shape (n,), optional
    folds : sequence of IntArray
        Rows of each fold.
    """

    weights: FloatArray | None
    folds: Sequence[IntArray] = ()

    def regress(self, R_y: FloatArray, R_D: FloatArray) -> FloatArray:
        """Return the coefficients of the weighted regression."""
        return regress(R_y, R_D, self.weights)

    def average(self, R_y: FloatArray, R_D: FloatArray) -> FloatArray:
        """Return the average of the coefficients of all folds, the paper's Algorithm 4."""
        q, smallest = R_D.shape[1], min(block.size for block in self.folds)
        if smallest <= q:
            raise FoldError(
                f"folds of more than {q} rows, as method='dml1' solves for {q} coefficient(s) in "
                "each",
                f"a fold of {smallest} row(s)",
                "Use fewer folds, or method='dml2'.",
            )
        weights = self.weights
        coefs = [
            regress(R_y[block], R_D[block], None if weights is None else weights[block])
            for block in self.folds
        ]
        return np.asarray(np.mean(coefs, axis=0))

    def dual(self, R_D: FloatArray) -> FloatArray:
        """Return `B = W R_D (R_D'W R_D)^-1`."""
        weighted = R_D if self.weights is None else self.weights[:, None] * R_D
        return np.asarray(weighted @ np.linalg.inv(R_D.T @ weighted))

    def inner(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return `left' right`."""
        return np.asarray(left.T @ right)


def pooled(
    R_y: FloatArray, R_D: FloatArray, weights: FloatArray | None = None
) -> ResidualRegression:
    """Solve over all rows at once: `robinson` (the paper's Algorithms 1 and 2) and `dml2`."""
    return ResidualRegression(R_y, R_D, regress(R_y, R_D, weights), weights)
