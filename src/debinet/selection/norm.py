"""What the working-set solver needs of a norm."""

from __future__ import annotations

from typing import Protocol, Self

from debinet.protocols import FloatArray, IntArray


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
