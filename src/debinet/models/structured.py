"""Scores that use what the model says of the outcome's mean: `m_y = g + m_D coef`.

Learning m_y directly pays for the variance of `D coef`, which the model already explains. So `g`
is learned from `y - D coef` at the coefficients so far, with held-out residual e, and
`R_y = e + R_D coef` takes the place of the residual of y. The error of those coefficients cancels
to first order, as e carries `-R_D (their error)`.
"""

from __future__ import annotations

from dataclasses import replace

from debinet.exceptions import OptionError
from debinet.inference.regression import ResidualRegression
from debinet.inference.scores import ROUNDS, pooled
from debinet.learners.crossfitting import Heldout
from debinet.models.partialled import PartialledOut, Task
from debinet.protocols import FloatArray, Pilot, SmootherLearner


def structured(task: Task, joint: Heldout, R_y: FloatArray, R_D: FloatArray) -> PartialledOut:
    """Start from generalized or ordinary least squares, then alternate between g and coef."""
    data = task.data
    pilot = _mixed_model(task, joint)
    coef = pooled(R_y, R_D, data.weights).coef if pilot is None else pilot.coef
    influence = None if pilot is None else pilot.rows
    solved = None
    for round_ in range(ROUNDS):
        g, R_y = _outcome_residual(task, joint, R_D, coef, round_)
        regression = pooled(R_y, R_D, data.weights)
        if influence is not None:
            influence = _carry(influence, task, regression, g)
        noise = None if pilot is None else pilot.noise
        regression = replace(regression, influence=influence, noise=noise)
        solved = PartialledOut(regression, joint, g, coef)
        coef = regression.coef
    assert solved is not None
    return solved


def mixed_model(task: Task, joint: Heldout, R_D: FloatArray) -> PartialledOut:
    """Take the coefficients of the learner's mixed model as they are: method `"gls"`."""
    pilot = _mixed_model(task, joint)
    if pilot is None:
        raise OptionError(
            "a learner with a mixed model for method='gls', and folds it has a closed form for",
            f"{type(task.learner).__name__} and {task.folds.label}",
            "Use learner='wide', or method='structured'.",
        )
    g, R_y = _outcome_residual(task, joint, R_D, pilot.coef, 0)
    regression = ResidualRegression(
        R_y,
        R_D,
        pilot.coef,
        task.data.weights,
        influence=pilot.rows,
        least_squares=False,
        noise=pilot.noise,
    )
    return PartialledOut(regression, joint, g, pilot.coef)


def _mixed_model(task: Task, joint: Heldout) -> Pilot | None:
    closed = task.folds.complementary or task.folds.in_sample
    if not (closed and isinstance(joint.learner, SmootherLearner)):
        return None
    data = task.data
    return joint.learner.gls(data.Z, data.y, data.D, data.weights)


def _outcome_residual(
    task: Task, joint: Heldout, R_D: FloatArray, coef: FloatArray, round_: int
) -> tuple[Heldout, FloatArray]:
    target = (task.data.y - task.data.D @ coef)[:, None]
    g = task.cross_fit(joint.learner, target, "g", round_)
    return g, (target - g.predictions)[:, 0] + R_D @ coef


def _carry(
    influence: FloatArray, task: Task, regression: ResidualRegression, g: Heldout
) -> FloatArray:
    """Return the influence of y on the new coefficients, given that on the old ones.

    New = old + B' L (y - D old), with `B = W R_D (R_D'W R_D)^-1` and L the held-out residual
    operator of g: transposed, `A + L'B - A (D' L'B)`.
    """
    B = (regression.w[:, None] * regression.R_D) @ regression.bread
    LB = g.learner.heldout_adjoint(B, task.folds)
    carried: FloatArray = influence + LB - influence @ (task.data.D.T @ LB)
    return carried
