"""Search for the scales of the inputs, by L-BFGS, and by steps that a descent cannot take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from debinet.learners.wide.likelihood import evaluate
from debinet.learners.wide.missed_feature import missed_feature
from debinet.learners.wide.missed_pair import missed_pair
from debinet.learners.wide.scale_problem import ScalePoint, ScaleProblem
from debinet.protocols import FloatArray

# Logarithms of scales and weights have a normal prior with this standard deviation, and bounds.
_PRIOR = 2.0
_BOUND = 5.0
# How often the scales of missed pairs are raised at most.
_LIFTS = 3
# After so many steps a descent that has gained less than this share of its price is given up.
_PATIENCE, _HOPELESS = 4, 0.2


@dataclass(frozen=True)
class Schedule:
    """How long to search.

    Attributes
    ----------
    few, most : int
        Number of rows used first, and last.
    last : int
        Steps on more than the first rows.
    enough : float
        A search ends when a step raises twice the log-likelihood by less than this.
    lift : float
        Logarithm to which the scales of missed pairs are raised.
    rough : float
        Logarithm to which the scale of a missed feature is raised; that of none if minus infinity.
    worth : float
        What each scale must add to the held-out log-likelihood for the scales to be used at all.
    highest : float
        Upper bound of the logarithms of scales.
    steps : int
        At most, on the first rows.
    """

    few: int
    most: int
    last: int
    enough: float
    lift: float
    rough: float
    worth: float
    highest: float
    steps: int = 28


def penalized(point: ScalePoint) -> float:
    """Return the criterion with what the prior adds."""
    return point.value + float(point.theta @ point.theta) / (2 * _PRIOR**2)


def descend(
    problem: ScaleProblem,
    theta: FloatArray,
    plan: Schedule,
    steps: int | None = None,
    *,
    price: float = 0.0,
) -> ScalePoint:
    """Return where a descent of at most `steps` steps ends, by default those of the plan.

    If the criterion must gain `price` for its end to be used, a descent that has gained next to
    nothing of it after a few steps is given up.
    """
    steps = plan.steps if steps is None else steps
    best: list[ScalePoint] = []
    values: list[float] = []

    def judge(xk: FloatArray) -> None:  # noqa: ARG001 - scipy's name
        values.append(penalized(best[0]))
        if len(values) == _PATIENCE and values[0] - values[-1] < _HOPELESS * price:
            raise StopIteration

    def objective(theta: FloatArray) -> tuple[float, FloatArray]:
        point = evaluate(theta.copy(), problem)
        value = penalized(point)
        if not best or value < penalized(best[0]):
            best[:] = [point]
        return value, point.gradient() + theta / _PRIOR**2

    # values are of the order of m n log(n); scipy takes tolerances as shares of them
    enough = plan.enough / (problem.M.size * np.log(len(problem.M)))
    highest = np.where(np.arange(theta.size) < problem.n_scales, plan.highest, _BOUND)
    minimize(
        objective,
        theta,
        jac=True,
        method="L-BFGS-B",
        callback=judge,
        bounds=[(-_BOUND, high) for high in highest],
        options={"maxiter": steps, "maxfun": steps + 5, "ftol": enough},
    )
    return best[0]


def descend_and_lift(
    problem: ScaleProblem, theta: FloatArray, plan: Schedule, steps: int
) -> ScalePoint:
    """Descend; raise the scales of what was missed and descend again, as long as that helps."""
    best = descend(problem, theta, plan, steps)
    for _ in range(_LIFTS):
        lifted = _lift(best, plan)
        if lifted is None:
            break
        found = descend(problem, lifted, plan)
        if penalized(found) > penalized(best) - plan.enough:
            break
        best = found
    return best


def _lift(point: ScalePoint, plan: Schedule) -> FloatArray | None:
    """Return the parameters with raised scales of a missed pair, or of a missed feature."""
    problem, lifted = point.problem, point.theta.copy()
    faded = (lifted[: problem.n_scales] < 0)[problem.groups]
    pair = missed_pair(problem.Z, point.residual, problem.root_weight, faded)
    if pair is not None:
        k = problem.groups[list(pair)]
        lifted[k] = np.maximum(lifted[k], plan.lift)
        return lifted
    one = missed_feature(problem.Z, point.residual, problem.root_weight)
    if one is None or not plan.rough > lifted[problem.groups[one]]:
        return None
    lifted[problem.groups[one]] = plan.rough
    return lifted
