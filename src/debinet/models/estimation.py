"""Records of an estimation: options, estimates, and what is kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from debinet.data.arrays import require
from debinet.data.schema import Schema
from debinet.inference.provenance import Provenance
from debinet.inference.regression import Regression
from debinet.inference.result import Inference
from debinet.inference.trust_evidence import DeferredEvidence
from debinet.learners.averages import Averaged
from debinet.learners.progress import Progress
from debinet.models.fitted_rows import FittedRows
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class Options:
    """How a partially linear model is to be estimated.

    Attributes
    ----------
    learner, method, crossfit, n_jobs
        Parameters of `PartiallyLinear`.
    seed : int
        From which all random states are derived.
    progress : Progress
        Whether a long fit shows how far it is.
    """

    learner: Any
    method: str
    crossfit: Any
    n_jobs: int | None
    seed: int
    progress: Progress = field(default_factory=Progress)


@dataclass(frozen=True)
class ConditionalMeans:
    """What predictions need of one repetition, without the training rows.

    Attributes
    ----------
    joint : Averaged
        Models of `E([y, D] | Z)`.
    g : Averaged, optional
        Models of `g(Z) = E(y - D pilot | Z)` for the structured method.
    pilot : FloatArray of shape (q,), optional
        The coefficients for which `g` was learned.
    instruments : int
        Number of last outputs of `joint` that predictions do not need.
    """

    joint: Averaged
    g: Averaged | None = None
    pilot: FloatArray | None = None
    instruments: int = 0

    def __post_init__(self) -> None:
        require((self.g is None) == (self.pilot is None), "g without its coefficients")

    def of_fold(self, number: int) -> ConditionalMeans:
        """Return the models that were fitted without one of several folds."""
        g = None if self.g is None else Averaged((self.g.fits[number],))
        return ConditionalMeans(Averaged((self.joint.fits[number],)), g, self.pilot)

    def __call__(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return `E(y|Z)` (n,) and `E(D|Z)` (n, q) for new rows."""
        means = self.joint.predict(Z)
        m_y, m_D = means[:, 0], means[:, 1 : means.shape[1] - self.instruments]
        if self.g is not None and self.pilot is not None:
            m_y = self.g.predict(Z)[:, 0] + m_D @ self.pilot
        return m_y, m_D


@dataclass(frozen=True)
class Estimation:
    """Estimates from rows, in memory or streamed: everything a result consists of.

    Attributes
    ----------
    regressions : tuple of Regression
        One per repetition of cross-fitting.
    means : tuple of ConditionalMeans
        One per repetition.
    schema : Schema
    provenance : Provenance
    notes : tuple of str
    evidence : DeferredEvidence
    linear : bool
        Whether the full procedure is linear in y, given its tuning parameters.
    groups : IntArray of shape (n, ways), optional
        Clusters of rows that were kept.
    folds : tuple of IntArray of shape (n,), optional
        As in `Fitted`.
    """

    regressions: tuple[Regression, ...]
    means: tuple[ConditionalMeans, ...]
    schema: Schema
    provenance: Provenance
    notes: tuple[str, ...]
    evidence: DeferredEvidence
    linear: bool
    groups: IntArray | None = None
    folds: tuple[IntArray, ...] | None = None


@dataclass(frozen=True)
class Fitted:
    """An estimated model.

    Attributes
    ----------
    result : Inference
    means : tuple of ConditionalMeans
        One per repetition of cross-fitting.
    schema : Schema
        How X becomes treatments and controls.
    folds : tuple of IntArray of shape (n,), optional
        For every repetition, numbers of the folds that rows were held out with. None if residuals
        are in sample or rows were streamed.
    rows : FittedRows, optional
        The rows of fit; None if they were streamed.
    """

    result: Inference
    means: tuple[ConditionalMeans, ...]
    schema: Schema
    folds: tuple[IntArray, ...] | None = None
    rows: FittedRows | None = None

    def __post_init__(self) -> None:
        for codes in self.folds or ():
            require(isinstance(codes, np.ndarray) and codes.dtype.kind in "iu", "folds")
            require(codes.ndim == 1 and codes.size > 0 and codes.min() >= 0, "folds")
        if self.folds is not None:
            sizes = {codes.size for codes in self.folds}
            rows = {len(fit.R_y) for fit in self.result.regressions}
            counts = len(self.folds) == len(self.means) == len(self.result.regressions)
            require(counts and sizes == rows, "folds")
            for codes, means in zip(self.folds, self.means, strict=True):
                require(len(means.joint.fits) in {1, int(codes.max()) + 1}, "folds")

    def predict(self, D: FloatArray, Z: FloatArray) -> FloatArray:
        """Return `E(y|Z) + (D - E(D|Z)) coef` for rows (n, q), (n, p)."""
        return self.nuisance(Z) + D @ self.result.estimate

    def nuisance(self, Z: FloatArray) -> FloatArray:
        """Return `f(Z) = E(y|Z) - E(D|Z) coef` for rows (n, p)."""
        found = [means(Z) for means in self.means]
        m_D = np.mean([part for _, part in found], axis=0)
        return np.asarray(np.mean([part for part, _ in found], axis=0) - m_D @ self.result.estimate)
