"""Records of the partialling-out step: what goes in and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from debinet._random import named_seed
from debinet.data.dataset import Dataset
from debinet.data.folds import Folds
from debinet.inference.regression import ResidualRegression
from debinet.learners.crossfitting import Averaged, Heldout, cross_fit
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class Task:
    """One repetition of cross-fitting to be done.

    Attributes
    ----------
    data : Dataset
        Of n rows.
    learner : learner
        Unfitted.
    folds : Folds
        Of the same rows.
    seed : int
        Decides all that is random in the learner.
    n_jobs : int, optional
        Folds fitted at the same time.
    """

    data: Dataset
    learner: Any
    folds: Folds
    seed: int
    n_jobs: int | None = None

    def cross_fit(self, learner: Any, M: FloatArray, *names: str | int) -> Heldout:
        """Hold the rows of M (n, m) out, with seeds that belong to `names`."""
        return cross_fit(
            learner,
            self.data.Z,
            M,
            self.folds,
            seed=named_seed(self.seed, *names),
            weights=self.data.weights,
            n_jobs=self.n_jobs,
            groups=self.data.groups,
        )


@dataclass(frozen=True)
class ConditionalMeans:
    """What predictions need of one repetition, and nothing of the training rows besides.

    Attributes
    ----------
    joint : Averaged
        Models of `E([y, D] | Z)`.
    g : Averaged, optional
        Models of `g(Z) = E(y - D pilot | Z)` for the structured method.
    pilot : FloatArray of shape (q,), optional
        The coefficients for which `g` was learned.
    """

    joint: Averaged
    g: Averaged | None
    pilot: FloatArray | None

    def __call__(self, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return `E(y|Z)` (n,) and `E(D|Z)` (n, q) for new rows."""
        means = self.joint.predict(Z)
        m_y, m_D = means[:, 0], means[:, 1:]
        if self.g is not None and self.pilot is not None:
            m_y = self.g.predict(Z)[:, 0] + m_D @ self.pilot
        return m_y, m_D


@dataclass(frozen=True)
class PartialledOut:
    """One repetition of cross-fitting, solved.

    Attributes
    ----------
    regression : ResidualRegression
        Residuals of all n rows and the coefficients.
    joint : Heldout
        Models of `E([y, D] | Z)`.
    g : Heldout, optional
        Models of `g(Z) = E(y - D pilot | Z)` for the structured method.
    pilot : FloatArray of shape (q,), optional
        The coefficients for which `g` was learned.
    """

    regression: ResidualRegression
    joint: Heldout
    g: Heldout | None = None
    pilot: FloatArray | None = None

    def forget(self) -> None:
        """Let go of what learners keep for further fits: n x n matrices, for the wide network."""
        for held in (self.joint, self.g):
            if held is None:
                continue
            for one in (held.learner, *(model for fit in held.fits for model in fit.models)):
                if hasattr(one, "forget"):
                    one.forget()

    @property
    def means(self) -> ConditionalMeans:
        """What predictions need."""
        return ConditionalMeans(
            self.joint.average, None if self.g is None else self.g.average, self.pilot
        )
