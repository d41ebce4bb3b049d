"""What tuning asks of a penalized regression, whichever its penalty and its algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from debinet.protocols import BoolArray, FloatArray


@dataclass(frozen=True)
class Solutions:
    """Minimizers of `|y - X t|^2 / (2 n) + penalty P(t)`, one per penalty.

    Attributes
    ----------
    coefs : FloatArray of shape (g, p)
    gaps : FloatArray of shape (g,)
        Duality gaps: how far each objective can at most be above its minimum.
    converged : BoolArray of shape (g,)
        Whether the gap reached the tolerance.
    """

    coefs: FloatArray
    gaps: FloatArray
    converged: BoolArray


class PathSolver(Protocol):
    """Solves for one data set; each call starts from where the one before ended.

    `max_penalty` is the least penalty at which nothing is selected.
    """

    max_penalty: float

    def solve(self, penalties: FloatArray, tol: float) -> Solutions:
        """Solve for decreasing penalties to a gap of `tol |y|^2 / (2 n)`."""
        ...


class Regularizer(Protocol):
    """A penalty together with the algorithm that solves for it.

    The plug-in penalty for noise of standard deviation s is `(level s)^degree`.
    """

    @property
    def degree(self) -> float:
        """1, but for penalties whose weights have units themselves."""
        ...

    def on(self, X: FloatArray, y: FloatArray) -> PathSolver:
        """Return a solver for centred X (n, p), in column order, and centred y (n,)."""
        ...

    def level(self, X: FloatArray) -> float:
        """Return the level for noise of standard deviation 1."""
        ...
