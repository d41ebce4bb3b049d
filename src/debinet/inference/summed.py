"""A residual regression whose rows were not kept: sums over them, and a sample for inspection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from debinet.data.arrays import freeze_arrays, require
from debinet.exceptions import CovarianceError
from debinet.inference.regression import LargestRow, ResidualRegression
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class SummedRegression:
    """What passes over the data have summed up of a regression of `R_y` on `R_D`.

    Attributes
    ----------
    n : int
        Number of rows of positive weight.
    coef : FloatArray of shape (q,)
    gram : FloatArray of shape (q, q)
        `R_D'W R_D` of all rows.
    covariances : mapping from str to FloatArray of shape (q, q)
        By name, all that were computed in the passes.
    df : mapping from str to float
        Degrees of freedom of each.
    top : FloatArray of shape (q,)
        The largest share that one row has in the weight behind each coefficient.
    top_row : IntArray of shape (q,)
        Which row that is.
    R_y, R_D : FloatArray of shapes (r,), (r, q)
        Residuals of a random sample of the rows.
    weights : FloatArray of shape (r,), optional
        Their weights.
    """

    n: int
    coef: FloatArray
    gram: FloatArray
    covariances: Mapping[str, FloatArray]
    df: Mapping[str, float]
    top: FloatArray
    top_row: IntArray
    R_y: FloatArray
    R_D: FloatArray
    weights: FloatArray | None = None

    def __post_init__(self) -> None:
        freeze_arrays(
            self, coef="q", gram="q q", top="q", top_row="q", R_y="r", R_D="r q", weights="r"
        )
        q = self.coef.size
        require(self.n > q and all(0 < df < np.inf for df in self.df.values()), "sizes")
        shapes = {value.shape for value in self.covariances.values()}
        require(shapes <= {(q, q)} and set(self.df) == set(self.covariances), "covariances")

    @cached_property
    def w(self) -> FloatArray:
        """Weights of the sampled rows, ones if there are none."""
        return np.ones(self.R_y.size) if self.weights is None else self.weights

    @property
    def residuals(self) -> FloatArray:
        """`R_y - R_D coef` of the sampled rows."""
        return self.R_y - self.R_D @ self.coef

    @property
    def scores(self) -> FloatArray:
        """Scores of the sampled rows, of shape (r, q)."""
        return (self.w * self.residuals)[:, None] * self.R_D

    def covariance(self, kind: str, groups: IntArray | None) -> FloatArray:  # noqa: ARG002
        """Return the covariance named `kind`; clusters are those of the fit."""
        if kind not in self.covariances:
            raise CovarianceError(
                "one of the covariances that were computed in the passes over the data: "
                f"{', '.join(self.covariances)}",
                repr(kind),
                "Fit again with groups=... for clusters: rows are not kept when data are streamed.",
            )
        # A copy, as the caller may change it.
        return self.covariances[kind].copy()

    def degrees_of_freedom(self, kind: str, groups: IntArray | None) -> float:  # noqa: ARG002
        """Return the degrees of freedom of the t distribution for this covariance."""
        return self.df[kind]

    def largest_row(self) -> LargestRow:
        """Return the row on which a single coefficient depends most."""
        j = int(np.argmax(self.top))
        return LargestRow(int(self.top_row[j]), j, float(self.top[j]))

    def all_rows(self, purpose: str) -> ResidualRegression:
        """Raise: rows are not kept."""
        raise CovarianceError(
            f"all rows, for {purpose}",
            "a result of streamed data, whose rows are not kept",
            "Give groups=... to the fit itself, or fit in memory.",
        )
