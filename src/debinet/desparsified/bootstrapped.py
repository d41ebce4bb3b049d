"""The result of a bootstrap of the desparsified Lasso."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from debinet.data.options import share
from debinet.protocols import FloatArray


@dataclass(frozen=True, repr=False, eq=False)
class Bootstrapped:
    """Estimates with the bootstrap distribution of their studentized errors.

    Attributes
    ----------
    names : tuple of str
        Names of the p coefficients.
    estimate : FloatArray of shape (p,)
        Coefficients.
    error : FloatArray of shape (p,)
        Standard errors, by the same formula as in the refits.
    pivots : FloatArray of shape (replications, p)
        `(estimate* - coef) / error*` of every refit, with coef the Lasso of the original data.
    kind : str
        How noise was drawn.
    seed : int
        The `random_state` that repeats it.

    References
    ----------
    Dezeure, Buehlmann and Zhang (2017), High-dimensional simultaneous inference with the bootstrap,
    TEST 26.
    """

    names: tuple[str, ...]
    estimate: FloatArray
    error: FloatArray
    pivots: FloatArray
    kind: str
    seed: int

    def __post_init__(self) -> None:
        for name in ("estimate", "error", "pivots"):
            own = getattr(self, name).copy()
            own.flags.writeable = False
            object.__setattr__(self, name, own)

    @property
    def coef(self) -> pd.Series:
        """Coefficients by name."""
        return self._series(self.estimate, "coef")

    @property
    def se(self) -> pd.Series:
        """Standard errors by name."""
        return self._series(self.error, "se")

    @property
    def pvalue(self) -> pd.Series:
        """Two-sided p-values of `coef = 0` by name, at least `1 / (replications + 1)`."""
        exceeding = (np.abs(self.pivots) >= np.abs(self.estimate / self.error)).sum(axis=0)
        return self._series((1 + exceeding) / (1 + len(self.pivots)), "pvalue")

    @property
    def adjusted_pvalue(self) -> pd.Series:
        """P-values adjusted for testing all coefficients: Westfall and Young's step-down max-T."""
        observed = np.abs(self.estimate / self.error)
        order = np.argsort(-observed, kind="stable")
        # Step k compares with the maximum over the hypotheses not yet rejected: k, k + 1, ...
        tails = np.maximum.accumulate(np.abs(self.pivots)[:, order[::-1]], axis=1)[:, ::-1]
        stepwise = (1 + (tails >= observed[order]).sum(axis=0)) / (1 + len(self.pivots))
        adjusted = np.empty(order.size)
        adjusted[order] = np.maximum.accumulate(stepwise)
        return self._series(adjusted, "adjusted pvalue")

    def confint(self, level: float = 0.95, joint: bool = False) -> pd.DataFrame:
        """Return intervals with columns `lower` and `upper`.

        Parameters
        ----------
        level : float
            Confidence level.
        joint : bool
            False: each interval covers with probability `level`; its two tails are quantiles of the
            coefficient's pivots. True: all intervals cover together, by the largest pivot.
        """
        share("level", level, "Use level=0.95 for 95 % intervals.")
        if joint:
            high = np.quantile(np.abs(self.pivots).max(axis=1), level)
            low = -high
        else:
            low, high = np.quantile(self.pivots, [(1 - level) / 2, (1 + level) / 2], axis=0)
        bounds = {
            "lower": self.estimate - high * self.error,
            "upper": self.estimate - low * self.error,
        }
        return pd.DataFrame(bounds, index=pd.Index(self.names, dtype=object))

    def to_frame(self, level: float = 0.95, joint: bool = False) -> pd.DataFrame:
        """Return coef, se, both p-values, lower and upper, one row per coefficient."""
        columns = {s.name: s for s in (self.coef, self.se, self.pvalue, self.adjusted_pvalue)}
        return pd.DataFrame(columns).join(self.confint(level, joint))

    def __repr__(self) -> str:
        replications, p = self.pivots.shape
        return f"<Bootstrapped: {p} coefficient(s), {replications} {self.kind} replications>"

    def _series(self, values: FloatArray, name: str) -> pd.Series:
        return pd.Series(values.copy(), index=pd.Index(self.names, dtype=object), name=name)
