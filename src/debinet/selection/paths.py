"""Coefficients along a path, as records that can be plotted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from debinet.protocols import FloatArray
from debinet.report.forest import path_plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class PenaltyPath:
    """Coefficients for a range of penalties.

    Attributes
    ----------
    penalties : FloatArray of shape (g,)
        As given, or decreasing from the smallest one that selects nothing.
    coefs : FloatArray of shape (g, p)
        On the scale of the user's columns.
    intercepts : FloatArray of shape (g,)
    dual_gaps : FloatArray of shape (g,)
        Upper bounds on how far each objective is above its minimum.
    names : tuple of str
        Names of the p columns.
    """

    penalties: FloatArray
    coefs: FloatArray
    intercepts: FloatArray
    dual_gaps: FloatArray
    names: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return the coefficients with a row per penalty and a column per feature."""
        index = pd.Index(self.penalties, name="penalty")
        return pd.DataFrame(self.coefs, index=index, columns=list(self.names))

    def plot(self, ax: Axes | None = None, *, chosen: float | None = None) -> Axes:
        """Plot every coefficient against the penalty, with a line at the chosen one."""
        return path_plot(self.to_frame(), ax=ax, chosen=chosen, logarithmic=True)


@dataclass(frozen=True)
class StepPath:
    """Coefficients after each step of forward-backward selection.

    Attributes
    ----------
    steps : tuple of str
        What each step did: "+name" or "-name".
    criterion : FloatArray of shape (g,)
        Value of the criterion after each step; for `"pvalue"` the p-value of the column moved.
    coefs : FloatArray of shape (g, p)
        Least squares on the columns selected so far, on the scale of the user's columns.
    intercepts : FloatArray of shape (g,)
    names : tuple of str
        Names of the p columns.
    """

    steps: tuple[str, ...]
    criterion: FloatArray
    coefs: FloatArray
    intercepts: FloatArray
    names: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return the coefficients with a row per step and a column per feature."""
        index = pd.RangeIndex(1, len(self.steps) + 1, name="step")
        return pd.DataFrame(self.coefs, index=index, columns=list(self.names))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot every coefficient against the number of the step."""
        return path_plot(self.to_frame(), ax=ax)
