"""What a result with instruments says about their strength, and sets that do not rely on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import stats

from debinet.data.options import number_array, share
from debinet.exceptions import (
    CovarianceError,
    InputError,
    NoInstrumentsError,
    OptionError,
    UnknownColumnError,
)
from debinet.inference.anderson_rubin import InstrumentMoments, moments_of
from debinet.inference.ar_sets import confidence_set
from debinet.inference.first_stage import FirstStage, first_stage
from debinet.inference.instrumented import InstrumentedRegression
from debinet.inference.interval_union import IntervalUnion
from debinet.inference.jackknife_ar import jackknife_moments, jackknife_set
from debinet.inference.overidentification import OveridentificationTest, overidentification
from debinet.inference.tf_interval import LEVEL, tf_critical_value
from debinet.protocols import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from debinet.inference.result import Inference


@dataclass(frozen=True)
class AndersonRubinTest:
    """Result of a test that needs no strong instruments.

    Attributes
    ----------
    statistic : float
        Chi-squared with `df` degrees of freedom if the coefficients are as stated, or, with the
        jackknife, standard normal: then `df` is 0 and large values speak against them.
    df : int
    pvalue : float
    """

    statistic: float
    df: int
    pvalue: float


@dataclass(frozen=True, eq=False, repr=False)
class InstrumentTests:
    """Tests of a result with instruments, under its covariance: `result.iv`.

    With another covariance, `result.with_vcov("iid").iv`, all of them are under that one. With
    repetitions of cross-fitting, statistics are medians, and a value belongs to a set if at least
    half of the repetitions accept it.

    Attributes
    ----------
    result : Inference
    """

    result: Inference

    @cached_property
    def _fits(self) -> tuple[InstrumentedRegression, ...]:
        fits = tuple(f for f in self.result.regressions if isinstance(f, InstrumentedRegression))
        if not fits:
            raise NoInstrumentsError(
                "a result with instruments", "one without", "Fit with instruments=[...]."
            )
        return fits

    @property
    def endogenous(self) -> tuple[str, ...]:
        """Names of the endogenous treatments."""
        flags = self._fits[0].endogenous
        return tuple(name for name, own in zip(self.result.names, flags, strict=True) if own)

    def first_stage(self) -> pd.DataFrame:
        """Return the strength of the instruments, a row per endogenous treatment.

        Columns are `partial R2`, `F` and its `pvalue`; with one endogenous treatment `effective F`
        (Montiel Olea and Pflueger 2013), which should exceed `critical`. With several, F is the
        conditional one of Sanderson and Windmeijer (2016).
        """
        rows = {name: vars(self._stage(name)) for name in self.endogenous}
        frame = pd.DataFrame.from_dict(rows, orient="index")
        return frame.rename(columns={"partial_r2": "partial R2", "effective_f": "effective F"})

    def tf(self) -> pd.DataFrame:
        """Return 95 % intervals by the tF procedure, for one instrument and one treatment.

        Columns are `coef`, `F`, `critical` (in place of 1.96), `lower` and `upper`. Lee, McCrary,
        Moreira and Porter (2022).
        """
        fit = self._fits[0]
        if fit.R_W.shape[1] > 1 or fit.endogenous.sum() > 1:
            raise OptionError(
                "one instrument and one endogenous treatment for tF",
                f"{fit.R_W.shape[1]} and {int(fit.endogenous.sum())}",
                "Use confidence_set(), which is for any number.",
            )
        name = self.endogenous[0]
        F = self._stage(name).F
        coef, c = self.result.coef[name], tf_critical_value(F)
        half = c * self.result.se[name]
        row = {"coef": coef, "F": F, "critical": c, "lower": coef - half, "upper": coef + half}
        return pd.DataFrame(row, index=[name])

    def overidentification(self) -> OveridentificationTest | None:
        """Return Sargan's test (covariance "iid") or Hansen's J; None without spare instruments."""
        found = [
            overidentification(fit, self.result.vcov_type, self.result.groups) for fit in self._fits
        ]
        tests = [one for one in found if one is not None]
        if not tests:
            return None
        statistic = float(np.median([one.statistic for one in tests]))
        df = tests[0].df
        return OveridentificationTest(
            tests[0].name, statistic, df, float(stats.chi2.sf(statistic, df))
        )

    def anderson_rubin(self, coef: Any = 0.0) -> AndersonRubinTest:
        """Test that the coefficients of all endogenous treatments have given values.

        Parameters
        ----------
        coef : float, array or mapping by name
            The values, by default zero.
        """
        values = self._values(coef)
        moments = self._moments()
        statistic = float(np.median([one.statistic(values) for one in moments]))
        k = moments[0].k
        return AndersonRubinTest(statistic, k, float(stats.chi2.sf(statistic, k)))

    def confidence_set(
        self, level: float = LEVEL, treatments: Sequence[str] | None = None
    ) -> pd.Series:
        """Return Anderson-Rubin sets by name: values that are not rejected, however weak.

        Sets may be unions of intervals, unbounded (the instruments are too weak to say more) or
        empty (the model does not fit: see `overidentification`). With several endogenous
        treatments they are projections, which are conservative.

        Parameters
        ----------
        level : float
        treatments : sequence of str, optional
            Of these only; by default of all.
        """
        share("level", level, "Use level=0.95 for 95 % sets.")
        wanted = list(self.result.names if treatments is None else treatments)
        for name in wanted:
            if name not in self.result.names:
                raise UnknownColumnError(
                    "treatments of the result",
                    repr(name),
                    f"They are {', '.join(self.result.names)}.",
                )
        sets = [self._set(self.result.names.index(name), level) for name in wanted]
        return pd.Series(sets, index=wanted, name="AR set", dtype=object)

    def jackknife_ar(self, coef: float = 0.0) -> AndersonRubinTest:
        """Test one coefficient with many instruments (Mikusheva and Sun 2022).

        Errors may have any variances, but rows are taken as independent.
        """
        self._require_independent_rows()
        found = [jackknife_moments(fit).statistic(float(coef)) for fit in self._fits]
        statistic = float(np.median(found))
        return AndersonRubinTest(statistic, 0, float(stats.norm.sf(statistic)))

    def jackknife_set(self, level: float = LEVEL) -> IntervalUnion:
        """Return the values that the jackknifed test does not reject."""
        share("level", level, "Use level=0.95 for 95 % sets.")
        self._require_independent_rows()
        return jackknife_set([jackknife_moments(fit) for fit in self._fits], level)

    def plot(self, level: float = LEVEL, *, ax: Axes | None = None) -> Axes:
        """Draw Anderson-Rubin sets beside the intervals of the result, and return the axes."""
        from debinet.report.weak_forest import weak_forest

        found = self.confidence_set(level)
        sets = {name: found[name].intervals for name in self.result.names}
        label = f"effect on {self.result.outcome}, {100 * level:g} %"
        return weak_forest(self.result.to_frame(level), sets, ax=ax, label=label)

    def _require_independent_rows(self) -> None:
        if self.result.vcov_type == "cluster":
            raise CovarianceError(
                "independent rows for the jackknifed Anderson-Rubin test",
                "clusters",
                "Use confidence_set(), or with_vcov('HC1') if rows are independent.",
            )

    def _moments(self, wanted: int | None = None) -> list[InstrumentMoments]:
        kind, groups = self.result.vcov_type, self.result.groups
        return [moments_of(fit, kind, groups, wanted) for fit in self._fits]

    def _stage(self, name: str) -> FirstStage:
        """Return the medians of the first stage over repetitions."""
        found = [first_stage(one) for one in self._moments(self.result.names.index(name))]
        return FirstStage(
            **{key: float(np.median([vars(one)[key] for one in found])) for key in vars(found[0])}
        )

    def _set(self, j: int, level: float) -> IntervalUnion:
        inside = np.flatnonzero(self._fits[0].endogenous)
        order = np.concatenate([[j], inside[inside != j]])
        center = self.result.estimate[order]
        scale = np.sqrt(np.diag(self.result.covariance))[order]
        return confidence_set(self._moments(j), level, center, scale, self.result.vcov_type)

    def _values(self, coef: Any) -> FloatArray:
        names = self.endogenous
        if isinstance(coef, (Mapping, pd.Series)):
            missing = [name for name in names if name not in coef]
            if missing:
                raise InputError(
                    f"values of {', '.join(names)}", f"none of {missing[0]!r}", "Add it."
                )
            coef = [coef[name] for name in names]
        if np.ndim(coef) == 0:
            coef = np.full(len(names), coef)
        return number_array("coef", coef, (len(names),))

    def __repr__(self) -> str:
        return f"<InstrumentTests: {', '.join(self.endogenous)}>"
