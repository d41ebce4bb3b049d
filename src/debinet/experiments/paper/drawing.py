"""A figure of the paper: the experiment behind it and how its results are drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from debinet.experiments.plan import Experiment
from debinet.experiments.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Drawing:
    """What a figure shows.

    Attributes
    ----------
    title : str
        Above it.
    experiment : Experiment
        Where its numbers come from.
    draw : callable
        From results to a matplotlib figure.
    notes : tuple of str
        Below it: what differs from the paper.
    needs : callable
        Called before anything is run; raises if data are missing.
    """

    title: str
    experiment: Experiment
    draw: Callable[[Results], Figure]
    notes: tuple[str, ...] = ()
    needs: Callable[[], Any] = dict
