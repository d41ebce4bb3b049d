"""Models of folds, and of several learners, that predict new rows by their average."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.adapter import FittedLearner
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class Averaged:
    """Models of the same targets, to predict new rows by their average.

    Attributes
    ----------
    fits : tuple of FittedLearner
        One per fold, or one of all rows for closed forms.
    """

    fits: tuple[FittedLearner, ...]

    def predict(self, Z: FloatArray) -> FloatArray:
        """Predict new rows by the average of the models, as in the paper's Algorithm 4."""
        return np.asarray(np.mean([fit.predict(Z) for fit in self.fits], axis=0))


@dataclass(frozen=True)
class Weighted:
    """Cross-fitted learners, averaged.

    Attributes
    ----------
    parts : tuple of Averaged
        Of k learners.
    weights : FloatArray of shape (k, m)
        Of each learner for each output.
    """

    parts: tuple[Averaged, ...]
    weights: FloatArray

    def predict(self, Z: FloatArray) -> FloatArray:
        """Return predictions (rows of Z, m)."""
        found = np.array([part.predict(Z) for part in self.parts])
        return np.asarray(np.einsum("km,knm->nm", self.weights, found))
