"""A residual regression whose rows were not kept: sums over them, and a sample to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from debinet.exceptions import CovarianceError
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class SummedRegression:
    """What passes over the data left of a regression of `R_y` on `R_D`.

    Attributes
    ----------
    n : int
        Number of rows that count.
    coef : FloatArray of shape (q,)
    gram : FloatArray of shape (q, q)
        `R_D'W R_D` of all rows.
    covariances : mapping from str to FloatArray of shape (q, q)
        By name, all that the passes have taken.
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

    @property
    def rows(self) -> int:
        """Not known: labels of all rows have no rows to belong to."""
        raise CovarianceError(
            "groups in the fit, as rows are not kept when data are streamed",
            "groups after it",
            "Fit again with groups=... .",
        )

    def covariance(self, kind: str) -> FloatArray:
        """Return the covariance named `kind`."""
        if kind not in self.covariances:
            raise CovarianceError(
                f"one of the covariances that the passes over the data took: "
                f"{', '.join(self.covariances)}",
                repr(kind),
                "Fit again with groups=... for clusters: rows are not kept when data are streamed.",
            )
        # An own copy: whoever aggregates may set flags.
        return self.covariances[kind].copy()
