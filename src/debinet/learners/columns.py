"""One learner for the outcome and others for the treatments."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from debinet._random import RandomState, named_seed, root_seed
from debinet.exceptions import OptionError
from debinet.learners.adapter import FittedLearner, fit_learner
from debinet.learners.inputs import read_data, read_new_rows, read_weight
from debinet.learners.named import resolve_learner
from debinet.protocols import FloatArray


class Columns(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A learner for the first column of M, the outcome, and one or several for the treatments.

    A treatment of zeros and ones can have a classifier, such as logistic regression: its
    probabilities are the predictions.

    Parameters
    ----------
    outcome : learner
        For y, and for what is left of y in the structured method.
    treatments : learner or list of learners
        For all columns of D, or one for each.
    random_state : int, numpy random generator, or None
        Seeds the learners whose own random state is None.

    Attributes
    ----------
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.linear_model import LassoCV, LogisticRegression
    >>> import debinet as dn
    >>> data = dn.datasets.make_enrolment(500, random_state=0)
    >>> learner = dn.Columns(LassoCV(), LogisticRegression())
    >>> model = dn.PartiallyLinear(["d1"], learner, method="dml2", random_state=0)
    >>> model.fit(data.X, data.y).result_.n
    500
    """

    # Every part scales its own outputs, and classifiers must see zeros and ones.
    scales_outputs = True

    def __init__(self, outcome: Any, treatments: Any, *, random_state: RandomState = None) -> None:
        self.outcome = outcome
        self.treatments = treatments
        self.random_state = random_state

    def fit(self, Z: Any, M: Any, sample_weight: Any = None) -> Self:
        """Learn `E(M | Z)`, the outcome being the first column of M.

        Parameters
        ----------
        Z : array of shape (n, p)
        M : array of shape (n,) or (n, m)
        sample_weight : array of shape (n,), optional
        """
        Z, M = read_data(self, Z, M)
        targets = M.reshape(len(Z), -1)
        weights = None if sample_weight is None else read_weight(sample_weight, len(Z))
        seed = root_seed(self.random_state)
        fits: list[FittedLearner] = []
        for k, (given, columns) in enumerate(self._parts(targets.shape[1])):
            learner = resolve_learner(given, len(Z)).learner
            part = targets[:, columns]
            fits.append(
                fit_learner(learner, Z, part, seed=named_seed(seed, "part", k), weights=weights)
            )
        self._fits, self._flat = fits, M.ndim == 1
        return self

    def predict(self, Z: Any) -> FloatArray:
        """Return predictions of the shape of `M`, for any rows."""
        check_is_fitted(self, "_fits")
        Z = read_new_rows(self, Z)
        out = np.column_stack([fit.predict(Z) for fit in self._fits])
        return np.asarray(out[:, 0] if self._flat else out)

    def _parts(self, m: int) -> list[tuple[Any, slice]]:
        """Return learners with the columns of M that they learn."""
        parts = [(self.outcome, slice(0, 1))]
        if m == 1:
            return parts
        if not isinstance(self.treatments, (list, tuple)):
            return [*parts, (self.treatments, slice(1, m))]
        if len(self.treatments) != m - 1:
            raise OptionError(
                f"one learner for all treatments, or {m - 1}, one for each",
                f"{len(self.treatments)} of them",
                "Pass one learner, or as many as there are treatments.",
            )
        return [*parts, *((one, slice(j, j + 1)) for j, one in enumerate(self.treatments, 1))]
