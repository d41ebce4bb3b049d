"""The learner that predicts the mean: it turns partialling out into ordinary least squares."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted

from debinet.data.folds import Folds
from debinet.exceptions import FoldError, InputError
from debinet.learners.closed_form import ClosedForm
from debinet.learners.inputs import read_weight, typed
from debinet.protocols import FloatArray, HeldOut


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
        targets = typed(check_array, M, dtype=np.float64, ensure_2d=False)
        if not targets.ndim:
            raise InputError("one target per row", f"{M!r}", "Pass an array or a series.")
        weight = None if sample_weight is None else read_weight(sample_weight, len(targets))
        self.mean_ = np.average(targets, axis=0, weights=weight)
        return self

    def predict(self, Z: Any) -> FloatArray:
        """Return the means, once for every row of Z."""
        check_is_fitted(self, "mean_")
        return np.repeat(np.asarray(self.mean_)[None], len(Z), axis=0)

    def prepare(
        self,
        Z: FloatArray,  # noqa: ARG002
        M: FloatArray,  # noqa: ARG002
        weights: FloatArray | None = None,
    ) -> ClosedForm:
        """Return the closed form for rows of these weights."""
        return ClosedForm(lambda M, folds: _held_out_means(M, folds, weights))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.regressor_tags.poor_score = True
        return tags


def _held_out_means(M: FloatArray, folds: Folds, weights: FloatArray | None) -> HeldOut:
    """Return, for every row, the mean over the rows outside of its fold."""
    model = MeanLearner().fit(M, M, weights)
    if folds.in_sample:
        return HeldOut(model.predict(M), (model,))
    mass_of = np.ones(len(M)) if weights is None else weights
    codes = folds.codes()
    sums = np.zeros((len(folds), M.shape[1]))
    np.add.at(sums, codes, mass_of[:, None] * M)
    mass = np.bincount(codes, mass_of, minlength=len(folds))[:, None]
    left = mass.sum() - mass
    if (left <= 0).any():
        raise FoldError("rows of positive weight outside of every fold", "none", "Use more folds.")
    others: FloatArray = (sums.sum(axis=0) - sums) / left
    return HeldOut(others[codes], (model,))
