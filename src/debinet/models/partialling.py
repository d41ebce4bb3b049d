"""Partialling out: cross-fit the nuisance functions, form residuals, solve for the coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from debinet.data.folds import Folds
from debinet.exceptions import OptionError
from debinet.inference.regression import require_identified
from debinet.inference.scores import fold_averaged, pooled
from debinet.learners.crossfitting import Heldout
from debinet.models.partialled import PartialledOut, Task
from debinet.models.structured import mixed_model, structured
from debinet.protocols import FloatArray

METHODS = ("structured", "gls", "robinson", "three-step", "dml1", "dml2")


def partial_out(task: Task, method: str) -> PartialledOut:
    """Run one repetition of the procedure named by `method`."""
    data = task.data
    joint = task.cross_fit(task.learner, data.M, "joint")
    residuals = data.M - joint.predictions
    R_y, R_D = residuals[:, 0], residuals[:, 1:]
    require_identified(R_D, data.D, data.schema.treatment_names, data.weights)
    if method == "structured":
        return structured(task, joint, R_y, R_D)
    if method == "gls":
        return mixed_model(task, joint, R_D)
    if method == "dml1":
        blocks = [fold.test for fold in task.folds]
        return PartialledOut(fold_averaged(R_y, R_D, blocks, data.weights), joint)
    regression = replace(pooled(R_y, R_D, data.weights), D_noise=_noise_in_treatments(joint))
    if method == "three-step":
        # The paper's Algorithm 3: predictions are D coef + f(Z), f a regression of its own.
        left = data.y - data.D @ regression.coef
        f = task.cross_fit(joint.learner, left[:, None], "three-step")
        return PartialledOut(regression, joint, f, regression.coef)
    return PartialledOut(regression, joint)


def _noise_in_treatments(joint: Heldout) -> FloatArray | None:
    """Return the variances (q,) of D given Z, if the learner estimates them in one fit."""
    models = joint.fits[0].models
    noise = getattr(models[0], "noise_variance_", None) if len(models) == 1 else None
    return None if noise is None or len(joint.fits) > 1 else np.asarray(noise[1:])


def require_method(method: Any, repetitions: Sequence[Folds]) -> None:
    """Require a known method that these folds can serve."""
    if method not in METHODS:
        raise OptionError(
            f"method to be one of {list(METHODS)}",
            repr(method),
            "Use method='structured' if in doubt.",
        )
    if method in {"dml1", "dml2"} and repetitions[0].in_sample:
        raise OptionError(
            f"cross-fitting, which is what method={method!r} means",
            "crossfit=None",
            "Use crossfit=5, or method='robinson' for in-sample residuals.",
        )
