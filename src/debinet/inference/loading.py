"""Read results that `storage` wrote, and nothing else."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from debinet.data.archive import read_archive, read_array, require
from debinet.inference.evidence import Deferred, Evidence
from debinet.inference.regression import ResidualRegression
from debinet.inference.result import Inference
from debinet.inference.storage import EVIDENCE, KIND
from debinet.inference.summed_storage import rebuild_summed
from debinet.protocols import IntArray, StoppingCurve


def load_result(path: str | PathLike[str]) -> Inference:
    """Read a result that `Inference.save` wrote; safe with files from strangers."""
    return read_archive(path, KIND, rebuild)


def rebuild(header: dict[str, Any], archive: Any) -> Inference:
    """Return the result that `result_parts` took apart, or raise if something is amiss."""
    names = tuple(str(name) for name in header["names"])
    q = len(names)
    regressions = (
        (rebuild_summed(header["summed"], archive, q),)
        if "summed" in header
        else _regressions(archive, q)
    )
    covariance = read_array(archive, "covariance", (q, q))
    require(bool((np.diag(covariance) >= 0).all()), "covariance")
    df, seed = float(header["df"]), int(header["seed"])
    require(0 < df < np.inf and seed >= 0, "header")
    return Inference(
        names=names,
        regressions=regressions,
        estimate=read_array(archive, "estimate", (q,)),
        covariance=covariance,
        vcov_type=str(header["vcov_type"]),
        df=df,
        method=str(header["method"]),
        outcome=str(header["outcome"]),
        facts={str(k): str(v) for k, v in header["facts"].items()},
        notes=tuple(str(note) for note in header["notes"]),
        groups=_groups(archive, regressions[0].R_y.size) if "groups" in archive else None,
        seed=seed,
        evidence=_evidence(header, archive, q) if "evidence" in header else None,
    )


def _regressions(archive: Any, q: int) -> tuple[ResidualRegression, ...]:
    R_y = read_array(archive, "R_y", (None, None))
    repetitions, rows = R_y.shape
    noise, noise_df = (
        read_array(archive, name, (repetitions,)) if name in archive else None
        for name in ("noise", "noise_df")
    )
    require(all(v is None or bool((v >= 0).all()) for v in (noise, noise_df)), "noise")
    # only a noise level of its own allows for more coefficients than rows
    require(repetitions > 0 and q >= 0 and (rows > q or noise_df is not None), "sizes")
    coef = read_array(archive, "coef", (repetitions, q))
    R_D = read_array(archive, "R_D", (repetitions, rows, q))
    weights = read_array(archive, "weights", (rows,)) if "weights" in archive else None
    influence, D_noise, error = (
        read_array(archive, name, (repetitions, *shape)) if name in archive else None
        for name, shape in (("influence", (rows, q)), ("D_noise", (q,)), ("error", (q, q)))
    )
    least_squares = archive["least_squares"]
    require(least_squares.dtype == bool and least_squares.shape == (repetitions,), "score")
    require(weights is None or bool((weights >= 0).all()), "weights")
    return tuple(
        ResidualRegression(
            R_y[k],
            R_D[k],
            coef[k],
            weights,
            influence=None if influence is None else influence[k],
            least_squares=bool(least_squares[k]),
            noise=None if noise is None else float(noise[k]),
            noise_df=None if noise_df is None else float(noise_df[k]),
            D_noise=None if D_noise is None else D_noise[k],
            error=None if error is None else error[k],
        )
        for k in range(repetitions)
    )


def _evidence(header: dict[str, Any], archive: Any, q: int) -> Deferred:
    names = tuple(str(name) for name in header["evidence"]["leftover_names"])
    found = {
        name: read_array(archive, f"evidence_{name}", (len(names) if extra is None else q + extra,))
        for name, extra in EVIDENCE.items()
        if f"evidence_{name}" in archive
    }
    require({"total", "leftover"} <= set(found), "evidence")
    features = tuple(str(name) for name in header.get("relevance", ()))
    return Deferred(
        Evidence(
            in_sample=bool(header["evidence"]["in_sample"]),
            total=found["total"],
            heldout=found.get("heldout"),
            trained=found.get("trained"),
            other_coef=found.get("other_coef"),
            other_se=found.get("other_se"),
            leftover=found["leftover"],
            leftover_names=names,
            stopping=_stopping(header["stopping"], archive, q) if "stopping" in header else None,
            relevance=read_array(archive, "relevance", (len(features),)) if features else None,
            relevance_names=features,
        )
    )


def _stopping(header: dict[str, Any], archive: Any, q: int) -> StoppingCurve:
    x = read_array(archive, "stopping_x", (None, q + 1))
    value = read_array(archive, "stopping_value", x.shape)
    chosen = read_array(archive, "stopping_chosen", (q + 1,))
    return StoppingCurve(str(header["along"]), str(header["measure"]), x, value, chosen)


def _groups(archive: Any, rows: int) -> IntArray:
    groups = archive["groups"]
    fits = groups.ndim == 2 and groups.shape[0] == rows and groups.shape[1] in {1, 2}
    require(groups.dtype == np.int64 and fits and bool((groups >= 0).all()), "groups")
    return np.asarray(groups, dtype=np.int64)
