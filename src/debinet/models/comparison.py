"""What `dn.compare` returns: several models of the same data, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from debinet.report import tables
from debinet.report.several_models import shown_agreement, shown_models

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False, eq=False)
class ModelComparison:
    """Several models of the same data: their estimates, verdicts, times, and whether they agree.

    Attributes
    ----------
    frame : DataFrame
        A row per treatment and model: treatment, model, coef, se, lower, upper, trust (the verdict
        of `trust()`), seconds (of the fit), and reason, which says why a row has no estimate.
    agreement : DataFrame
        A row per treatment, and one for all together if there are several: the largest difference
        between two estimates, between which models it is, how many standard errors of the less
        certain one it is, and statistic, degrees of freedom and p-value of the Wald test that all
        models estimate the same, and its verdict at 5 %.
    models : mapping from str to model
        Those that could be fitted, by name; also by `comparison["forest"]`.
    outcome : str
        Name of y.
    n : int
        Rows of the data.
    level : float
        Of the intervals.

    References
    ----------
    Hausman (1978), Specification tests in econometrics, Econometrica 46.
    """

    frame: pd.DataFrame
    agreement: pd.DataFrame
    models: Mapping[str, Any]
    outcome: str
    n: int
    level: float = 0.95

    def __getitem__(self, name: str) -> Any:
        """Return a fitted model by its name."""
        return self.models[name]

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of `frame`."""
        return self.frame.copy()

    def summary(self) -> str:
        """Return the estimates, the tests of agreement, and why models failed, as text."""
        facts = {"rows": f"{self.n}", "intervals": f"{100 * self.level:g} %, pointwise"}
        text = tables.summary_text(self._title(), facts, shown_models(self.frame), self._failures())
        if self.agreement.empty:
            return text
        heading = "Agreement: are the estimates equal, up to what noise explains?"
        return f"{text}\n\n{heading}\n\n{tables.text_table(shown_agreement(self.agreement))}"

    def to_markdown(self) -> str:
        """Return the table of estimates in Markdown."""
        return tables.markdown_table(shown_models(self.frame))

    def to_latex(self, caption: str | None = None) -> str:
        """Return the table of estimates in LaTeX (booktabs)."""
        return tables.latex_table(shown_models(self.frame), caption)

    def to_html(self) -> str:
        """Return the table of estimates and that of agreement in HTML."""
        parts = [tables.html_table(shown_models(self.frame), f"{self._title()}; n = {self.n}")]
        if not self.agreement.empty:
            parts.append(tables.html_table(shown_agreement(self.agreement), "Agreement"))
        return "\n".join(parts)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw a forest plot with a row per treatment and model, and return its axes."""
        from debinet.report.several_models import plot_models

        label = f"effect on {self.outcome}, {100 * self.level:g} % intervals"
        return plot_models(self.frame, ax=ax, label=label)

    def __repr__(self) -> str:
        count = self.frame["model"].nunique()
        return f"<ModelComparison: {count} models of {self.outcome}, n={self.n}>"

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return self.to_html()

    def _title(self) -> str:
        return f"Comparison of models of {self.outcome}"

    def _failures(self) -> list[str]:
        failed = self.frame[self.frame["reason"] != ""]
        each = failed[["model", "reason"]].drop_duplicates()
        return [f"{m}: {str(r).rstrip('.')}" for m, r in each.itertuples(index=False)]
