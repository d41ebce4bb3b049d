"""The result of several random splits: their aggregate, and the result of the first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from debinet.data.options import share
from debinet.exceptions import OptionError, SplitsError
from debinet.inference.multisplit import MultiSplit
from debinet.inference.provenance import Provenance
from debinet.inference.result import Inference
from debinet.inference.shown import Shown
from debinet.inference.summary_lines import result_title, summary_lines
from debinet.inference.trust import Trust
from debinet.inference.trust_check import Check


@dataclass(frozen=True, repr=False, eq=False)
class SplitInference(Shown):
    """Coefficients of the features that several random splits selected, aggregated.

    Every split selects features on some of the rows and estimates their coefficients on the
    others. Coefficients are medians over the splits that selected the feature. P-values are
    combined so that the chance of any false rejection is bounded, and intervals are the values that
    the combined test does not reject. Such coefficients have no covariance; `first` has that of the
    first split.

    Attributes
    ----------
    splits : MultiSplit
        The estimates of every split.
    first : Inference
        Result of the first split, whose model predicts.
    names : tuple of str
        Features that any split selected, those with the smallest p-values first.
    frequency, coef, pvalue : Series
        Share of the splits that selected each of them, its coefficient and p-value.
    provenance, notes, n
        Of the first split: how it was computed, warnings, and the rows of estimation.

    References
    ----------
    Meinshausen, Meier and Buehlmann (2009), p-values for high-dimensional regression, JASA 104.
    """

    splits: MultiSplit
    first: Inference

    @property
    def provenance(self) -> Provenance:  # type: ignore[override]
        """How the first split was computed."""
        return self.first.provenance

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """Warnings of the first split."""
        return tuple(f"in the first split, {note}" for note in self.first.notes)

    @property
    def n(self) -> int:
        """Rows on which the first split estimated."""
        return self.first.n

    @property
    def names(self) -> tuple[str, ...]:
        """Features that any split selected."""
        return tuple(self.coef.index)

    @property
    def frequency(self) -> pd.Series:
        """Share of the splits that selected each feature."""
        return self._column("frequency")

    @property
    def coef(self) -> pd.Series:
        """Median of the coefficients over the splits that selected the feature."""
        return self._column("coef")

    @property
    def pvalue(self) -> pd.Series:
        """Combined p-values of `coef = 0`."""
        return self._column("pvalue")

    # As in `Inference`.
    params, pvalues, nobs = coef, pvalue, n

    def confint(self, level: float = 0.95) -> pd.DataFrame:
        """Return intervals with columns `lower` and `upper`; infinite where few splits agree."""
        share("level", level, "Use level=0.95 for 95 % intervals.")
        return self.splits.confint(level).loc[list(self.names)]

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return intervals of level `1 - alpha`, as statsmodels does."""
        return self.confint(1 - alpha)

    def to_frame(self, level: float = 0.95, joint: bool = False) -> pd.DataFrame:
        """Return frequency, coef, pvalue, lower and upper, one row per feature."""
        _require_pointwise(joint)
        share("level", level, "Use level=0.95 for 95 % intervals.")
        return self.splits.to_frame(level)

    def lines(self, level: float = 0.95, joint: bool = False) -> dict[str, str]:
        """Return what was run, by label."""
        _require_pointwise(joint)
        of_first = summary_lines(self.first, level, joint)
        kept = ("model", "learner", "cross-fitting", "method", "clusters", "target")
        lines = {label: of_first[label] for label in kept if label in of_first}
        selected = self.provenance.selection
        if selected is not None:
            lines["selection"] = (
                f"{selected.selector}: {len(self.names)} of {selected.offered} features ever, "
                f"{selected.chosen} in the first split"
            )
            lines["rows"] = f"{selected.rows} select and {self.n} estimate in the first split"
        lines["splits"] = (
            f"{self.splits.splits}, drawn at random: coefficients are medians over the splits that "
            "selected the feature"
        )
        lines["p-values"] = "combined over splits, adjusted for all selected features"
        lines["intervals"] = f"{100 * level:g} %, values that the combined test does not reject"
        return lines

    def one_fit(self) -> Inference:
        """Return the result of the first split."""
        return self.first

    @property
    def caption(self) -> str:
        """What a table of the result is called."""
        return self.title

    @property
    def title(self) -> str:
        """Heading of the summary."""
        return f"{result_title(self.provenance)}, aggregate of {self.splits.splits} splits"

    def trust(self) -> Trust:
        """Return the checks of the first split, and how far the splits agree on the features."""
        found, often = self.first.trust(), int((self.frequency >= 0.5).sum())
        count = self.splits.splits
        splits = Check(
            "several splits",
            "ok",
            f"{often} of {len(self.names)} features were selected in at least half of the {count} "
            "splits; the other checks are of the first",
        )
        return replace(found, checks=(splits, *found.checks))

    def __getattr__(self, name: str) -> Any:
        # Only called for what is not defined here.
        of_one = name in Inference.__dataclass_fields__ or hasattr(Inference, name)
        if of_one and not name.startswith("_"):
            raise SplitsError(
                "what several splits have together: coef, pvalue, frequency, confint, to_frame",
                f"{name!r}, which needs the covariance of one split",
                f"Use result_.first.{name} for the first split.",
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<SplitInference: {len(self.names)} feature(s), {self.splits.splits} splits>"

    def _column(self, name: str) -> pd.Series:
        return self.splits.ranked()[name]


def _require_pointwise(joint: bool) -> None:
    if joint:
        raise OptionError(
            "joint=False for the aggregate of several splits",
            "joint=True",
            "Its p-values allow for all features already; result_.first has joint intervals.",
        )
