"""Linear combinations of coefficients with pointwise and joint bands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import stats

from debinet.data.options import share
from debinet.inference.simultaneous import critical_value
from debinet.protocols import FloatArray

if TYPE_CHECKING:
    from debinet.inference.result import Inference

# A standard error that is this much smaller than the largest is that of a constant.
_CONSTANT = 1e-10


def bands(
    result: Inference,
    terms: Sequence[str],
    rows: FloatArray,
    index: pd.Index,
    *,
    label: str,
    level: float,
) -> pd.DataFrame:
    """Return `rows b` with bands.

    Parameters
    ----------
    result : Inference
    terms : sequence of str
        Names of the k coefficients b.
    rows : FloatArray of shape (m, k)
    index : Index of length m
    label : str
        Name of the first column.
    level : float

    Returns
    -------
    DataFrame with m rows
        `label`, se; lower, upper, pointwise; joint_lower, joint_upper, for all rows at once.
    """
    share("level", level, "Use level=0.95 for 95 % bands.")
    names = list(terms)
    values = rows @ result.coef[names].to_numpy()
    covariance = rows @ result.vcov.loc[names, names].to_numpy() @ rows.T
    se = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    free = np.flatnonzero(se > _CONSTANT * se.max())
    pointwise = joint = float(stats.t.ppf((1 + level) / 2, result.df))
    if free.size > 1:
        within = covariance[np.ix_(free, free)]
        # of low rank: with more rows than coefficients, a root by columns is the cheaper one
        joint = critical_value(within, result.df, level, result.seed, many=len(names))
    return pd.DataFrame(
        {
            label: values,
            "se": se,
            "lower": values - pointwise * se,
            "upper": values + pointwise * se,
            "joint_lower": values - joint * se,
            "joint_upper": values + joint * se,
        },
        index=index,
    )
