"""The effect of a dose as a curve: bands, derivatives, their mean, and a test of a straight line.

The effect of a dose d against a reference is `(B(d) - B(reference))'b`, with B the columns of the
dose and b their coefficients; its derivative is `B'(d)'b`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from debinet.data.observed_dose import ObservedDose
from debinet.data.options import is_number, one_of
from debinet.exceptions import InputError, OptionError
from debinet.inference.average_derivative import AverageDerivative, average_derivative
from debinet.inference.bands import bands
from debinet.inference.hypotheses import WaldTest
from debinet.inference.summary_lines import wald_words
from debinet.protocols import FloatArray
from debinet.report.tables import format_number, summary_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from debinet.inference.result import Inference

# Quantiles of the dose in the table of the summary.
_SHOWN = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, repr=False, eq=False)
class DoseCurve:
    """The effect of a dose, from `result.dose(name)`.

    Intervals use the covariance of the result: `result.with_vcov("HC1").dose(name)` uses another.

    Attributes
    ----------
    result : Inference
        The estimates.
    observed : ObservedDose
        The columns of the dose, and its values.

    Examples
    --------
    >>> import debinet as dn
    >>> X, y, _ = dn.datasets.make_sparse_linear(n=200, random_state=0)
    >>> model = dn.PartiallyLinear([dn.Dose("d1", df=3), "d2"], "linear", random_state=0).fit(X, y)
    >>> dose = model.result_.dose("d1")
    >>> dose.curve(at=[-1, 1], reference=0)[["effect", "se"]].round(2)
          effect    se
    d1
    -1.0   -1.14  0.13
     1.0    1.13  0.12
    """

    result: Inference
    observed: ObservedDose

    @property
    def name(self) -> str:
        """Name of the dose."""
        return self.observed.basis.name

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of its coefficients."""
        return self.observed.basis.terms

    def curve(
        self, at: Any = None, reference: float | None = None, level: float = 0.95
    ) -> pd.DataFrame:
        """Return the effect of doses against a reference.

        Parameters
        ----------
        at : number or array of shape (m,), optional
            Doses. By default the doses of the data from the 1 % to the 99 % quantile and a tenth of
            their distance beyond, or 101 evenly spaced ones if there are more.
        reference : float, optional
            The dose that others are compared with; by default the median.
        level : float
            Of the bands.

        Returns
        -------
        DataFrame with m rows
            By dose: effect, se; lower, upper, a band that contains the effect at each dose with
            probability `level`; joint_lower, joint_upper, one that contains the effects at all
            doses of the frame (sup-t); supported, whether the dose is between the 1 % and the 99 %
            quantile.
        """
        doses, basis = self._doses(at), self.observed.basis
        origin = self._reference(reference)
        rows = basis.columns(doses) - basis.columns(np.array([origin]))
        rows[doses == origin] = 0.0  # without rounding
        return self._banded("effect", doses, rows, level)

    def derivative(self, at: Any = None, level: float = 0.95) -> pd.DataFrame:
        """Return the derivative of the effect at doses, as `curve` does."""
        doses = self._doses(at)
        return self._banded("derivative", doses, self.observed.basis.derivatives(doses), level)

    def average_derivative(self, level: float = 0.95) -> AverageDerivative:
        """Return the mean of the derivative at the doses of all rows.

        With `a = mean B'(D_i)` it is `a'b`, and its variance is `a'V a + var(B'(D)'b) / n`: the
        second part is there because the doses are a sample, too. Rows are weighted as in the
        result, and where its covariance allows for clusters, so does the second part.
        """
        return average_derivative(self.result, self.observed, level)

    def linearity_test(self) -> WaldTest:
        """Test that the effect is a straight line."""
        return self.result.wald_test(list(self.terms[1:]))

    def effect_test(self) -> WaldTest:
        """Test that the dose has no effect."""
        return self.result.wald_test(list(self.terms))

    def to_frame(
        self, at: Any = None, reference: float | None = None, level: float = 0.95
    ) -> pd.DataFrame:
        """Return `curve` with `derivative` in further columns, whose names begin with it."""
        slopes = self.derivative(at, level).drop(columns="supported")
        names = ["derivative", *(f"derivative_{name}" for name in slopes.columns[1:])]
        columns = dict(zip(names, slopes.to_numpy().T, strict=True))
        return self.curve(at, reference, level).assign(**columns)

    def summary(self, reference: float | None = None, level: float = 0.95) -> str:
        """Return the effects of five quantiles of the dose, the mean slope and tests as text."""
        origin, observed = self._reference(reference), self.observed
        shown = self.curve(np.unique(observed.quantiles(_SHOWN)), origin, level)
        mean = self.average_derivative(level)
        numbers = [format_number(v) for v in (mean.estimate, mean.se, mean.lower, mean.upper)]
        facts = {
            "rows": str(self.result.n),
            "knots": ", ".join(f"{knot:.4g}" for knot in observed.basis.knots),
            "reference": f"{origin:.4g}",
            "mean derivative": "{}, se {}, from {} to {}".format(*numbers),
            "no effect": wald_words(self.result, self.terms),
            "straight line": wald_words(self.result, self.terms[1:]),
            "bands": f"{100 * level:g} %, pointwise and joint",
        }
        title = f"Effect of {self.name} on {self.result.outcome}"
        return summary_text(title, facts, shown.drop(columns="supported"), ())

    def plot(
        self,
        kind: str = "curve",
        *,
        at: Any = None,
        reference: float | None = None,
        level: float = 0.95,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw the curve or the derivative with both bands, above a histogram of the dose.

        Doses below the 1 % and above the 99 % quantile are greyed out.

        Parameters
        ----------
        kind : {"curve", "derivative"}
        at, reference, level
            As in `curve`.
        ax : matplotlib Axes, optional
            Where to draw.
        """
        from debinet.report.dose_plot import dose_plot

        outcome = self.result.outcome
        if one_of("kind", kind, ("curve", "derivative")) == "curve":
            frame = self.curve(at, reference, level)
            label = f"effect on {outcome} against {self._reference(reference):.4g}"
        else:
            frame = self.derivative(at, level)
            label = f"derivative of the effect on {outcome}"
        observed = self.observed
        doses = pd.DataFrame({"dose": observed.values, "share": observed.shares})
        return dose_plot(frame, doses, observed.supported, label=label, ax=ax)

    def __repr__(self) -> str:
        return f"<DoseCurve: {self.name!r}, {len(self.terms)} columns, n={self.result.n}>"

    def __str__(self) -> str:
        return self.summary()

    def _reference(self, reference: float | None) -> float:
        if reference is None:
            return float(self.observed.quantiles((0.5,))[0])
        if is_number(reference) and np.isfinite(reference):
            return float(reference)
        raise OptionError(
            "reference to be a dose", repr(reference), "Leave it out for the median of the data."
        )

    def _doses(self, at: Any) -> FloatArray:
        if at is None:
            return self.observed.grid()
        try:
            doses = np.atleast_1d(np.asarray(at, dtype=np.float64))
        except (TypeError, ValueError):
            doses = np.empty(0)
        if doses.ndim == 1 and doses.size and np.isfinite(doses).all():
            return doses
        raise InputError(
            "doses as numbers, one or a list of them", f"at={at!r:.60}", "For example at=[8, 12]."
        )

    def _banded(self, what: str, doses: FloatArray, rows: FloatArray, level: float) -> pd.DataFrame:
        index = pd.Index(doses, name=self.name)
        low, high = self.observed.supported
        frame = bands(self.result, self.terms, rows, index, label=what, level=level)
        return frame.assign(supported=(low <= doses) & (doses <= high))


def find_dose(result: Inference, name: str | None) -> DoseCurve:
    """Return the curve of a dose of a result; the name may be left out if there is one."""
    doses = {one.basis.name: one for one in result.provenance.doses}
    if not doses:
        raise OptionError(
            "a result with a dose",
            "one without",
            "Name the treatment as dn.Dose('educ', df=4), or as dose(educ) in a formula.",
        )
    if name is None and len(doses) == 1:
        (name,) = doses
    if name not in doses:
        raise OptionError(
            f"one of the doses {', '.join(map(repr, doses))}",
            "no name" if name is None else repr(name),
            f"For example result.dose({next(iter(doses))!r}).",
        )
    return DoseCurve(result, doses[name])
