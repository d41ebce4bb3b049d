"""Read results that `storage` wrote, and nothing else."""

from __future__ import annotations

import json
import os
import zipfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from debinet.exceptions import FileFormatError
from debinet.inference.regression import ResidualRegression
from debinet.inference.result import Inference
from debinet.inference.storage import FORMAT, VERSION
from debinet.protocols import FloatArray


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
    influence = _array(arrays, "influence", 3) if "influence" in arrays else None
    names = tuple(str(name) for name in header["names"])
    repetitions, q = coef.shape
    rows = R_y.shape[1]
    if R_D.shape != (repetitions, rows, q) or len(names) != q or R_y.shape[0] != repetitions:
        raise ValueError("arrays of different sizes")
    return Inference(
        names=names,
        regressions=tuple(
            ResidualRegression(
                R_y[k],
                R_D[k],
                coef[k],
                weights,
                influence=None if influence is None else influence[k],
                least_squares=bool(arrays["least_squares"][k]),
            )
            for k in range(repetitions)
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
