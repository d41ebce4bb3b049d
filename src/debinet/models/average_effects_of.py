"""Average effects of a fitted model: arms, held-out nuisances, doubly robust estimates."""

from __future__ import annotations

from typing import Any

import numpy as np

from debinet.data.dataset import Dataset, read_outcome
from debinet.data.schema import unknown_column
from debinet.exceptions import EmptyInputError, InputError, OptionError
from debinet.inference.arms import ArmRows, read_arms
from debinet.inference.average_effects import AverageEffects, CoefficientTerms
from debinet.inference.result import Inference
from debinet.inference.without_instruments import require_no_instruments
from debinet.learners.logistic_net import LogisticNet
from debinet.learners.named import resolve_learner
from debinet.models.arm_nuisances import (
    ArmData,
    folds_in_words,
    hold_out_outcomes,
    hold_out_probabilities,
)
from debinet.models.estimation import Fitted
from debinet.protocols import FloatArray

# Probabilities are at least this: a row counts at most a hundredfold.
LEAST = 0.01


def average_effects_of(
    fitted: Fitted,
    treatment: Any,
    rows: tuple[FloatArray, FloatArray, FloatArray],
    *,
    learner: Any,
    propensity: Any,
    crossfit: Any,
) -> AverageEffects:
    """Return average effects.

    Parameters
    ----------
    fitted : Fitted
    treatment, propensity, crossfit
        As in `PartiallyLinear.average_effects`.
    rows : (y, D, Z)
        The rows of fit.
    learner : str or learner
        Of outcomes.
    """
    result, (y, D, Z) = fitted.result, rows
    require_no_instruments(result.provenance, "average effects")
    regression = result.regressions[0].all_rows("average effects")
    own = _treatments(treatment, result.names)
    others = [j for j in range(D.shape[1]) if j not in own]
    names = tuple(result.names[j] for j in own)
    code = read_arms(D[:, own], names, regression.w)
    Z = np.hstack([Z, D[:, others]])
    if not Z.shape[1]:
        raise EmptyInputError("controls", "none", "Compare means of the arms directly.")
    data = ArmData(y, code, Z, regression.weights, result.groups)
    seed = result.seed
    outcomes = hold_out_outcomes(data, learner, crossfit, seed)
    raw = hold_out_probabilities(data, propensity, crossfit, seed)
    return AverageEffects(
        names,
        result.outcome,
        ArmRows(code, y, outcomes, np.maximum(raw, LEAST), regression.w),
        _coefficient(result, own),
        result.groups,
        seed,
        (
            type(resolve_learner(learner, *Z.shape).learner).__name__,
            type(LogisticNet() if propensity is None else propensity).__name__,
            folds_in_words(data, learner, crossfit, seed),
        ),
        _notes(raw, regression.w),
    )


def rows_of(
    fitted: Fitted, given: tuple[FloatArray, FloatArray] | None, y: Any
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return y, D and Z of the fit: those in memory, or those that the user passed again."""
    kept = fitted.rows
    if given is None:
        data: Dataset | None = None if kept is None else kept.data
        if data is None:
            raise InputError(
                "X and y, as files of models do not contain the rows of fit, nor streamed fits",
                "none",
                "Pass what fit was called with, X=X and y=y.",
            )
        return data.y, data.D, data.Z
    outcome, _ = read_outcome(y)
    if kept is not None:
        kept.require_same(*given, outcome)
    elif len(given[0]) != outcome.size:
        raise InputError(f"{outcome.size} rows", f"{len(given[0])}", "Pass the X and y of fit.")
    return outcome, *given


def _treatments(treatment: Any, names: tuple[str, ...]) -> list[int]:
    if treatment is None:
        return list(range(len(names)))
    wanted = [treatment] if isinstance(treatment, str) else treatment
    if not isinstance(wanted, (list, tuple)) or not wanted:
        raise OptionError(
            "treatment to be the name of a treatment, or a list of names",
            repr(treatment)[:80],
            f"For example treatment={names[0]!r}.",
        )
    for name in wanted:
        if name not in names:
            raise unknown_column(str(name), names, "names of treatments")
    return [names.index(name) for name in wanted]


def _coefficient(result: Inference, own: list[int]) -> CoefficientTerms:
    """Return the coefficients, with terms whose squares sum to the variances of the result."""
    terms = result.regressions[0].all_rows("average effects").contributions[:, own]
    se = result.se.to_numpy()[own]
    size = np.maximum(np.sqrt((terms**2).sum(axis=0)), np.finfo(np.float64).tiny)
    return CoefficientTerms(result.estimate[own], terms * (se / size))


def _notes(raw: FloatArray, w: FloatArray) -> tuple[str, ...]:
    low = (raw < LEAST) & (w > 0)[:, None]
    count = int(low.any(axis=1).sum())
    if not count:
        return ()
    return (
        f"an arm has a probability below {LEAST:g} in {count} rows, which was raised to {LEAST:g}: "
        "averages over all rows rest on extrapolation there; trimmed() leaves such rows out",
    )
