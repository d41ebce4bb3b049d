"""The one result object of all models: coefficients, intervals, tests, tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from debinet.data.arrays import freeze_arrays, require
from debinet.data.options import share
from debinet.inference import simultaneous
from debinet.inference.change_vcov import change_vcov
from debinet.inference.dose_curve import DoseCurve, find_dose
from debinet.inference.honest import breakdown_norms
from debinet.inference.huber import make_robust
from debinet.inference.hypotheses import WaldTest, read_hypotheses, wald_test
from debinet.inference.instrument_tests import InstrumentTests
from debinet.inference.intervals import half_lengths
from debinet.inference.measurement_error import correct_result
from debinet.inference.provenance import Provenance
from debinet.inference.regression import Regression
from debinet.inference.residuals import outcome_residuals
from debinet.inference.scenario import Scenario
from debinet.inference.sensitivity import Sensitivity, assess_sensitivity
from debinet.inference.shown import Shown
from debinet.inference.summary_lines import summary_lines
from debinet.inference.trust import Trust, assess_trust
from debinet.inference.trust_evidence import DeferredEvidence
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True, repr=False, eq=False)
class Inference(Shown):
    """Estimates of `y = D coef + f(Z) + e`, with everything that inference about them needs.

    The residuals of all rows are kept, so another covariance, joint intervals or clusters need
    no refit. Results do not change: `with_vcov` returns a new object.

    Attributes
    ----------
    names : tuple of str
        Names of the q coefficients.
    regressions : tuple of Regression
        One solved residual regression per repetition of cross-fitting.
    estimate : FloatArray of shape (q,)
        Coefficients as an array; `coef` has them by name.
    covariance : FloatArray of shape (q, q)
        Their covariance as an array; `vcov` has it by name.
    vcov_type : str
        Which covariance it is.
    df : float
        Degrees of freedom of the t distribution for intervals and p-values: n - q, or clusters
        - 1. Those that the learner used are not known, so they are not subtracted.
    provenance : Provenance
        How the estimates were made: learner, folds, method, selection, seed, versions.
    notes : tuple of str
        Warnings for the reader.
    groups : IntArray of shape (n, ways), optional
        Clusters given to fit.
    evidence : DeferredEvidence, optional
        Numbers for `trust`.
    params, bse, tvalues, pvalues : Series
        `coef`, `se`, `statistic` and `pvalue` under the names of statsmodels.
    nobs, endog_names, cov_type : int, str, str
        `n`, `outcome` and `vcov_type` under the names of statsmodels.

    Examples
    --------
    >>> import debinet as dn
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y, truth = dn.datasets.make_sparse_linear(n=200, random_state=0)
    >>> model = dn.PartiallyLinear(["d1", "d2"], LinearRegression(), random_state=0).fit(X, y)
    >>> model.result_.confint().round(2)
        lower  upper
    d1   0.79   1.11
    d2  -0.62  -0.24
    """

    names: tuple[str, ...]
    regressions: tuple[Regression, ...]
    estimate: FloatArray
    covariance: FloatArray
    vcov_type: str
    df: float
    provenance: Provenance
    notes: tuple[str, ...] = ()
    groups: IntArray | None = None
    evidence: DeferredEvidence | None = None

    def __post_init__(self) -> None:
        freeze_arrays(self, estimate="q", covariance="q q", groups="n ways")
        q, groups, first = len(self.names), self.groups, self.regressions[0]
        require(all(one.coef.shape == (q,) for one in self.regressions), "number of coefficients")
        require(self.estimate.size == q and not (np.diag(self.covariance) < 0).any(), "covariance")
        require(0 < self.df < np.inf, "degrees of freedom")
        fits = groups is None or (len(groups) == first.R_y.size and bool(groups.min() >= 0))
        require(fits, "groups")

    @property
    def n(self) -> int:
        """Number of rows used."""
        return self.regressions[0].n

    @property
    def coef(self) -> pd.Series:
        """Coefficients by name."""
        return self._series(self.estimate, "coef")

    @property
    def vcov(self) -> pd.DataFrame:
        """Covariance of the coefficients by name."""
        return pd.DataFrame(self.covariance.copy(), index=self._index(), columns=self._index())

    @property
    def se(self) -> pd.Series:
        """Standard errors by name."""
        return self._series(np.sqrt(np.diag(self.covariance)), "se")

    @property
    def statistic(self) -> pd.Series:
        """`coef / se` by name."""
        return self._series(self._t(), "statistic")

    @property
    def pvalue(self) -> pd.Series:
        """Two-sided p-values of `coef = 0` by name."""
        return self._series(2 * stats.t.sf(np.abs(self._t()), self.df), "pvalue")

    @property
    def scores(self) -> FloatArray:
        """Score of every row, of shape (repetitions, n, q)."""
        return np.stack([regression.scores for regression in self.regressions])

    @property
    def resid(self) -> FloatArray:
        """What the model leaves of y in every row of the fit, of shape (n,).

        y less its prediction, made as in the fit: by models that did not see the row, unless
        `crossfit=None`. With repetitions of cross-fitting, their mean. Data that were streamed have
        none, as rows were not kept.
        """
        return outcome_residuals(self.regressions, self.estimate)

    # Names of statsmodels, by which other packages, such as maketables, read a result.
    params, bse, tvalues, pvalues, nobs = coef, se, statistic, pvalue, n
    endog_names = Shown.outcome

    @property
    def cov_type(self) -> str:
        """`vcov_type` under the name of statsmodels."""
        return self.vcov_type

    def conf_int(self, alpha: float = 0.05) -> pd.DataFrame:
        """Return pointwise intervals of level `1 - alpha`, as statsmodels does."""
        return self.confint(1 - share("alpha", alpha))

    def confint(
        self,
        level: float = 0.95,
        joint: bool = False,
        honest: bool = False,
        norm: float | None = None,
    ) -> pd.DataFrame:
        """Return intervals with columns `lower` and `upper`.

        Parameters
        ----------
        level : float
            Confidence level.
        joint : bool
            False: each interval covers with probability `level`. True: all of them at once do
            (sup-t band from the Gaussian multiplier bootstrap).
        honest : bool
            True: intervals cover for every f of the given norm, not only for those that the prior
            expects (Armstrong, Kolesar and Kwon). For methods whose bias is known, "joint", "gls".
        norm : float, optional
            Of f, for `honest=True`, in units of what the fitted prior expects. Data cannot say how
            large it is. None is 1, the size that the prior itself has: a point to start from.
            `breakdown_norm` is the norm at which 0 enters the interval.
        """
        half = half_lengths(self, level, joint=joint, honest=honest, norm=norm)
        bounds = {"lower": self.estimate - half, "upper": self.estimate + half}
        return pd.DataFrame(bounds, index=self._index())

    def breakdown_norm(self, level: float = 0.95) -> pd.Series:
        """Return, by name, the smallest norm of f at which `confint(level, honest=True)` has 0.

        At 2, a function twice as large as the fitted prior expects, in the least favourable
        direction, could explain the estimate. It is 0 if the interval contains 0 without any bias.
        """
        share("level", level, "Use level=0.95 for 95 % intervals.")
        return self._series(breakdown_norms(self, level), "breakdown norm")

    def with_vcov(self, kind: str, groups: Any = None) -> Inference:
        """Return the same estimates with another covariance; nothing is fitted again.

        Parameters
        ----------
        kind : {"iid", "HC0", "HC1", "HC2", "HC3", "cluster", "full"}
            Name of the covariance, in upper or lower case.
        groups : array or series of shape (n,), or two columns, optional
            For `"cluster"`: the clusters, by default those given to fit.
        """
        return change_vcov(self, kind, groups)

    def correct_measurement_error(self, sigma2: Any = None) -> Inference:
        """Return estimates corrected for errors in the residuals of D: the paper's Theorem 2.

        Valid if the errors of the predictions of D are independent of its true residuals and of
        the noise in y. For `method="robinson"` and `"dml2"`.

        Parameters
        ----------
        sigma2 : float, array of shape (q,), or None
            Mean squared error of the predictions of each treatment; None takes it from `WideNet`:
            the variance of the held-out residuals less its noise variance.
        """
        return correct_result(self, sigma2)

    def huber(self, c: float = 1.345) -> Inference:
        """Return estimates by Huber's M-estimator, in which large residuals count less.

        It replaces the last least squares; nothing is learned again. Not for `"gls"`, `"iv-type"`.

        Parameters
        ----------
        c : float
            Residuals are clipped at c times their scale, `median(|e|) / 0.6745`. With 1.345 it is
            95 % as efficient as least squares under normal noise; less is more robust.
        """
        return make_robust(self, c)

    def wald_test(self, R: Any = None, r: Any = None) -> WaldTest:
        """Test `R coef = r`; by default that all coefficients are zero.

        Parameters
        ----------
        R : str, list of str, or array or DataFrame of shape (m, q), optional
            Hypotheses: equations such as `"bmi = bp"`, `"bmi = bp, age = 0"` or `"2 * a - b = 1"`,
            where a name alone stands for "is zero"; or their matrix.
        r : float or array of shape (m,), optional
            Right-hand sides, zero by default, where the equations have none.
        """
        matrix, right = read_hypotheses(R, r, self.names)
        return wald_test(self.estimate, self.covariance, self.df, matrix, right)

    def dose(self, name: str | None = None) -> DoseCurve:
        """Return the curve of a treatment that is a `Dose`; one without others needs no name."""
        return find_dose(self, name)

    def adjust(self, method: str) -> pd.Series:
        """Return p-values adjusted for testing all coefficients.

        Parameters
        ----------
        method : {"holm", "bh", "romano-wolf"}
            Holm and Romano-Wolf control the chance of any false rejection, Benjamini-Hochberg
            the expected share of false ones. Romano-Wolf uses the correlations and rejects more.
        """
        if isinstance(method, str) and method == "romano-wolf":
            adjusted = simultaneous.romano_wolf(self._t(), self.covariance, self.df, self.seed)
        else:
            adjusted = simultaneous.adjusted(method, self.pvalue.to_numpy())
        return self._series(adjusted, f"pvalue ({method})")

    def trust(self) -> Trust:
        """Return checks of whether the intervals can be trusted, each with advice.

        After a fit with in-sample residuals, the first call holds all rows out, which takes about
        as long as another fit.
        """
        return assess_trust(self)

    def sensitivity(
        self,
        cf_y: float = 0.03,
        cf_d: float = 0.03,
        rho: float = 1.0,
        level: float = 0.95,
        null: Any = 0.0,
        *,
        benchmarks: Any = None,
    ) -> Sensitivity:
        """Return what a confounder that was not measured could do to the coefficients.

        Parameters
        ----------
        cf_y : float
            The share that it explains of the variance of the outcome that is left given treatments
            and controls.
        cf_d : float
            The share that it explains of the variance of the treatment that is left given controls
            and other treatments.
        rho : float
            Correlation of what it does to both sides: 1, the worst case, or less.
        level : float
            Level of the one-sided intervals for the bounds.
        null : float or array of shape (q,)
            Values to which robustness values refer.
        benchmarks : Benchmarks or list of them, optional
            Controls as a measure of such strengths: what `model.benchmark(["inc"], X, y)` returned.
        """
        scenario = Scenario(cf_y, cf_d, rho, level)
        return assess_sensitivity(self, scenario=scenario, null=null, benchmarks=benchmarks)

    @property
    def iv(self) -> InstrumentTests:
        """Tests of the instruments, and confidence sets that do not rely on their strength."""
        return InstrumentTests(self)

    def to_frame(self, level: float = 0.95, joint: bool = False) -> pd.DataFrame:
        """Return coef, se, statistic, pvalue, lower and upper, one row per coefficient."""
        columns = {s.name: s for s in (self.coef, self.se, self.statistic, self.pvalue)}
        return pd.DataFrame(columns).join(self.confint(level, joint))

    def lines(self, level: float = 0.95, joint: bool = False) -> dict[str, str]:
        """Return what was run, by label."""
        return summary_lines(self, level, joint)

    def one_fit(self) -> Inference:
        """Return the result itself."""
        return self

    @property
    def caption(self) -> str:
        """What a table of the result is called."""
        return f"{self.title}; n = {self.n}; covariance {self.vcov_type}"

    def __repr__(self) -> str:
        return f"<Inference: {len(self.names)} coefficient(s), n={self.n}, {self.vcov_type}>"

    def _index(self) -> pd.Index:
        return pd.Index(self.names, dtype=object)

    def _series(self, values: FloatArray, name: str) -> pd.Series:
        return pd.Series(values.copy(), index=self._index(), name=name)

    def _t(self) -> FloatArray:
        # A perfect fit has no standard error: 0/0 is not a number, b/0 is infinite.
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.estimate / np.sqrt(np.diag(self.covariance))
