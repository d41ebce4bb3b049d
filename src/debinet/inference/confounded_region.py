"""All coefficients at once: where a confounder of given strength can move them together.

If the confounder explains the share `cf_y` of the variance of the outcome's noise, and `cf_d` is
the largest squared canonical correlation that it has with the residuals of the treatments,

    (coef - b)'S (coef - b) <= rho^2 cf_y cf_d / (1 - cf_d) sigma2,    S = E R_D R_D'

for the coefficients b that one would have with it: an ellipsoid. A single confounder that acts
linearly puts b on its surface. The bounds of single coefficients are the sides of the box around
it, so the ellipsoid says more: not all coefficients can be at their bounds together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from debinet.data.arrays import freeze_arrays
from debinet.inference.benchmarks import Explained
from debinet.inference.hypotheses import wald_test
from debinet.inference.robustness import (
    extreme_robustness_value,
    robustness_value,
    squared_strength,
)
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class ConfoundedRegion:
    """The ellipsoid of coefficients that a confounder of given strength can lead to.

    Attributes
    ----------
    names : tuple of str
    center : FloatArray of shape (q,)
        The estimates.
    S : FloatArray of shape (q, q)
        Second moments of the residuals of the treatments.
    radius2 : float
        `rho^2 cf_y cf_d / (1 - cf_d) sigma2`; within, `(center - b)'S (center - b) <= radius2`.
    """

    names: tuple[str, ...]
    center: FloatArray
    S: FloatArray
    radius2: float

    def __post_init__(self) -> None:
        freeze_arrays(self, center="q", S="q q")

    def distance(self, coef: FloatArray) -> float:
        """Return `(center - coef)'S (center - coef) / radius2`: at most 1 within the region."""
        shift = self.center - coef
        inner = float(shift @ self.S @ shift)
        return inner / self.radius2 if self.radius2 > 0 else (np.inf if inner > 0 else 0.0)

    def __contains__(self, coef: object) -> bool:
        # A point of the surface is in it, rounding or not.
        return self.distance(np.asarray(coef, dtype=np.float64)) <= 1 + 1e-9

    def box(self) -> pd.DataFrame:
        """Return the sides of the box around it, with columns `lower` and `upper`."""
        half = np.sqrt(self.radius2 * np.diag(np.linalg.inv(self.S)))
        bounds = {"lower": self.center - half, "upper": self.center + half}
        return pd.DataFrame(bounds, index=pd.Index(self.names, dtype=object))

    def outline(self, first: str, second: str, points: int = 181) -> pd.DataFrame:
        """Return points on the outline of its shadow in the plane of two coefficients."""
        pair = [self.names.index(first), self.names.index(second)]
        shadow = np.linalg.inv(self.S)[np.ix_(pair, pair)]
        angle = np.linspace(0, 2 * np.pi, points)
        circle = np.sqrt(self.radius2) * np.column_stack([np.cos(angle), np.sin(angle)])
        outline = self.center[pair] + circle @ np.linalg.cholesky(shadow).T
        return pd.DataFrame(outline, columns=[first, second])


@dataclass(frozen=True)
class JointRobustness:
    """How strong a confounder must be for `R coef = r` to hold.

    Attributes
    ----------
    hypotheses : int
        Number of rows of R.
    f2 : float
        `(R coef - r)'(R S^-1 R')^-1 (R coef - r) / (sigma2 rho^2)`.
    rv : float
        The share of both sides that it must explain: of the noise of the outcome, and, as the
        largest squared canonical correlation, of the treatments.
    xrv : float
        The share of the treatments if it explains all the noise of the outcome.
    """

    hypotheses: int
    f2: float
    rv: float
    xrv: float


def joint_robustness(
    explained: Explained, R: FloatArray, r: FloatArray, rho: float = 1.0
) -> JointRobustness:
    """Return the robustness values of `R coef = r`, R (m, q) of full row rank."""
    # A Wald statistic, not divided by the number of hypotheses, with `sigma2 S^-1` as covariance.
    covariance = np.asarray(explained.sigma2 * np.linalg.inv(explained.S))
    test = wald_test(explained.coef, covariance, 1.0, R, r)
    strength = np.sqrt(np.array(test.statistic * test.df_num))
    f2 = squared_strength(strength, rho)
    rv, xrv = robustness_value(f2), extreme_robustness_value(f2)
    return JointRobustness(test.df_num, float(f2), float(rv), float(xrv))
