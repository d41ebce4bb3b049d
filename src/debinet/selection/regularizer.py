"""What solvers need of a norm, and what tuning needs of a penalized regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, Self

from debinet.protocols import BoolArray, FloatArray, IntArray


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


class Norm(Protocol):
    """A norm of the coefficients that favours few nonzero coefficients or groups."""

    def value(self, coef: FloatArray) -> float:
        """Return P(coef)."""
        ...

    def dual(self, z: FloatArray) -> float:
        """Return `P*(z) = max z't over P(t) <= 1`."""
        ...

    def prox(self, v: FloatArray, penalty: float) -> FloatArray:
        """Return the t that minimizes `|v - t|^2 / 2 + penalty P(t)`."""
        ...

    def working_columns(
        self, coef: FloatArray, z: FloatArray, penalty: float, limit: int
    ) -> IntArray:
        """Return the columns to solve for next, sorted.

        Those in use, and at most `limit` columns or groups that violate optimality, judged by
        `z = X'r / n`, the worst first.
        """
        ...

    def restrict(self, columns: IntArray) -> Self:
        """Return the norm of coefficients that are zero outside of `columns`."""
        ...

    def newton(self, coef: FloatArray, G: FloatArray, z: FloatArray, penalty: float) -> FloatArray:
        """Return the end of a Newton step among coefficients of the same pattern as `coef`.

        There the norm is smooth. `G = X'X / n` is (k, k) and `z = X'r / n` (k,). LinAlgError if the
        second derivative is singular.
        """
        ...

    def level(self, X: FloatArray) -> float:
        """Return the plug-in penalty for noise of standard deviation 1."""
        ...
