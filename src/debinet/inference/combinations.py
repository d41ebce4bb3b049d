"""Linear combinations of estimates, with intervals for each and for all at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import stats

from debinet.data.arrays import freeze_arrays
from debinet.data.options import share
from debinet.inference.simultaneous import critical_value
from debinet.protocols import FloatArray

if TYPE_CHECKING:
    from debinet.inference.result import Inference


@dataclass(frozen=True)
class Combinations:
    """Estimates of `R coef`.

    Attributes
    ----------
    estimate : FloatArray of shape (m,)
    covariance : FloatArray of shape (m, m)
    df : float
        Degrees of freedom of the t distribution.
    seed : int
        On which joint intervals depend.
    """

    estimate: FloatArray
    covariance: FloatArray
    df: float
    seed: int

    def __post_init__(self) -> None:
        freeze_arrays(self, estimate="m", covariance="m m")

    @classmethod
    def of(cls, result: Inference, R: FloatArray) -> Combinations:
        """Return `R coef`, `R` of shape (m, q)."""
        covariance = R @ result.covariance @ R.T
        return cls(R @ result.estimate, covariance, result.df, result.seed)

    @property
    def se(self) -> FloatArray:
        """Standard errors (m,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def reach(self, level: float, *, joint: bool) -> float:
        """Return half the length of intervals, in standard errors."""
        share("level", level, "Use level=0.95 for 95 % intervals.")
        if joint and self.estimate.size > 1:
            used = self.se > 0
            return critical_value(self.covariance[np.ix_(used, used)], self.df, level, self.seed)
        return float(stats.t.ppf((1 + level) / 2, self.df))

    def to_frame(self, level: float = 0.95, joint: bool = False) -> pd.DataFrame:
        """Return coef, se, statistic, pvalue, lower and upper."""
        se, half = self.se, self.reach(level, joint=joint) * self.se
        with np.errstate(divide="ignore", invalid="ignore"):
            statistic = self.estimate / se
        return pd.DataFrame(
            {
                "coef": self.estimate,
                "se": se,
                "statistic": statistic,
                "pvalue": 2 * stats.t.sf(np.abs(statistic), self.df),
                "lower": self.estimate - half,
                "upper": self.estimate + half,
            }
        )
