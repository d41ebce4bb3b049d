"""Sums of a streamed regression in parts that files can hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from debinet.data.archive import read_array, require
from debinet.inference.summed import SummedRegression

_ARRAYS = ("coef", "gram", "top", "R_y", "R_D")


def summed_parts(fit: SummedRegression) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return plain values, and arrays."""
    header = {"n": fit.n, "df": {kind: float(df) for kind, df in fit.df.items()}}
    arrays: dict[str, Any] = {name: getattr(fit, name) for name in _ARRAYS}
    arrays["top_row"] = fit.top_row
    if fit.weights is not None:
        arrays["weights"] = fit.weights
    arrays |= {f"vcov_{kind}": value for kind, value in fit.covariances.items()}
    return header, arrays


def rebuild_summed(header: dict[str, Any], archive: Any, q: int) -> SummedRegression:
    """Return the record, or raise if something is amiss."""
    R_y = read_array(archive, "R_y", (None,))
    rows = R_y.size
    kinds = [str(kind) for kind in header["df"]]
    top_row = archive["top_row"]
    require(top_row.dtype == np.int64 and top_row.shape == (q,), "top_row")
    df = {kind: float(header["df"][kind]) for kind in kinds}
    require(all(0 < value < np.inf for value in df.values()) and int(header["n"]) > q, "sizes")
    return SummedRegression(
        n=int(header["n"]),
        coef=read_array(archive, "coef", (q,)),
        gram=read_array(archive, "gram", (q, q)),
        covariances={kind: read_array(archive, f"vcov_{kind}", (q, q)) for kind in kinds},
        df=df,
        top=read_array(archive, "top", (q,)),
        top_row=top_row,
        R_y=R_y,
        R_D=read_array(archive, "R_D", (rows, q)),
        weights=read_array(archive, "weights", (rows,)) if "weights" in archive else None,
    )
