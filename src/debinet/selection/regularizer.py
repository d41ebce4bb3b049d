"""What tuning needs of a penalized regression, whatever its penalty and algorithm."""

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
        Duality gaps: upper bounds on how far each objective is above its minimum.
    converged : BoolArray of shape (g,)
        Whether the gap reached the tolerance.
    """

    coefs: FloatArray
    gaps: FloatArray
    converged: BoolArray


class PathSolver(Protocol):
    """Solves for one data set; each call starts from the solution of the one before.

    `max_penalty` is the smallest penalty that selects nothing.
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
        """1, except for penalties whose weights have units."""
        ...

    def on(self, X: FloatArray, y: FloatArray) -> PathSolver:
        """Return a solver for centred X (n, p), in column order, and centred y (n,)."""
        ...

    def level(self, X: FloatArray) -> float:
        """Return the level for noise of standard deviation 1."""
        ...
