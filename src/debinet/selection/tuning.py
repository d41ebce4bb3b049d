"""The penalty, from the word or number that the user gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from debinet._random import RandomState, named_generator, root_seed
from debinet.data.options import positive_number
from debinet.protocols import FloatArray
from debinet.selection.crossvalidation import CrossValidation, cross_validate
from debinet.selection.plugin import plugin_penalty
from debinet.selection.problem import LinearProblem
from debinet.selection.regularizer import Regularizer

WORDS = ("cv", "cv-1se", "plugin")
PER_DECADE = 20
# Cross-validation usually stops early; models with many effects need the small penalties.
DECADES_OF_CROSS_VALIDATION = 4


@dataclass(frozen=True)
class PenaltyChoice:
    """How the penalty was chosen.

    Attributes
    ----------
    rule : {"given", "cv", "cv-1se", "plugin"}
    penalty : float
    cross_validation : CrossValidation, optional
        Held-out errors, for the rules that have them.
    noise : float, optional
        Standard deviation of the noise, for the rule `"plugin"`.
    """

    rule: str
    penalty: float
    cross_validation: CrossValidation | None = None
    noise: float | None = None


def read_penalty(penalty: Any) -> str | float:
    """Require a positive number or a known word."""
    if isinstance(penalty, str) and penalty in WORDS:
        return penalty
    return positive_number("penalty", penalty, words=WORDS)


def tune(
    regularizer: Regularizer,
    problem: LinearProblem,
    penalty: str | float,
    tol: float,
    random_state: RandomState,
) -> PenaltyChoice:
    """Choose the penalty."""
    if not isinstance(penalty, str):
        return PenaltyChoice("given", penalty)
    if penalty == "plugin":
        found, noise = plugin_penalty(regularizer, problem.X, problem.y, tol)
        return PenaltyChoice(penalty, found, noise=noise)
    solver = regularizer.on(problem.X, problem.y)
    rng = named_generator(root_seed(random_state), "cross-validation")
    grid = penalty_grid(solver.max_penalty, DECADES_OF_CROSS_VALIDATION)
    errors = cross_validate(regularizer, problem, grid, rng, tol)
    chosen = errors.best if penalty == "cv" else errors.simplest
    return PenaltyChoice(penalty, chosen, cross_validation=errors)


def penalty_grid(largest: float, decades: int = 3) -> FloatArray:
    """Return a decreasing geometric grid from the smallest penalty that selects nothing."""
    # if no column is correlated with the outcome, `largest` is 0
    top = max(largest, float(np.finfo(np.float64).tiny) * 10**decades)
    return np.asarray(top * np.logspace(0, -decades, PER_DECADE * decades))
