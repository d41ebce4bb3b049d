"""What a fit can tell of itself beyond its residuals: the material of the trust report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from debinet.protocols import FloatArray, StoppingCurve


@dataclass(frozen=True)
class Evidence:
    """Figures about the nuisance functions; m = 1 + q columns, the outcome first.

    Attributes
    ----------
    in_sample : bool
        Whether the result rests on residuals of rows that the learner was trained on.
    total : FloatArray of shape (m,)
        Mean squares of y and D about their means.
    heldout : FloatArray of shape (m,) or None
        Mean squared residuals of rows that the learner had not seen. None if they are not known.
    trained : FloatArray of shape (m,) or None
        Mean squared residuals of rows that it was trained on.
    other_coef, other_se : FloatArray of shape (q,) or None
        Coefficients from the kind of residuals that the result does not rest on, and their
        standard errors.
    leftover : FloatArray of shape (k,)
        Correlations of the result's residual with functions of the nuisance features.
    leftover_names : tuple of str
        Which functions.
    stopping : StoppingCurve, optional
        For learners that stop.
    relevance : FloatArray of shape (p,), optional
        Weights of the nuisance features, for learners that learn them.
    relevance_names : tuple of str
        Which features.
    """

    in_sample: bool
    total: FloatArray
    heldout: FloatArray | None
    trained: FloatArray | None
    other_coef: FloatArray | None
    other_se: FloatArray | None
    leftover: FloatArray
    leftover_names: tuple[str, ...]
    stopping: StoppingCurve | None = None
    relevance: FloatArray | None = None
    relevance_names: tuple[str, ...] = ()


class Deferred:
    """Evidence that is gathered when it is first asked for, as that may take another fit."""

    def __init__(self, gather: Callable[[], Evidence] | Evidence) -> None:
        self._gather = gather

    def get(self) -> Evidence:
        """Return the evidence."""
        if not isinstance(self._gather, Evidence):
            self._gather = self._gather()  # what it was made of is let go
        return self._gather
