"""Closed forms of learners that have no mixed model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from debinet.data.folds import Folds
from debinet.protocols import Diagnostics, FloatArray, HeldOut


@dataclass(frozen=True)
class ClosedForm:
    """Held-out predictions only. Implements `debinet.protocols.Prepared`.

    Attributes
    ----------
    held_out : callable
        From targets (n, m) and folds to `HeldOut`.
    """

    held_out: Callable[[FloatArray, Folds], HeldOut]

    def hold_out(self, M: FloatArray, folds: Folds) -> HeldOut:
        """Predict every row from the rows outside of its fold."""
        return self.held_out(M, folds)

    def gls(self, y: FloatArray, D: FloatArray, *, joint: bool = False) -> None:
        """Return None: there is no mixed model."""

    def adjoint(self, X: FloatArray, folds: Folds, held: HeldOut) -> FloatArray:
        """Not used where there is no mixed model."""
        raise NotImplementedError

    def diagnostics(self, held: HeldOut) -> Diagnostics:  # noqa: ARG002
        """Return nothing."""
        return Diagnostics()
