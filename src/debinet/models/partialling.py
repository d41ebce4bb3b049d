"""Partialling out: cross-fit the nuisance functions, form residuals, solve for the coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from debinet._random import named_seed
from debinet.data.dataset import Dataset
from debinet.data.folds import Folds
from debinet.exceptions import OptionError
from debinet.inference.regression import ResidualRegression, require_identified
from debinet.inference.scores import fold_averaged, pooled
from debinet.learners.crossfitting import Heldout, cross_fit
from debinet.protocols import FloatArray

SCORES = ("structured", "robinson", "dml1", "dml2")

# How often the structured score goes from coefficients to g and back: twice, as more changed no
# estimate by a tenth of its standard error in the designs tried (DESIGN, section 6).
ROUNDS = 2


@dataclass(frozen=True)
class PartialledOut:
    """One repetition of cross-fitting, solved.

    Attributes
    ----------
    regression : ResidualRegression
        Residuals of all n rows and the coefficients.
    joint : Heldout
        Models of `E([y, D] | Z)`.
    g : Heldout, optional
        Models of `g(Z) = E(y - D pilot | Z)` for the structured score.
    pilot : FloatArray of shape (q,), optional
        The coefficients for which `g` was learned.
    """

    regression: ResidualRegression
    joint: Heldout
    g: Heldout | None = None
    pilot: FloatArray | None = None

    def conditional_means(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return `E(y|Z)` and `E(D|Z)` for new rows."""
        means = self.joint.predict(Z)
        m_y, m_D = means[:, 0], means[:, 1:]
        if self.g is not None and self.pilot is not None:
            m_y = self.g.predict(Z)[:, 0] + m_D @ self.pilot
        return m_y, m_D


def partial_out(
    data: Dataset,
    learner: Any,
    folds: Folds,
    score: str,
    *,
    seed: int,
    n_jobs: int | None = None,
) -> PartialledOut:
    """Run one repetition of the procedure named by `score`."""
    joint = cross_fit(
        learner, data.Z, data.M, folds, seed=seed, weights=data.weights, n_jobs=n_jobs
    )
    residuals = data.M - joint.predictions
    R_y, R_D = residuals[:, 0], residuals[:, 1:]
    require_identified(R_D, data.D, data.schema.treatment_names, data.weights)
    if score == "dml1":
        blocks = [fold.test for fold in folds]
        return PartialledOut(fold_averaged(R_y, R_D, blocks, data.weights), joint)
    start = PartialledOut(pooled(R_y, R_D, data.weights), joint)
    if score in {"robinson", "dml2"}:
        return start
    return _structured(data, start, folds, seed, n_jobs)


def require_score(score: Any, repetitions: Sequence[Folds]) -> None:
    """Require a known score that these folds can serve."""
    if score not in SCORES:
        raise OptionError(
            f"score to be one of {list(SCORES)}", repr(score), "Use score='structured' if in doubt."
        )
    if score in {"dml1", "dml2"} and repetitions[0].in_sample:
        raise OptionError(
            f"cross-fitting, which is what score={score!r} means",
            "crossfit=None",
            "Use crossfit=5, or score='robinson' for in-sample residuals.",
        )


def _structured(
    data: Dataset, start: PartialledOut, folds: Folds, seed: int, n_jobs: int | None
) -> PartialledOut:
    """Use what the model says of the outcome's mean: `m_y = g + m_D coef`.

    Learning m_y directly pays for the variance of `D coef`, which the model already explains. So
    learn `g` from `y - D coef` at the coefficients so far, held-out residual e, and put
    `R_y = e + R_D coef` in place of the residual of y. The error of `coef` at the start cancels
    to first order, as e carries `-R_D (its error)`.
    """
    R_D, joint, solved = start.regression.R_D, start.joint, start
    for round_ in range(ROUNDS):
        pilot = solved.regression.coef
        target = (data.y - data.D @ pilot)[:, None]
        g = cross_fit(
            joint.learner,
            data.Z,
            target,
            folds,
            seed=named_seed(seed, "g", round_),
            weights=data.weights,
            n_jobs=n_jobs,
        )
        R_y = (target - g.predictions)[:, 0] + R_D @ pilot
        solved = PartialledOut(pooled(R_y, R_D, data.weights), joint, g, np.asarray(pilot))
    return solved
