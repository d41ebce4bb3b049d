"""`Effects`: effects that vary with controls, with everything that inference about them needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from debinet.data.arrays import require
from debinet.data.options import whole_number
from debinet.data.records import save_object
from debinet.exceptions import InputError, OptionError
from debinet.inference.combinations import Combinations
from debinet.inference.effect_basis import EffectBasis
from debinet.inference.effect_columns import Curve, read_values
from debinet.inference.hypotheses import WaldTest
from debinet.inference.null_covariance import wald_under_null
from debinet.inference.result import Inference
from debinet.inference.summary_lines import summary_lines
from debinet.protocols import FloatArray
from debinet.report import tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Of the grid of a curve, so many points are listed in the summary.
_LISTED = 7


@dataclass(frozen=True, repr=False, eq=False)
class Effects:
    """Effects of treatments that vary with controls: `y = D tau(Z) + f(Z) + e`, `tau = h(Z) c`.

    With groups, h are their indicators and c the effects in them: within a group the average
    effect, in which rows count by the variance that their treatment has left. With a curve, h is a
    natural cubic spline and c its values at the knots.

    Attributes
    ----------
    result : Inference
        The coefficients c, with their covariance and residuals; all that it offers can be used.
    basis : EffectBasis
        The functions h.
    treatments : tuple of str

    Examples
    --------
    >>> import debinet as dn
    >>> X, y, _ = dn.datasets.make_sparse_linear(n=500, random_state=0)
    >>> model = dn.PartiallyLinear("d1", "lasso", random_state=0).fit(X, y)
    >>> effects = model.effects(by="z1", bins=2)
    >>> effects.to_frame()[["coef", "se", "rows"]].round(2)
                      coef    se  rows
    z1
    z1 < -0.0993083   0.95  0.07   250
    z1 >= -0.0993083  0.94  0.06   250
    """

    result: Inference
    basis: EffectBasis
    treatments: tuple[str, ...]

    def __post_init__(self) -> None:
        count = len(self.treatments) * self.basis.means.size
        require(len(self.result.names) == count, "number of effects")

    def with_vcov(self, kind: str, groups: Any = None) -> Effects:
        """Return the same effects with another covariance; see `Inference.with_vcov`."""
        return replace(self, result=self.result.with_vcov(kind, groups))

    def at(self, X: Any, level: float = 0.95, joint: bool = False) -> pd.DataFrame:
        """Return the effects at values of the columns, a row for every row of X.

        Parameters
        ----------
        X : data frame
            With the columns that effects vary with; others are not used.
        level, joint
            As in `Inference.confint`. `joint=True` is for all rows of X at once.
        """
        values = read_values(X, self.basis.names)
        H = self.basis.evaluate(values)
        if self.basis.grouped and not H.any(axis=1).all():
            raise InputError(
                "values that occur together in the rows of fit",
                f"a combination that does not, in row {int(np.argmin(H.any(axis=1)))}",
                "Effects are known for groups with rows.",
            )
        R = np.asarray(np.kron(np.eye(len(self.treatments)), H))
        frame = Combinations.of(self.result, R).to_frame(level, joint)
        # The values themselves, if they are those of one column.
        single = self.basis.names[0] if len(values) == 1 else ""
        index = values[single] if single else np.arange(len(H))
        return self._with_treatments(frame, np.tile(index, len(self.treatments)), single)

    def to_frame(self, level: float = 0.95, joint: bool = False) -> pd.DataFrame:
        """Return coef, se, statistic, pvalue, lower and upper: in groups, or along curves.

        The index has the groups, or the values of the column. With several columns, some of them
        curves, the effect along each, others at their means. With several treatments the first
        column says which.

        Parameters
        ----------
        level : float
            Confidence level.
        joint : bool
            False: each interval covers with probability `level`. True: all of them at once do, also
            along a whole curve.
        """
        return self._frame(self._points(), level, joint)

    def heterogeneity_test(self, column: str | None = None) -> WaldTest:
        """Test that effects are the same for all: a Wald test, for all treatments at once.

        The covariance is that under the hypothesis, from the residuals of one effect for all.

        Parameters
        ----------
        column : str, optional
            With several columns, some of them curves: test only that the effect does not depend on
            this one.
        """
        m, basis = self.basis.means.size, self.basis
        if column is not None and not (basis.additive and column in basis.names):
            allowed = list(basis.names) if basis.additive else []
            raise OptionError(
                "column to be one of several columns whose effects add up",
                f"{column!r}, with {allowed or 'groups or one column'}",
                "Leave column out for the test of all.",
            )
        if m == 1:
            raise OptionError("more than one effect", "one", "There is nothing to compare.")
        rows = np.eye(m)[1:] if basis.additive else np.diff(np.eye(m), axis=0)
        if column is not None:
            rows = np.eye(m)[basis.columns_of(basis.names.index(column))]
        every = np.asarray(np.kron(np.eye(len(self.treatments)), rows))
        return wald_under_null(self.result, every)

    def contrasts(
        self, reference: str | None = None, level: float = 0.95, joint: bool = False
    ) -> pd.DataFrame:
        """Return differences between the effects in groups.

        Parameters
        ----------
        reference : str, optional
            The group that others are compared with, by its name in `to_frame`. None: all pairs.
        level, joint
            As in `to_frame`.
        """
        labels = self.basis.labels
        if not self.basis.grouped:
            raise OptionError(
                "groups, for contrasts", "a curve", "Use bins=, or at() and heterogeneity_test()."
            )
        if reference is not None and reference not in labels:
            raise OptionError(
                f"reference among {list(labels)[:6]}", repr(reference), "Check the spelling."
            )
        pairs = list(combinations(range(len(labels)), 2))
        if reference is not None:
            one = labels.index(reference)
            pairs = [(one, k) for k in range(len(labels)) if k != one]
        unit = np.eye(len(labels))
        R = np.array([unit[b] - unit[a] for a, b in pairs]).reshape(-1, len(labels))
        names = [f"{labels[b]} - {labels[a]}" for a, b in pairs]
        full = np.kron(np.eye(len(self.treatments)), R)
        frame = Combinations.of(self.result, full).to_frame(level, joint)
        return self._with_treatments(frame, names * len(self.treatments), "difference")

    def summary(self, level: float = 0.95, joint: bool = False) -> str:
        """Return the effects as text."""
        lines = summary_lines(self.result, level, joint)
        lines["model"] = f"{self.result.outcome} = D tau({', '.join(self.basis.names)}) + f(Z) + e"
        lines.pop("columns", None)
        if self.basis.means.size > 1:
            lines["the same for all"] = _in_words(self.heterogeneity_test())
        if self.basis.additive:
            for name in self.basis.names:
                lines[f"not by {name}"] = _in_words(self.heterogeneity_test(name))
        return tables.summary_text(self.title, lines, self._shown(level, joint), self.result.notes)

    @property
    def title(self) -> str:
        """Heading of tables and pages."""
        what = ", ".join(self.treatments)
        return f"Effect of {what} on {self.result.outcome} by {', '.join(self.basis.names)}"

    def to_markdown(self, level: float = 0.95, joint: bool = False) -> str:
        """Return the table of `summary` in Markdown."""
        return tables.markdown_table(self._shown(level, joint))

    def to_latex(self, level: float = 0.95, joint: bool = False, caption: str | None = None) -> str:
        """Return the table of `summary` in LaTeX (booktabs)."""
        return tables.latex_table(self._shown(level, joint), caption)

    def to_html(self, level: float = 0.95, joint: bool = False) -> str:
        """Return the table of `summary` in HTML."""
        caption = f"{self.title}; n = {self.result.n}; covariance {self.result.vcov_type}"
        return tables.html_table(self._shown(level, joint), caption)

    def plot(self, level: float = 0.95) -> Figure:
        """Draw a panel for every treatment and column, and return the figure.

        Groups have intervals, curves have a band for each point and a wider one for all at once.
        """
        from debinet.report.effect_plots import plot_effects

        label = f"on {self.result.outcome}, {100 * level:g} % intervals"
        return plot_effects(self._panels(level), label=label)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the effects to `path`: JSON and arrays in one file, no pickle. See `dn.load`."""
        save_object(self, path)

    def __repr__(self) -> str:
        return f"<Effects: {self.title}, n={self.result.n}>"

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return self.to_html()

    def _points(self, most: int | None = None) -> list[_Along]:
        """Return where effects are shown: in all groups, or along every column."""
        basis = self.basis
        if basis.grouped:
            return [_Along(", ".join(basis.names), basis.labels, np.eye(basis.means.size))]
        return [_along(basis, j, most) for j in range(len(basis.columns))]

    def _frame(self, points: list[_Along], level: float, joint: bool) -> pd.DataFrame:
        """Return the estimates at some points; joint intervals are for all of them."""
        q = len(self.treatments)
        H = np.vstack([one.functions for one in points])
        frame = Combinations.of(self.result, np.asarray(np.kron(np.eye(q), H))).to_frame(
            level, joint
        )
        if self.basis.rows:
            frame["rows"] = np.tile(self.basis.rows, q)
        single = len(points) == 1
        index = [
            value if single or isinstance(value, str) else f"{one.name}={value:.6g}"
            for one in points
            for value in one.values
        ]
        return self._with_treatments(frame, index * q, points[0].name if single else "")

    def _shown(self, level: float, joint: bool) -> pd.DataFrame:
        """Return a short table, with numbers in the index as readers want them."""
        frame = self._frame(self._points(_LISTED), level, joint)
        short = [v if isinstance(v, str) else f"{v:.6g}" for v in frame.index]
        return frame.set_index(pd.Index(short, name=frame.index.name))

    def _with_treatments(self, frame: pd.DataFrame, index: Any, name: str) -> pd.DataFrame:
        frame.index = pd.Index(index, name=name or None)
        q = len(self.treatments)
        if q > 1:
            frame.insert(0, "treatment", np.repeat(self.treatments, len(frame) // q))
        return frame

    def _panels(self, level: float) -> list[Any]:
        from debinet.report.effect_plots import Panel

        panels, m, points = [], self.basis.means.size, self._points()
        for t, treatment in enumerate(self.treatments):
            for one in points:
                R = np.zeros((len(one.values), len(self.result.names)))
                R[:, t * m : (t + 1) * m] = one.functions
                found = Combinations.of(self.result, R)
                frame = found.to_frame(level).set_index(pd.Index(one.values, name=one.name))
                frame["joint"] = found.reach(level, joint=True) * found.se
                panels.append(Panel(treatment, frame, curve=not isinstance(one.values[0], str)))
        return panels


@dataclass(frozen=True)
class _Along:
    """Points at which effects are shown: values of a column or names of groups, and functions."""

    name: str
    values: Any
    functions: FloatArray


def _along(basis: EffectBasis, j: int, most: int | None) -> _Along:
    column, functions = basis.columns[j], basis.along(j)
    if not isinstance(column, Curve):
        return _Along(column.name, column.labels, functions)
    chosen = np.arange(len(functions))
    if most is not None:
        chosen = np.unique(np.linspace(0, len(functions) - 1, whole_number("points", most, 2)))
        chosen = chosen.round().astype(np.int64)
    return _Along(column.name, column.grid[chosen], functions[chosen])


def _in_words(test: WaldTest) -> str:
    chance = tables.format_pvalue(test.pvalue)
    chance = f"p {chance}" if chance.startswith("<") else f"p = {chance}"
    return f"F({test.df_num}, {test.df_denom:g}) = {test.statistic:.4g}, {chance}"
