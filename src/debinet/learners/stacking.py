"""Several learners as one: weighted, for each output, by how well they predict held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.optimize import nnls
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from debinet._random import RandomState, named_generator, root_seed
from debinet.data.folds import k_folds
from debinet.data.options import whole_number
from debinet.exceptions import OptionError
from debinet.learners.crossfitting import cross_fit
from debinet.learners.inputs import read_data, read_new_rows, read_weight
from debinet.learners.named import resolve_learner
from debinet.protocols import FloatArray

# Weight of the constraint that weights sum to one, against the rows: it then holds to 1e-6.
_SUM_TO_ONE = 1e4


class Stack(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Weighted average of learners, with weights of its own for every output.

    Weights are not negative, sum to one and minimize the squared error of held-out predictions. In
    `PartiallyLinear` these are the predictions of cross-fitting itself (short-stacking): every
    learner is cross-fitted once, and no further folds are needed.

    Parameters
    ----------
    learners : sequence of learners
        Any that `PartiallyLinear` takes, names included.
    folds : int
        Number of folds when the stack itself is fitted.
    random_state : int, numpy random generator, or None
        Seed of these folds and of the learners.

    Attributes
    ----------
    weights_ : FloatArray of shape (len(learners), m)
        Of each learner for each output.
    n_features_in_ : int

    References
    ----------
    Ahrens, Hansen, Schaffer & Wiemann (2024), Model averaging and double machine learning. Journal
    of Applied Econometrics.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> import debinet as dn
    >>> Z = np.linspace(-2, 2, 100)[:, None]
    >>> both = dn.stack([Ridge(), dn.SplineSmoother()], random_state=0).fit(Z, Z[:, 0] ** 2)
    >>> both.weights_.round(2).ravel()
    array([0., 1.])
    """

    def __init__(
        self, learners: Sequence[Any], *, folds: int = 5, random_state: RandomState = None
    ) -> None:
        self.learners = learners
        self.folds = folds
        self.random_state = random_state

    # Members that need outputs of one scale get them from the engine.
    scales_outputs = True

    def members(self, n: int) -> list[Any]:
        """Return the learners for n rows, names resolved."""
        if not isinstance(self.learners, (list, tuple)) or len(self.learners) < 2:
            raise OptionError(
                "learners to be a list of at least two",
                repr(self.learners),
                "Use stack(['wide', RandomForestRegressor()]).",
            )
        return [resolve_learner(learner, n).learner for learner in self.learners]

    def weigh(
        self, predictions: FloatArray, M: FloatArray, sample_weight: FloatArray | None = None
    ) -> FloatArray:
        """Return weights (k, m) for held-out predictions (k, n, m)."""
        return stacking_weights(predictions, M, sample_weight)

    def fit(self, Z: Any, M: Any, sample_weight: Any = None) -> Self:
        """Learn `E(M | Z)`: weights from held-out folds; the models of the folds predict.

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
        folds = k_folds(
            len(Z),
            min(whole_number("folds", self.folds, 2), len(Z)),
            named_generator(seed, "folds"),
        )
        stacked = cross_fit(self, Z, targets, folds, seed=seed, weights=weights)
        self.weights_ = stacked.models[0].models[0].weights
        self._combined, self._flat = stacked.models[0], M.ndim == 1
        return self

    def predict(self, Z: Any) -> FloatArray:
        """Return predictions of the shape of `M`, for any rows."""
        check_is_fitted(self, "weights_")
        Z = read_new_rows(self, Z)
        out = self._combined.predict(Z)
        return np.asarray(out[:, 0] if self._flat else out)


def stack(learners: Sequence[Any], *, folds: int = 5, random_state: RandomState = None) -> Stack:
    """Combine learners into one that weights them, for each output, by held-out predictions.

    See `Stack`.
    """
    return Stack(learners, folds=folds, random_state=random_state)


def stacking_weights(
    predictions: FloatArray, M: FloatArray, sample_weight: FloatArray | None = None
) -> FloatArray:
    """Return weights (k, m) >= 0 that sum to one and minimize the squared error.

    Parameters
    ----------
    predictions : FloatArray of shape (k, n, m)
        Held out, of k learners.
    M : FloatArray of shape (n, m)
    sample_weight : FloatArray of shape (n,), optional
    """
    root = np.ones(len(M)) if sample_weight is None else np.sqrt(sample_weight)
    k, _, m = predictions.shape
    weights = np.empty((k, m))
    for j in range(m):
        # Errors and not predictions: with weights that sum to one they are the same problem, and
        # outputs far from zero lose no digits.
        errors = (predictions[:, :, j] - M[:, j]).T * root[:, None]
        size = np.sqrt((errors**2).sum(axis=0).max()) or 1.0
        left = np.vstack([np.linalg.qr(errors / size, mode="r"), np.full(k, _SUM_TO_ONE)])
        found = nnls(left, np.r_[np.zeros(len(left) - 1), _SUM_TO_ONE])[0]
        weights[:, j] = found / found.sum()
    return weights
