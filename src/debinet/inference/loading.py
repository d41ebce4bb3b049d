"""Read results that `storage` wrote, and nothing else."""

from __future__ import annotations

import json
import os
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from debinet.exceptions import FileFormatError
from debinet.inference.regression import ResidualRegression
from debinet.inference.result import Inference
from debinet.inference.storage import FORMAT, VERSION
from debinet.protocols import FloatArray, IntArray

_HEADER_LIMIT = 2**24  # bytes


def load(path: str | PathLike[str]) -> Inference:
    """Read a result that `Inference.save` wrote; safe with files from strangers.

    Raises
    ------
    FileFormatError
        If the file is damaged or not one of ours.
    """
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            return _rebuild(archive)
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:  # a damaged archive can fail in any way; all mean the same
        raise FileFormatError(
            "a file written by Inference.save",
            f"{os.fspath(path)!r}, which cannot be read as one ({type(error).__name__}: {error})",
            "Check the path, or save the result again.",
        ) from error


def _rebuild(archive: Any) -> Inference:
    header = _header(archive)
    names = tuple(str(name) for name in header["names"])
    q = len(names)
    R_y = _array(archive, "R_y", (None, None))
    repetitions, rows = R_y.shape
    noise, noise_df = (
        _array(archive, name, (repetitions,)) if name in archive else None
        for name in ("noise", "noise_df")
    )
    _require(all(v is None or bool((v >= 0).all()) for v in (noise, noise_df)), "noise")
    # only a noise level of its own allows for more coefficients than rows
    _require(repetitions > 0 and q >= 0 and (rows > q or noise_df is not None), "sizes")
    coef = _array(archive, "coef", (repetitions, q))
    R_D = _array(archive, "R_D", (repetitions, rows, q))
    weights = _array(archive, "weights", (rows,)) if "weights" in archive else None
    influence = (
        _array(archive, "influence", (repetitions, rows, q)) if "influence" in archive else None
    )
    least_squares = archive["least_squares"]
    _require(least_squares.dtype == bool and least_squares.shape == (repetitions,), "score")
    _require(weights is None or bool((weights >= 0).all()), "weights")
    covariance = _array(archive, "covariance", (q, q))
    _require(bool((np.diag(covariance) >= 0).all()), "covariance")
    df, seed = float(header["df"]), int(header["seed"])
    _require(0 < df < np.inf and seed >= 0, "header")
    return Inference(
        names=names,
        regressions=tuple(
            ResidualRegression(
                R_y[k],
                R_D[k],
                coef[k],
                weights,
                influence=None if influence is None else influence[k],
                least_squares=bool(least_squares[k]),
                noise=None if noise is None else float(noise[k]),
                noise_df=None if noise_df is None else float(noise_df[k]),
            )
            for k in range(repetitions)
        ),
        estimate=_array(archive, "estimate", (q,)),
        covariance=covariance,
        vcov_type=str(header["vcov_type"]),
        df=df,
        method=str(header["method"]),
        outcome=str(header["outcome"]),
        facts={str(k): str(v) for k, v in header["facts"].items()},
        notes=tuple(str(note) for note in header["notes"]),
        groups=_groups(archive, rows) if "groups" in archive else None,
        seed=seed,
    )


def _header(archive: Any) -> dict[str, Any]:
    _require(archive.zip.getinfo("header.npy").file_size < _HEADER_LIMIT, "header size")
    header = json.loads(archive["header"].tobytes().decode())
    found = (header.get("format"), header.get("version"))
    _require(found == (FORMAT, VERSION), f"format and version {found}")
    return dict(header)


def _array(archive: Any, name: str, shape: tuple[int | None, ...]) -> FloatArray:
    array = archive[name]
    fits = array.ndim == len(shape) and all(
        wanted in (None, size) for wanted, size in zip(shape, array.shape, strict=True)
    )
    _require(array.dtype == np.float64 and fits, name)
    _require(bool(np.isfinite(array).all()), name)
    return np.asarray(array, dtype=np.float64)


def _groups(archive: Any, rows: int) -> IntArray:
    groups = archive["groups"]
    fits = groups.ndim == 2 and groups.shape[0] == rows and groups.shape[1] in {1, 2}
    _require(groups.dtype == np.int64 and fits and bool((groups >= 0).all()), "groups")
    return np.asarray(groups, dtype=np.int64)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(f"unexpected {what}")
