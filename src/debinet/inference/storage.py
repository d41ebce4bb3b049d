"""Results on disk: one zip archive of plain arrays and a JSON header, never pickle."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from debinet.exceptions import FileFormatError
from debinet.inference.regression import ResidualRegression
from debinet.inference.result import Inference
from debinet.protocols import FloatArray

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
    if result.groups is not None:
        arrays["groups"] = result.groups
    target = Path(path)
    descriptor, draft = tempfile.mkstemp(dir=target.parent, prefix=".debinet-", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as stream:
            np.savez_compressed(stream, allow_pickle=False, **arrays)
        Path(draft).replace(target)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def load(path: str | PathLike[str]) -> Inference:
    """Read a result that `Inference.save` wrote; safe with files from strangers.

    Raises
    ------
    FileFormatError
        If the file is damaged or not one of ours.
    """
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays["header"].tobytes().decode())
        return _rebuild(header, arrays)
    except FileNotFoundError:
        raise
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        EOFError,
        zipfile.BadZipFile,
        MemoryError,
    ) as error:
        raise FileFormatError(
            "a file written by Inference.save",
            f"{os.fspath(path)!r}, which cannot be read as one ({error})",
            "Check the path, or save the result again.",
        ) from error


def _rebuild(header: dict[str, Any], arrays: dict[str, Any]) -> Inference:
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        raise ValueError(f"format {header.get('format')!r}, version {header.get('version')!r}")
    coef, R_y, R_D = _array(arrays, "coef", 2), _array(arrays, "R_y", 2), _array(arrays, "R_D", 3)
    weights = _array(arrays, "weights", 1) if "weights" in arrays else None
    names = tuple(str(name) for name in header["names"])
    repetitions, q = coef.shape
    rows = R_y.shape[1]
    if R_D.shape != (repetitions, rows, q) or len(names) != q or R_y.shape[0] != repetitions:
        raise ValueError("arrays of different sizes")
    return Inference(
        names=names,
        regressions=tuple(
            ResidualRegression(R_y[k], R_D[k], coef[k], weights) for k in range(repetitions)
        ),
        estimate=_array(arrays, "estimate", 1),
        covariance=_array(arrays, "covariance", 2),
        vcov_type=str(header["vcov_type"]),
        df=float(header["df"]),
        method=str(header["method"]),
        outcome=str(header["outcome"]),
        facts={str(k): str(v) for k, v in header["facts"].items()},
        notes=tuple(str(note) for note in header["notes"]),
        groups=arrays["groups"].astype(np.int64) if "groups" in arrays else None,
        seed=int(header["seed"]),
    )


def _array(arrays: dict[str, Any], name: str, ndim: int) -> FloatArray:
    array = arrays[name]
    if array.dtype != np.float64 or array.ndim != ndim:
        raise ValueError(f"{name} is not a {ndim}-dimensional array of numbers")
    return np.asarray(array, dtype=np.float64)
