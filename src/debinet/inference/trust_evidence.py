"""Numbers about a fit, beyond its residuals, for the trust report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from debinet.data.arrays import freeze_arrays, require
from debinet.inference.overlap import Overlap
from debinet.inference.penalty_path import CoefficientPath
from debinet.inference.rough_bias import RoughBias
from debinet.protocols import FloatArray, StoppingCurve


@dataclass(frozen=True)
class TrustEvidence:
    """Numbers about the nuisance functions; m = 1 + q columns, the outcome first.

    Attributes
    ----------
    in_sample : bool
        Whether the result uses residuals of rows that the learner was trained on.
    total : FloatArray of shape (m,)
        Mean squares of y and D about their means.
    heldout : FloatArray of shape (m,) or None
        Mean squared residuals of rows that the learner had not seen. None if they are not known.
    trained : FloatArray of shape (m,) or None
        Mean squared residuals of rows that it was trained on.
    other_coef, other_se : FloatArray of shape (q,) or None
        Coefficients from the kind of residuals that the result does not use, and their standard
        errors.
    leftover : FloatArray of shape (k,)
        Correlations of the result's residual with functions of the controls.
    leftover_treatments : FloatArray of shape (q, k) or None
        The same correlations of the residuals of the treatments.
    leftover_names : tuple of str
        Which functions.
    stopping : StoppingCurve, optional
        For learners that stop.
    relevance : FloatArray of shape (p,), optional
        Weights of the controls, for learners that learn them.
    relevance_names : tuple of str
        Which controls.
    path : CoefficientPath, optional
        The coefficients along the penalty, for learners that are linear in y.
    overlap : tuple of Overlap, optional
        Of the treatments of zeros and ones. None if it is not known.
    rough : RoughBias, optional
        What functions of single controls, left in both residuals, add to the coefficients.
    """

    in_sample: bool
    total: FloatArray
    heldout: FloatArray | None
    trained: FloatArray | None
    other_coef: FloatArray | None
    other_se: FloatArray | None
    leftover: FloatArray
    leftover_names: tuple[str, ...]
    leftover_treatments: FloatArray | None = None
    stopping: StoppingCurve | None = None
    relevance: FloatArray | None = None
    relevance_names: tuple[str, ...] = ()
    path: CoefficientPath | None = None
    overlap: tuple[Overlap, ...] | None = None
    rough: RoughBias | None = None

    def __post_init__(self) -> None:
        freeze_arrays(
            self,
            total="m",
            heldout="m",
            trained="m",
            other_coef="q",
            other_se="q",
            leftover="k",
            leftover_treatments="q k",
            relevance="p",
        )
        for squares in (self.total, self.heldout, self.trained):
            require(squares is None or bool((squares >= 0).all()), "negative mean squares")
        require(self.leftover.size == len(self.leftover_names), "leftover_names")
        relevance, curve = self.relevance, self.stopping
        require(relevance is None or relevance.size == len(self.relevance_names), "relevance_names")
        if curve is not None:
            fits = curve.x.ndim == 2 and curve.x.shape == (len(curve.value), self.total.size)
            require(fits and curve.value.shape == curve.x.shape, "stopping")
            require(curve.chosen.shape == self.total.shape, "stopping")
        q = self.total.size - 1
        require(self.path is None or self.path.coef.shape[1] == q, "path")
        require(self.rough is None or len(self.rough.bias) == q, "rough")
        known = self.overlap or ()
        require(all(isinstance(one, Overlap) and one.column < q for one in known), "overlap")

    @property
    def shrunk(self) -> FloatArray | None:
        """Size of residuals of rows that were trained on relative to that of others, (m,)."""
        if self.heldout is None or self.trained is None:
            return None
        # A column that is predicted without error, seen or not, has not shrunk.
        least = 1e-12 * self.total
        return np.asarray(np.sqrt((self.trained + least) / (self.heldout + least)))


@dataclass(frozen=True)
class LassoEvidence:
    """Numbers about a desparsified Lasso of p columns.

    Attributes
    ----------
    bias : FloatArray of shape (s,)
        Estimated bias, in standard errors, of the s coefficients that the Lasso does not set to
        zero: what is left of its shrinkage.
    left : FloatArray of shape (p,)
        Share of each column's variance that its nodewise regression leaves.
    noise : float
        Noise level of the Lasso's own residuals.
    unsolved : int
        Number of nodewise regressions that did not converge.
    """

    bias: FloatArray
    left: FloatArray
    noise: float
    unsolved: int = 0

    def __post_init__(self) -> None:
        freeze_arrays(self, bias="s", left="p")
        require(self.bias.size <= self.left.size and self.noise >= 0, "evidence")


@dataclass(eq=False)
class DeferredEvidence:
    """Evidence that is gathered when it is first needed, as that may take another fit.

    Attributes
    ----------
    source : callable, TrustEvidence or LassoEvidence
        What gathers it, and then the evidence itself.
    """

    source: Callable[[], TrustEvidence] | TrustEvidence | LassoEvidence

    def get(self) -> TrustEvidence | LassoEvidence:
        """Return the evidence."""
        if not isinstance(self.source, (TrustEvidence, LassoEvidence)):
            self.source = self.source()  # its ingredients can be freed
        return self.source

    def to_parts(self) -> Mapping[str, Any]:
        """Return the evidence, for files."""
        return {"evidence": self.get()}

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        """Return evidence from a file."""
        require(isinstance(parts["evidence"], (TrustEvidence, LassoEvidence)), "evidence")
        return cls(parts["evidence"])
