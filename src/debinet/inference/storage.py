"""Write results to a file of plain arrays."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from debinet.data.archive import Kind, write_archive
from debinet.inference.summed import SummedRegression
from debinet.inference.summed_storage import summed_parts

if TYPE_CHECKING:
    from debinet.inference.result import Inference

KIND = Kind("debinet-inference", 1, "Inference.save")
# Arrays of `Evidence`, and how much longer than the treatments they are; None: see its names.
EVIDENCE = {
    "total": 1,
    "heldout": 1,
    "trained": 1,
    "other_coef": 0,
    "other_se": 0,
    "leftover": None,
}

STOPPING = ("x", "value", "chosen")


def _regression_arrays(result: Inference) -> dict[str, Any]:
    arrays: dict[str, Any] = {
        name: np.stack([getattr(regression, name) for regression in result.regressions])
        for name in ("coef", "R_y", "R_D", "least_squares")
    }
    weights = result.regressions[0].weights
    if weights is not None:
        arrays["weights"] = weights
    for name in ("influence", "noise", "noise_df", "D_noise", "error"):
        values = [getattr(regression, name) for regression in result.regressions]
        if all(value is not None for value in values):
            arrays[name] = np.array(values, dtype=np.float64)
    return arrays


def save(result: Inference, path: str | PathLike[str]) -> None:
    """Write `result` to `path`, whole or not at all."""
    write_archive(path, KIND, *result_parts(result))


def result_parts(result: Inference) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what makes up a result: plain values, and arrays."""
    header: dict[str, Any] = {
        "names": list(result.names),
        "vcov_type": result.vcov_type,
        "df": result.df,
        "method": result.method,
        "outcome": result.outcome,
        "facts": dict(result.facts),
        "notes": list(result.notes),
        "seed": result.seed,
    }
    arrays: dict[str, Any] = {"estimate": result.estimate, "covariance": result.covariance}
    first = result.regressions[0]
    if isinstance(first, SummedRegression):
        header["summed"], own = summed_parts(first)
        arrays |= own
    else:
        arrays |= _regression_arrays(result)
    if result.groups is not None:
        arrays["groups"] = result.groups
    if result.evidence is not None:
        evidence = result.evidence.get()
        header["evidence"] = {
            "in_sample": evidence.in_sample,
            "leftover_names": list(evidence.leftover_names),
        }
        for name in EVIDENCE:
            value = getattr(evidence, name)
            if value is not None:
                arrays[f"evidence_{name}"] = value
        if evidence.relevance is not None:
            header["relevance"] = list(evidence.relevance_names)
            arrays["relevance"] = evidence.relevance
        if evidence.stopping is not None:
            stopping = evidence.stopping
            header["stopping"] = {"along": stopping.along, "measure": stopping.measure}
            for name in STOPPING:
                arrays[f"stopping_{name}"] = np.asarray(getattr(stopping, name), np.float64)
    return header, arrays
