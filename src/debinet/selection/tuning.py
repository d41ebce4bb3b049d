"""The penalty, from the word or number that the user gave."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from debinet._random import RandomState, named_generator, root_seed
from debinet.exceptions import OptionError
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
    number = isinstance(penalty, (Real, np.number)) and not isinstance(penalty, bool)
    if number and 0 < float(penalty) < np.inf:
        return float(penalty)
    raise OptionError(
        "penalty to be a positive number, 'cv', 'cv-1se' or 'plugin'",
        repr(penalty),
        "Leave it out for cross-validation.",
    )


def read_positive(name: str, value: Any, most: float = np.inf, *, zero: bool = False) -> float:
    """Require a finite number above 0 (or at least 0, if `zero`) and at most `most`."""
    number = isinstance(value, (Real, np.number)) and not isinstance(value, bool)
    if number and (value > 0 or (zero and value == 0)) and value <= most and value < np.inf:
        return float(value)
    least = "at least 0" if zero else "above 0"
    upper = f" and at most {most:g}" if most < np.inf else ""
    raise OptionError(
        f"{name} to be a number {least}{upper}", repr(value), "Leave it out for the default."
    )


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
