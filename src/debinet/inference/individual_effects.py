"""`IndividualEffects`: the effect in every row by the wide network, and whether to believe it."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import stats

from debinet.data.arrays import require
from debinet.data.options import share
from debinet.data.records import save_object
from debinet.inference.effect_surface import EffectSurface
from debinet.inference.infer import infer
from debinet.inference.methods import pooled
from debinet.inference.result import Inference
from debinet.inference.summary_lines import summary_lines
from debinet.report import tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, repr=False, eq=False)
class IndividualEffects:
    """Effects tau(Z) of one treatment in `y = D tau(Z) + f(Z) + e`, tau a wide network.

    tau is a Gaussian process with the network's kernel, whose size maximizes the restricted
    likelihood; it is constant if nothing suggests otherwise. Every row has the posterior of a fit
    without it.

    Attributes
    ----------
    result : Inference
        Of the partially linear model.
    treatment : str
    surface : EffectSurface
        Left-out posterior means and standard deviations.
    score_pvalue : float
        Of the score test that the effect is the same for all.
    """

    result: Inference
    treatment: str
    surface: EffectSurface
    score_pvalue: float

    def __post_init__(self) -> None:
        require(self.treatment in self.result.names, "treatment")
        require(self.surface.mean.size == self.result.regressions[0].R_y.size, "number of rows")

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return effect, se, lower and upper of every row of fit, each left out.

        Intervals are posterior: they hold on average over rows and effects like those that the
        prior expects, not for a single function in every row.
        """
        share("level", level, "Use level=0.95 for 95 % intervals.")
        half = float(stats.norm.ppf((1 + level) / 2)) * self.surface.se
        mean = self.surface.mean
        return pd.DataFrame(
            {"effect": mean, "se": self.surface.se, "lower": mean - half, "upper": mean + half}
        )

    def calibration(self) -> Inference:
        """Regress `R_y` on `R_D mean` and `R_D (tau - mean)`, tau left out: (1, 1) if it is right.

        The second coefficient is the share of the predicted differences that is real: 0 if there
        are none, below 1 if they are too large. Nothing of a constant tau can be calibrated.
        """
        fit = self.result.regressions[0].all_rows("calibration")
        j = self.result.names.index(self.treatment)
        tau, w = self.surface.mean, fit.w / fit.w.sum()
        mean = float(w @ tau)
        others = np.delete(fit.R_D, j, axis=1)
        own = fit.R_D[:, [j]] * np.column_stack([np.full(tau.size, mean), tau - mean])
        rest = tuple(name for name in self.result.names if name != self.treatment)
        names = ("mean effect", "differences", *rest)
        if not self.varies:
            own, names = own[:, :1], ("mean effect", *rest)
        groups = self.result.groups
        regression = pooled(fit.R_y, np.hstack([own, others]), fit.weights)
        return infer(
            [regression],
            names,
            "HC3" if groups is None else "cluster",
            self.result.provenance,
            groups=groups,
        )

    @property
    def varies(self) -> bool:
        """Whether the likelihood is larger with an effect that varies."""
        return self.surface.variance > 0

    def summary(self) -> str:
        """Return a short description as text."""
        calibrated = self.calibration()
        lines = summary_lines(self.result, 0.95, joint=False)
        lines = {name: lines[name] for name in ("rows", "learner", "method") if name in lines}
        lines["the same for all"] = f"score test, p = {tables.format_pvalue(self.score_pvalue)}"
        lines["calibration"] = ", ".join(
            f"{name} {calibrated.coef[name]:.2f} (se {calibrated.se[name]:.2f})"
            for name in calibrated.names
            if name in {"mean effect", "differences"}
        )
        quantiles = np.quantile(self.surface.mean, _SHOWN)
        frame = pd.DataFrame(
            {"effect": quantiles}, index=pd.Index([f"{100 * q:g} %" for q in _SHOWN], name="rows")
        )
        notes = [] if self.varies else ["the likelihood is largest with one effect for all"]
        return tables.summary_text(self.title, lines, frame, notes)

    @property
    def title(self) -> str:
        """Heading."""
        return f"Effect of {self.treatment} on {self.result.outcome} in every row"

    def plot(self, level: float = 0.95, *, ax: Axes | None = None) -> Axes:
        """Draw the effects of all rows, sorted, with their intervals; return the axes."""
        from debinet.report.effect_plots import plot_sorted

        average = float(self.result.coef[self.treatment])
        label = f"effect of {self.treatment} on {self.result.outcome}"
        return plot_sorted(self.to_frame(level), average, label=label, ax=ax)

    def save(self, path: str | PathLike[str]) -> None:
        """Write to `path`: JSON and arrays in one file, no pickle. See `dn.load`."""
        save_object(self, path)

    def __repr__(self) -> str:
        return f"<IndividualEffects: {self.title}, n={self.result.n}>"

    def __str__(self) -> str:
        return self.summary()
