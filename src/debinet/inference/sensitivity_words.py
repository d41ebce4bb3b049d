"""Sensitivity in words: what was supposed, and what it means for every coefficient."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from debinet.protocols import FloatArray
from debinet.report.tables import format_number

if TYPE_CHECKING:
    from debinet.inference.sensitivity import Sensitivity

# More than this are not put into sentences.
_SENTENCES = 6
# Weights beyond this many terms are not written out.
_TERMS = 4


def title(sensitivity: Sensitivity) -> str:
    """Return the heading."""
    return f"Sensitivity of effects on {sensitivity.outcome} to what was not measured"


def facts(sensitivity: Sensitivity) -> dict[str, str]:
    """Return what was supposed, by label."""
    scenario, noise = sensitivity.scenario, sensitivity.noise
    found = {
        "confounder": f"explains {_percent(scenario.cf_y)} of what is left of "
        f"{sensitivity.outcome} (cf_y) and {_percent(scenario.cf_d)} of what is left of a "
        f"treatment (cf_d), correlation {scenario.rho:g}",
        "bounds": f"with one-sided {100 * scenario.level:g} % intervals (ci), covariance "
        f"{sensitivity.rows.vcov_type}",
        "variance left": f"{format_number(noise.residual)} of {sensitivity.outcome}, by residuals",
    }
    if noise.likelihood is not None:
        found["variance left"] += (
            f" (used: what was not learned is in the residuals of the treatments, too, and cancels)"
            f"; {format_number(noise.likelihood)} by restricted likelihood"
        )
    if len(sensitivity.rows.names) > 1:
        joint = sensitivity.joint_robustness()
        found["jointly"] = (
            f"all coefficients can be 0 if it explains {_percent(joint.rv)} of what is left of "
            f"{sensitivity.outcome} and of a combination of the treatments"
        )
    return found


def sentences(sensitivity: Sensitivity) -> list[str]:
    """Return a paragraph for every coefficient or combination, the first few of them."""
    frame = sensitivity.to_frame()
    found = [
        " ".join([_bounds(sensitivity, j, row), _robustness(sensitivity, j, row)])
        + _benchmarks(sensitivity, j)
        for j, (_, row) in enumerate(frame.iloc[:_SENTENCES].iterrows())
    ]
    more = len(frame) - _SENTENCES
    return [*found, f"... and {more} more: see to_frame()."] if more > 0 else found


def combination(weights: FloatArray, names: tuple[str, ...]) -> str:
    """Return `d1 - 2 d2` for weights (q,)."""
    used = [(w, name) for w, name in zip(weights, names, strict=True) if w != 0]
    if not used:
        return "0"
    text = ""
    for w, name in used[:_TERMS]:
        size = "" if abs(w) == 1 else f"{abs(w):g} "
        sign = ("- " if text else "-") if w < 0 else ("+ " if text else "")
        text += (" " if text else "") + f"{sign}{size}{name}"
    return text + (" + ..." if len(used) > _TERMS else "")


def one_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose two index levels, benchmark and term, are one."""
    if len(frame.index.unique("term")) == 1:
        return frame.droplevel("term").rename_axis(None)
    labels = [f"{benchmark}, {term}" for benchmark, term in frame.index]
    return frame.set_axis(pd.Index(labels, dtype=object))


def _bounds(sensitivity: Sensitivity, j: int, row: pd.Series) -> str:
    scenario, name, outcome = sensitivity.scenario, sensitivity.names[j], sensitivity.outcome
    side, end = _side(sensitivity, j)
    return (
        f"{name}: a confounder that explains {_percent(scenario.cf_y)} of what is left of "
        f"{outcome} and {_percent(scenario.cf_d)} of what is left of {name} would take "
        f"the estimate from {_number(row['coef'])} to {_number(row[side])} at worst, and the end "
        f"of its interval to {_number(row[end])}."
    )


def _robustness(sensitivity: Sensitivity, j: int, row: pd.Series) -> str:
    null = format_number(float(sensitivity.null[j]))
    if row["rv"] == 0:
        return f"The estimate is {null} without any confounder."
    text = f"To take the estimate to {null}, it must explain {_percent(row['rv'])} of both"
    if row["rv_ci"] > 0:
        text += f", and {_percent(row['rv_ci'])} for the interval to contain {null}."
    else:
        text += f"; the interval contains {null} without any."
    return text + (
        f" If it explained all that is left of {sensitivity.outcome}, {_percent(row['xrv'])} of "
        f"{sensitivity.names[j]} would do."
    )


def _benchmarks(sensitivity: Sensitivity, j: int) -> str:
    if sensitivity.benchmarks is None:
        return ""
    name, (side, end) = sensitivity.names[j], _side(sensitivity, j)
    frame = sensitivity.benchmark_frame().xs(name, level="term")
    text = ""
    for benchmark, row in frame.iterrows():
        who = f" A confounder as strong as {benchmark}"
        if np.isnan(row[side]):
            text += f"{who} cannot exist: it would explain more of {name} than is left."
        elif row["cf_y"] == 0 or row["cf_d"] == 0:
            which = sensitivity.outcome if row["cf_y"] == 0 else name
            text += f"{who} would not move it: {benchmark} adds nothing to the fit of {which}."
        else:
            text += (
                f"{who} on both sides would take the estimate from "
                f"{_number(sensitivity.estimate[j])} to {_number(row[side])}, and the end of its "
                f"interval to {_number(row[end])}."
            )
    return text


def _side(sensitivity: Sensitivity, j: int) -> tuple[str, str]:
    """Return the columns of the bound on the side of the null and of the end of its interval."""
    below = sensitivity.estimate[j] < sensitivity.null[j]
    return ("upper", "upper_ci") if below else ("lower", "lower_ci")


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %"


def _number(value: float) -> str:
    return format_number(float(value), 4)
