"""Effects of a fitted model in every row: features of the controls, then the surface."""

from __future__ import annotations

from typing import Any

import numpy as np

from debinet._random import named_seed
from debinet.data.schema import unknown_column
from debinet.exceptions import EmptyInputError, OptionError
from debinet.inference.effect_surface import fit_surface, score_test
from debinet.inference.individual_effects import IndividualEffects
from debinet.inference.methods import pooled
from debinet.inference.without_instruments import require_no_instruments
from debinet.learners.tangent import TangentNet
from debinet.models.estimation import Fitted
from debinet.protocols import FloatArray

# Landmarks of the network: effects are smoother than outcomes.
_WIDTH = 200


def individual_effects_of(
    fitted: Fitted, treatment: str | None, rows: tuple[FloatArray, FloatArray, FloatArray]
) -> IndividualEffects:
    """Return the effect of a treatment in every row.

    Parameters
    ----------
    fitted : Fitted
    treatment : str, optional
        Not needed if there is only one.
    rows : (y, D, Z)
        The rows of fit.
    """
    result, (y, D, Z) = fitted.result, rows
    require_no_instruments(result.provenance, "effects of rows")
    fit = result.regressions[0].all_rows("effects of rows")
    j = _position(treatment, result.names)
    if not Z.shape[1]:
        raise EmptyInputError("controls, with which the effect may vary", "none", "Add controls.")
    phi = _features(Z, np.column_stack([y, D]), fit.w, named_seed(result.seed, "effects"))
    residuals = pooled(fit.R_y, fit.R_D, fit.weights).residuals
    return IndividualEffects(
        result,
        result.names[j],
        fit_surface(fit.R_y, fit.R_D, j, phi, fit.w),
        score_test(residuals, fit.R_D, j, phi, fit.w, groups=result.groups),
    )


def _features(Z: FloatArray, M: FloatArray, w: FloatArray, seed: int) -> FloatArray:
    """Return features (n, r) of the wide network, centred; relevance is that for y and D."""
    used = w > 0
    learner = TangentNet(width=_WIDTH, random_state=seed)
    features, skips = learner.feature_map(Z[used], M[used], w[used])
    phi = features(Z)
    phi[:, features.width :] *= np.sqrt(max(skips))
    return np.asarray(phi - w @ phi / w.sum())


def _position(treatment: Any, names: tuple[str, ...]) -> int:
    if treatment is None and len(names) == 1:
        return 0
    if not isinstance(treatment, str):
        raise OptionError(
            f"the name of one of {len(names)} treatments", repr(treatment), f"Say {names[0]!r}."
        )
    if treatment not in names:
        raise unknown_column(treatment, names, "names of treatments")
    return names.index(treatment)
