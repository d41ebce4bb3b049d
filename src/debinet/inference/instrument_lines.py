"""Lines of a summary about instruments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from debinet.exceptions import CovarianceError
from debinet.inference.provenance import Instrumented

if TYPE_CHECKING:
    from debinet.inference.result import Inference

# More instruments than this are not listed one by one.
_LISTED = 8


def instrument_lines(result: Inference, level: float) -> dict[str, str | None]:
    """Return instruments, their strength and Anderson-Rubin sets, by label."""
    found = result.provenance.instrumented
    if found is None:
        return {}
    try:
        sets = result.iv.confidence_set(level, found.endogenous)
        listed = "; ".join(f"{name} {sets[name]}" for name in found.endogenous)
        about_sets = f"{100 * level:g} % {listed}"
    except CovarianceError:
        about_sets = "not known: there are too few clusters for so many instruments"
    return {
        "instruments": _roles(found),
        "first stage": _first_stage(result),
        "Anderson-Rubin": about_sets,
    }


def _roles(found: Instrumented) -> str:
    more = len(found.instruments) - _LISTED
    names = ", ".join(found.instruments[:_LISTED]) + (f" and {more} more" if more > 0 else "")
    return f"{names} for {', '.join(found.endogenous)}"


def _first_stage(result: Inference) -> str:
    frame = result.iv.first_stage()
    if len(frame) > 1:
        return "conditional F " + ", ".join(f"{F:.3g} ({name})" for name, F in frame["F"].items())
    stage = frame.iloc[0]
    if not np.isfinite(stage["effective F"]):
        return f"F {stage['F']:.3g}"
    return f"effective F {stage['effective F']:.3g}, critical value {stage['critical']:.3g}"
