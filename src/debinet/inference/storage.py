"""Write results: one zip archive of plain arrays and a JSON header, never pickle."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

if TYPE_CHECKING:
    from debinet.inference.result import Inference

FORMAT = "debinet-inference"
VERSION = 1


def save(result: Inference, path: str | PathLike[str]) -> None:
    """Write `result` to `path`, whole or not at all."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "names": list(result.names),
        "vcov_type": result.vcov_type,
        "df": result.df,
        "method": result.method,
        "outcome": result.outcome,
        "facts": dict(result.facts),
        "notes": list(result.notes),
        "seed": result.seed,
    }
    arrays: dict[str, Any] = {
        "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
        "estimate": result.estimate,
        "covariance": result.covariance,
        "coef": np.stack([regression.coef for regression in result.regressions]),
        "R_y": np.stack([regression.R_y for regression in result.regressions]),
        "R_D": np.stack([regression.R_D for regression in result.regressions]),
    }
    weights = result.regressions[0].weights
    if weights is not None:
        arrays["weights"] = weights
    influences = [r.influence for r in result.regressions if r.influence is not None]
    if influences:
        arrays["influence"] = np.stack(influences)
    for name in ("noise", "noise_df"):
        values = [getattr(regression, name) for regression in result.regressions]
        if None not in values:
            arrays[name] = np.array(values, dtype=np.float64)
    arrays["least_squares"] = np.array([r.least_squares for r in result.regressions])
    if result.groups is not None:
        arrays["groups"] = result.groups
    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        raise OSError(f"Cannot write {target}: give the path of a file in a folder that exists.")
    draft = target.with_name(f".{target.name}-{uuid4().hex}.tmp")
    try:
        with draft.open("xb") as stream:
            np.savez_compressed(stream, allow_pickle=False, **arrays)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
