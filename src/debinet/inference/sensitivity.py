"""What a confounder that was not measured could do to the coefficients: bounds and robustness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import stats

from debinet.exceptions import InputError, OptionError
from debinet.inference import sensitivity_words
from debinet.inference.benchmarks import Benchmarks
from debinet.inference.confounded_region import ConfoundedRegion, JointRobustness, joint_robustness
from debinet.inference.hypotheses import read_hypotheses, right_hand_side
from debinet.inference.omitted_bias import OmittedBias, OutcomeNoise
from debinet.inference.robustness import (
    breaking_strengths,
    extreme_robustness_value,
    robustness_value,
    squared_strength,
)
from debinet.inference.scenario import Scenario
from debinet.inference.sensitivity_rows import SensitiveRows, sensitive_rows
from debinet.protocols import FloatArray
from debinet.report import tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from debinet.inference.result import Inference


@dataclass(frozen=True, repr=False, eq=False)
class Sensitivity:
    """Bounds of m coefficients, or combinations of them, under a confounder of given strength.

    Attributes
    ----------
    names : tuple of str
        What is bounded: coefficients, or combinations.
    A : FloatArray of shape (m, q)
        The combinations of the q coefficients of the fit.
    null : FloatArray of shape (m,)
        The values to which robustness values refer.
    scenario : Scenario
        The strength of the confounder.
    bias : OmittedBias
        Estimates, and scales of their bias.
    rows : SensitiveRows
        Residuals, which other combinations need.
    benchmarks : Benchmarks, optional
        Controls as a measure of the confounder's strength.

    References
    ----------
    Chernozhukov, Cinelli, Newey, Sharma and Syrgkanis (2022), Long story short: omitted variable
    bias in causal machine learning. Cinelli and Hazlett (2020), Making sense of sensitivity, JRSS B
    82.

    Examples
    --------
    >>> import debinet as dn
    >>> X, y, _ = dn.datasets.make_sparse_linear(n=200, random_state=0)
    >>> result = dn.PartiallyLinear(["d1", "d2"], "linear", random_state=0).fit(X, y).result_
    >>> result.sensitivity(cf_y=0.1, cf_d=0.1).to_frame()[["coef", "lower", "upper", "rv"]].round(2)
        coef  lower  upper    rv
    d1  0.95   0.84   1.07  0.57
    d2 -0.43  -0.55  -0.31  0.31
    """

    names: tuple[str, ...]
    A: FloatArray
    null: FloatArray
    scenario: Scenario
    bias: OmittedBias
    rows: SensitiveRows
    benchmarks: Benchmarks | None = None

    @property
    def outcome(self) -> str:
        """Name of y."""
        return self.rows.outcome

    @property
    def noise(self) -> OutcomeNoise:
        """Variance of y that is left given treatments and controls."""
        return self.rows.noise

    @property
    def estimate(self) -> FloatArray:
        """The estimates as an array, of shape (m,)."""
        return np.asarray(np.median(self.bias.estimate, axis=0))

    def of(self, weights: Any, null: Any = None) -> Sensitivity:
        """Return the sensitivity of linear combinations of the coefficients of the fit.

        Parameters
        ----------
        weights : mapping, Series, DataFrame, array, or names of coefficients
            One combination, such as `{"d1": 1, "d2": -1}`, or one per row.
        null : float or array of shape (m,), optional
            Values to which robustness values refer, zero by default.
        """
        A, right = _read_hypotheses(weights, null, self.rows.names)
        if A.ndim != 2 or A.shape[1] != len(self.rows.names) or not np.isfinite(A).all():
            raise InputError(
                f"finite weights of {len(self.rows.names)} coefficients",
                f"an array of shape {A.shape}",
                "Name them, as in of({'d1': 1, 'd2': -1}).",
            )
        if not A.any(axis=1).all():
            raise InputError("combinations with a weight that is not 0", "only zeros", "Drop it.")
        names = _combination_names(weights, A, self.rows.names)
        return replace(self, names=names, A=A, null=right, bias=self.rows.bias_of(A))

    def region(self) -> ConfoundedRegion:
        """Return where the confounder can move all coefficients of the fit together.

        `cf_d` is then the largest squared canonical correlation with the treatments.
        """
        radius2 = self.scenario.strength**2 * self.noise.residual
        return ConfoundedRegion(self.rows.names, self.rows.coef, self.rows.S, radius2)

    def joint_robustness(self, R: Any = None, r: Any = None) -> JointRobustness:
        """Return how strong a confounder must be for `R coef = r` to hold.

        Parameters
        ----------
        R : array or DataFrame of shape (m, q), or names of coefficients, optional
            Hypotheses about the coefficients of the fit; None: each of them.
        r : float or array of shape (m,), optional
            Right-hand sides, zero by default.
        """
        matrix, right = _read_hypotheses(R, r, self.rows.names)
        return joint_robustness(self.rows.explained(), matrix, right, self.scenario.rho)

    def to_frame(self) -> pd.DataFrame:
        """Return estimates, bounds, confidence bounds and robustness values, one row each.

        `lower` and `upper` bound the estimate, `lower_ci` and `upper_ci` are the ends of one-sided
        intervals for these bounds. `rv` is the share of both sides that a confounder must explain
        for the estimate to be `null`, `rv_ci` for its interval to contain it, and `xrv` the share
        of the treatment if it explains all that is left of the outcome.
        """
        strength = np.full((1, len(self.names)), self.scenario.strength)
        bounds = {name: value[0] for name, value in self._bounds(strength).items()}
        f2, f2_ci = self.f2(), self.f2(interval=True)
        values = {
            "rv": robustness_value(f2),
            "rv_ci": robustness_value(f2_ci),
            "xrv": extreme_robustness_value(f2),
        }
        index = pd.Index(self.names, dtype=object)
        return pd.DataFrame({"coef": self.estimate, **bounds, **values}, index=index)

    def benchmark_frame(self) -> pd.DataFrame:
        """Return bounds under confounders as strong as the benchmarks, a row for each and term.

        Bounds use the correlation of the scenario, 1 by default; `rho` is that of the benchmark.
        They are NaN if no confounder is that strong: more of the treatment than there is left.
        """
        if self.benchmarks is None:
            raise OptionError(
                "benchmarks", "none", "Use sensitivity(benchmarks=model.benchmark([...], X, y))."
            )
        found = self.benchmarks.strength(self.A)
        columns = {
            "cf_y": found.cf_y,
            "cf_d": found.cf_d,
            "rho": found.rho,
            **self._bounds(found.biases(self.scenario.rho)),
        }
        rows = [self.benchmarks.labels, self.names]
        index = pd.MultiIndex.from_product(rows, names=["benchmark", "term"])
        return pd.DataFrame({name: value.ravel() for name, value in columns.items()}, index=index)

    def with_benchmarks(self, benchmarks: Benchmarks | Sequence[Benchmarks]) -> Sensitivity:
        """Return the same with what `model.benchmark(...)` returned, once or several times."""
        given = [benchmarks] if isinstance(benchmarks, Benchmarks) else list(benchmarks)
        found = given[0]
        for other in given[1:]:
            found = found + other
        self.rows.require_benchmarks(found)
        return replace(self, benchmarks=found)

    def in_words(self) -> list[str]:
        """Return what it means, in sentences, for every coefficient or combination."""
        return sensitivity_words.sentences(self)

    def summary(self) -> str:
        """Return bounds, robustness values and what they mean, as text."""
        facts = sensitivity_words.facts(self)
        text = tables.summary_text(sensitivity_words.title(self), facts, self.to_frame(), ())
        if self.benchmarks is not None:
            text += "\n\n" + tables.text_table(sensitivity_words.one_index(self.benchmark_frame()))
        return "\n\n".join([text, *self.in_words()])

    def to_markdown(self) -> str:
        """Return the table in Markdown."""
        return tables.markdown_table(self.to_frame())

    def to_latex(self, caption: str | None = None) -> str:
        """Return the table in LaTeX (booktabs)."""
        return tables.latex_table(self.to_frame(), caption)

    def to_html(self) -> str:
        """Return the table in HTML, and that of the benchmarks if there are any."""
        parts = [tables.html_table(self.to_frame(), sensitivity_words.title(self))]
        if self.benchmarks is not None:
            frame = sensitivity_words.one_index(self.benchmark_frame())
            parts.append(tables.html_table(frame, "Confounders as strong as these controls"))
        return "\n".join(parts)

    def plot(
        self,
        name: str | None = None,
        *,
        of: str = "estimate",
        limits: tuple[float, float] | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw contours of the bound over the two strengths of a confounder; return the axes.

        The bound is the one on the side of `null`; the dashed line is where it gets there. Points
        are the scenario and the benchmarks.

        Parameters
        ----------
        name : str, optional
            Of the coefficient or combination, by default the first.
        of : {"estimate", "interval"}
            Whether to draw the bound, or the end of its one-sided confidence interval.
        limits : (float, float), optional
            The largest cf_d and cf_y to draw.
        ax : matplotlib Axes, optional
            Where to draw.
        """
        from debinet.inference.sensitivity_contours import draw_contours

        return draw_contours(self, name, of, limits, ax)

    def f2(self, *, interval: bool = False) -> FloatArray:
        """Return the squared strengths (m,) at which bounds, or their intervals, reach `null`."""
        quantile = self.quantile if interval else 0.0
        found = breaking_strengths(self.bias, self.null, quantile)
        return squared_strength(found, self.scenario.rho)

    @property
    def quantile(self) -> float:
        """Of the t distribution, for one-sided intervals."""
        return float(stats.t.ppf(self.scenario.level, self.rows.df))

    def __repr__(self) -> str:
        scenario = self.scenario
        strength = f"cf_y={scenario.cf_y:g}, cf_d={scenario.cf_d:g}"
        return f"<Sensitivity: {len(self.names)} term(s), {strength}>"

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return self.to_html()

    def _bounds(self, strength: FloatArray) -> dict[str, FloatArray]:
        """Return bounds and the ends of their intervals, each of the shape of `strength` (g, m)."""
        lower, upper = self.bias.bounds(strength, -1.0), self.bias.bounds(strength, 1.0)
        z = self.quantile
        return {
            "lower": lower,
            "upper": upper,
            "lower_ci": lower - z * self.bias.errors(strength, -1.0),
            "upper_ci": upper + z * self.bias.errors(strength, 1.0),
        }


def assess_sensitivity(
    result: Inference,
    scenario: Scenario,
    null: Any = None,
    benchmarks: Benchmarks | Sequence[Benchmarks] | None = None,
) -> Sensitivity:
    """Return the sensitivity of all coefficients; options as in `Inference.sensitivity`."""
    rows = sensitive_rows(result)
    A, right = np.eye(len(rows.names)), right_hand_side(null, len(rows.names))
    found = Sensitivity(rows.names, A, right, scenario, rows.bias_of(A), rows)
    return found if benchmarks is None else found.with_benchmarks(benchmarks)


def _read_hypotheses(R: Any, r: Any, names: tuple[str, ...]) -> tuple[FloatArray, FloatArray]:
    return read_hypotheses(R, r, names)


def _combination_names(
    weights: Any, A: FloatArray, coefficients: tuple[str, ...]
) -> tuple[str, ...]:
    """Return names of combinations: those of a frame's rows, or the combinations themselves."""
    if isinstance(weights, pd.DataFrame) and weights.index.dtype == object:
        return tuple(map(str, weights.index))
    return tuple(sensitivity_words.combination(row, coefficients) for row in A)
