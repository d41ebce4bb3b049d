"""The learner that predicts the mean: it turns partialling out into ordinary least squares."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from debinet.data.folds import Folds
from debinet.exceptions import FoldError
from debinet.protocols import FloatArray


class MeanLearner(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts the (weighted) mean of every output, whatever Z is; the learner named `"mean"`.

    With it, `PartiallyLinear` is least squares of y on D with an intercept.

    Attributes
    ----------
    mean_ : FloatArray of shape (outputs,)
        Means of the outputs.

    Examples
    --------
    >>> import numpy as np
    >>> MeanLearner().fit(np.zeros((2, 1)), np.array([[1.0], [3.0]])).predict(np.zeros((1, 1)))
    array([[2.]])
    """

    def fit(self, Z: Any, M: Any, sample_weight: Any = None) -> Self:  # noqa: ARG002
        """Average the outputs."""
        self.mean_ = np.average(np.asarray(M, dtype=np.float64), axis=0, weights=sample_weight)
        return self

    def predict(self, Z: Any) -> FloatArray:
        """Return the means, once for every row of Z."""
        return np.repeat(np.asarray(self.mean_)[None], len(Z), axis=0)

    def heldout(
        self, Z: FloatArray, M: FloatArray, folds: Folds, sample_weight: FloatArray | None = None
    ) -> FloatArray:
        """Return, for every row, the mean over the rows outside of its fold."""
        self.fit(Z, M, sample_weight)
        weights = np.ones(len(M)) if sample_weight is None else sample_weight
        codes = folds.codes()
        sums = np.zeros((len(folds), M.shape[1]))
        np.add.at(sums, codes, weights[:, None] * M)
        mass = np.bincount(codes, weights, minlength=len(folds))[:, None]
        left = mass.sum() - mass
        if (left <= 0).any():
            raise FoldError(
                "rows of positive weight outside of every fold", "none", "Use more folds."
            )
        others: FloatArray = (sums.sum(axis=0) - sums) / left
        return others[codes]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.regressor_tags.poor_score = True
        return tags
