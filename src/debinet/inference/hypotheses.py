"""Wald tests of linear hypotheses `R coef = r`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from debinet.exceptions import CovarianceError, InputError, OptionError
from debinet.inference.constraints import read_constraints
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class WaldTest:
    """Result of a Wald test.

    Attributes
    ----------
    statistic : float
        Wald statistic divided by the number of hypotheses: F distributed.
    df_num, df_denom : float
        Degrees of freedom of the F distribution.
    pvalue : float
        Probability of a larger statistic if the hypotheses hold.
    """

    statistic: float
    df_num: int
    df_denom: float
    pvalue: float


def read_hypotheses(R: Any, r: Any, names: tuple[str, ...]) -> tuple[FloatArray, FloatArray]:
    """Return R (m, q) and r (m,) from arrays, a frame by name, equations as text, or None.

    Names alone stand for "this coefficient is zero", None for "all are".
    """
    texts = _texts(R)
    if texts is None:
        matrix = _hypothesis_matrix(R, names)
        return matrix, right_hand_side(r, len(matrix))
    read = read_constraints(texts, names)
    if r is None:
        return read.R, read.r
    if read.equations:
        raise OptionError(
            "right-hand sides either in the equations or as r", f"both, r={r!r:.40}", "Leave r out."
        )
    return read.R, right_hand_side(r, len(read.R))


def _texts(R: Any) -> list[str] | None:
    """Return hypotheses that are text; None if they are numbers."""
    if isinstance(R, str):
        return [R]
    if R is None or isinstance(R, (pd.Series, pd.DataFrame, Mapping)) or not np.iterable(R):
        return None
    return list(R) if all(isinstance(text, str) for text in R) else None


def _hypothesis_matrix(R: Any, names: tuple[str, ...]) -> FloatArray:
    if R is None:
        return np.eye(len(names))
    if isinstance(R, (pd.Series, Mapping)):
        R = pd.DataFrame([dict(R)])
    if isinstance(R, pd.DataFrame):
        _require_known([str(column) for column in R.columns], names)
        return _numbers(R.reindex(columns=list(names), fill_value=0.0))
    return np.atleast_2d(_numbers(R))


def right_hand_side(r: Any, count: int) -> FloatArray:
    """Return r of shape (count,) from a number or an array, zero if left out."""
    values = np.zeros(count) if r is None else _numbers(r)
    return np.full(count, float(values)) if values.ndim == 0 else values


def _numbers(values: Any) -> FloatArray:
    try:
        return np.asarray(values).astype(np.float64, casting="same_kind")
    except (TypeError, ValueError) as error:
        raise InputError(
            "hypotheses as numbers, or as equations such as 'a = b'",
            f"{values!r:.80}",
            "Give one row of R per hypothesis and one column per coefficient.",
        ) from error


def _require_known(wanted: Sequence[str], names: tuple[str, ...]) -> None:
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise OptionError(f"names among {list(names)[:8]}", repr(unknown[0]), "Check the spelling.")


def wald_test(
    coef: FloatArray, covariance: FloatArray, df: float, R: FloatArray, r: FloatArray
) -> WaldTest:
    """Test `R coef = r`, with `R` of shape (m, q) and full row rank, `r` of shape (m,)."""
    if R.ndim != 2 or R.shape[1] != coef.size or r.shape != (R.shape[0],):
        raise InputError(
            f"R with {coef.size} columns (one per coefficient) and r with one entry per row of R",
            f"shapes {R.shape} and {r.shape}",
            "Give one row of R per hypothesis.",
        )
    if not (np.isfinite(R).all() and np.isfinite(r).all()):
        raise InputError("finite R and r", "NaN or infinity", "Check the hypotheses.")
    if not R.size:
        raise InputError(
            "at least one hypothesis on at least one coefficient",
            f"{R.shape[0]} on {coef.size}",
            "There is nothing to test in an empty result.",
        )
    rank = np.linalg.matrix_rank(R)
    if rank < R.shape[0]:
        raise InputError(
            "hypotheses that do not repeat each other",
            f"{R.shape[0]} rows of rank {rank}",
            "Drop the redundant rows of R.",
        )
    distance = R @ coef - r
    _require_definite(R @ covariance @ R.T, int(rank))
    statistic = float(distance @ np.linalg.solve(R @ covariance @ R.T, distance)) / int(rank)
    return WaldTest(statistic, int(rank), df, float(stats.f.sf(statistic, rank, df)))


def _require_definite(covariance: FloatArray, count: int) -> None:
    """Require a covariance of the hypotheses that can be inverted.

    With few clusters it has fewer positive eigenvalues than hypotheses, and the two-way formula
    can give negative ones: a Wald statistic would then be noise, or negative.
    """
    scale = np.sqrt(np.diag(covariance))
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.linalg.eigvalsh(np.nan_to_num(covariance / np.outer(scale, scale))).min()
    if not least > 1e-10:
        raise CovarianceError(
            f"a covariance in which {count} hypotheses can be told apart",
            f"one with relative eigenvalue {least:.1e}, as from fewer clusters than hypotheses",
            "Test fewer hypotheses at once, or use a covariance without clusters.",
        )
