"""How every result is shown: text, tables, plot, page and file, all from its frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from debinet.data.records import save_object
from debinet.inference.provenance import Provenance
from debinet.inference.summary_lines import result_title
from debinet.inference.trust import Trust
from debinet.report import tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from debinet.inference.result import Inference


class Shown(ABC):
    """A result that has a frame of its coefficients, and knows how it was made."""

    provenance: Provenance
    notes: tuple[str, ...]

    @abstractmethod
    def to_frame(self, level: float = 0.95, joint: bool = False) -> pd.DataFrame:
        """Return a row per coefficient."""

    @abstractmethod
    def lines(self, level: float = 0.95, joint: bool = False) -> dict[str, str]:
        """Return what was run, by label."""

    @abstractmethod
    def trust(self) -> Trust:
        """Return checks of whether the intervals can be trusted."""

    @abstractmethod
    def one_fit(self) -> Inference:
        """Return the result of one fit, whose residuals can be drawn."""

    @property
    @abstractmethod
    def caption(self) -> str:
        """What a table of the result is called."""

    @property
    def title(self) -> str:
        """Heading of the summary."""
        return result_title(self.provenance)

    @property
    def outcome(self) -> str:
        """Name of y."""
        return self.provenance.outcome

    @property
    def seed(self) -> int:
        """The `random_state` that repeats the fit; joint intervals depend on it, too."""
        return self.provenance.seed

    def summary(self, level: float = 0.95, joint: bool = False) -> str:
        """Return the result as text."""
        frame = self.to_frame(level, joint)
        return tables.summary_text(self.title, self.lines(level, joint), frame, self.notes)

    def to_markdown(self, level: float = 0.95, joint: bool = False) -> str:
        """Return the coefficient table in Markdown."""
        return tables.markdown_table(self.to_frame(level, joint))

    def to_latex(self, level: float = 0.95, joint: bool = False, caption: str | None = None) -> str:
        """Return the coefficient table in LaTeX (booktabs)."""
        return tables.latex_table(self.to_frame(level, joint), caption)

    def to_html(self, level: float = 0.95, joint: bool = False) -> str:
        """Return the coefficient table in HTML."""
        return tables.html_table(self.to_frame(level, joint), self.caption)

    def plot(
        self,
        level: float = 0.95,
        joint: bool = False,
        *,
        truth: Mapping[str, float] | pd.Series | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draw a forest plot and return its axes.

        Parameters
        ----------
        level, joint
            As in `confint`.
        truth : Series or mapping, optional
            Known coefficients by name, drawn next to the estimates.
        ax : matplotlib Axes, optional
            Where to draw.
        """
        from debinet.report.forest import forest_plot

        known = None if truth is None else pd.Series(truth)
        label = f"effect on {self.outcome}, {100 * level:g} % {'joint ' if joint else ''}intervals"
        return forest_plot(self.to_frame(level, joint), truth=known, ax=ax, label=label)

    def report(
        self, path: str | PathLike[str], level: float = 0.95, joint: bool = False, source: str = ""
    ) -> None:
        """Write a self-contained HTML page: coefficients, pictures, trust, and what was run.

        Parameters
        ----------
        path : path
            Replaced if it exists.
        level, joint
            As in `confint`.
        source : str
            Where the data came from, for the reader.
        """
        from debinet.inference.reporting import write_report

        write_report(self, Path(path), level=level, joint=joint, source=source)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the result to `path`: JSON and arrays in one file, no pickle. See `dn.load`."""
        save_object(self, path)

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return self.to_html()
