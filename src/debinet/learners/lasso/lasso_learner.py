"""`LassoLearner`: the Lasso, with a cross-validated penalty for each output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from debinet.data.options import share, whole_number
from debinet.learners.inputs import read_data, read_new_rows, read_weight
from debinet.learners.lasso.fitting import LassoSolution, PenaltyGrid, fit_lassos, inner_folds
from debinet.protocols import FloatArray, IntArray


class LassoLearner(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts by a Lasso on standardized controls; the learner named `"lasso"`.

    For each output m, it minimizes `|m - c - Z t|^2 / (2 n) + penalty |t|_1` over the intercept c
    and the coefficients t, the columns of Z having been divided by their standard deviations. The
    penalty of each output has the least cross-validated error. Penalties and predictions are
    those of scikit-learn's `make_pipeline(StandardScaler(), LassoCV())` with a small `tol`.

    Parameters
    ----------
    folds : int
        Number of inner folds of the cross-validation. They consist of successive rows, as in
        `LassoCV`, or of whole clusters, where these are known.
    penalties : int
        Number of penalties on the path, evenly spaced on a log scale.
    smallest : float
        The smallest penalty, divided by the largest, at which all coefficients are zero.

    Attributes
    ----------
    penalty_ : FloatArray of shape (m,)
        The chosen penalties.
    coef_ : FloatArray of shape (m, p), or (p,) if M has one dimension
        Coefficients on the scale of Z.
    intercept_ : FloatArray of shape (m,)
    n_features_in_ : int

    Notes
    -----
    The products `Z'Z` and `Z'M` of each inner fold are computed once. Those of its training rows
    follow by subtraction and serve all outputs and penalties, so that no further pass over the
    rows is needed. Coefficients are found by coordinate descent.

    The path ends early, where the error is 5 % above the least so far and more than 64 coefficients
    are nonzero. `LassoCV` computes the rest of the path as well; should the error fall again
    there, below all that came before, the two differ.

    Memory grows with `p^2`. With many more columns than rows, `LassoCV` needs less.

    References
    ----------
    Friedman, Hastie and Tibshirani (2010), Regularization paths for generalized linear models via
    coordinate descent, Journal of Statistical Software 33.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(200, 50))
    >>> M = np.column_stack([3 * Z[:, 0], Z[:, 1] - Z[:, 2]]) + rng.normal(size=(200, 2))
    >>> LassoLearner().fit(Z, M).coef_[:, :3].round(1)
    array([[ 2.9,  0. ,  0. ],
           [ 0. ,  0.9, -1. ]])
    """

    # Each output is fitted as if it were alone.
    scales_outputs = True

    def __init__(self, folds: int = 5, *, penalties: int = 100, smallest: float = 1e-3) -> None:
        self.folds = folds
        self.penalties = penalties
        self.smallest = smallest

    def fit(self, Z: Any, M: Any, sample_weight: Any = None) -> Self:
        """Learn `E(M | Z)`.

        Parameters
        ----------
        Z : array of shape (n, p)
        M : array of shape (n,) or (n, m)
        sample_weight : array of shape (n,), optional
            Rows of weight zero are left out.
        """
        return self._fit_rows([self], Z, M, [None], sample_weight=sample_weight)[0]

    def fit_folds(
        self,
        Z: Any,
        M: Any,
        rows: Sequence[IntArray],
        seeds: Sequence[int],  # noqa: ARG002 - nothing is random
        *,
        sample_weight: Any = None,
        groups: IntArray | None = None,
    ) -> list[Self]:
        """Return one learner per element of `rows`, fitted to these rows.

        Parameters
        ----------
        Z, M, sample_weight
            As in `fit`.
        rows : sequence of IntArray
            The rows of each learner.
        seeds : sequence of int
            Not used.
        groups : IntArray of shape (n,), optional
            Codes of rows that inner folds must not split.
        """
        twins = [type(self)(**self.get_params(deep=False)) for _ in rows]
        return self._fit_rows(twins, Z, M, rows, sample_weight=sample_weight, groups=groups)

    def predict(self, Z: Any) -> FloatArray:
        """Return predictions of the shape of `M`, for any rows."""
        check_is_fitted(self, "coef_")
        predictions = read_new_rows(self, Z) @ self.coef_.T + self.intercept_
        return np.asarray(predictions)

    def _fit_rows(
        self,
        twins: list[Self],
        Z: Any,
        M: Any,
        rows: Sequence[IntArray | None],
        *,
        sample_weight: Any = None,
        groups: IntArray | None = None,
    ) -> list[Self]:
        """Fit one twin to each set of rows; None stands for all."""
        grid = PenaltyGrid(
            whole_number("penalties", self.penalties, 2), share("smallest", self.smallest)
        )
        count = whole_number("folds", self.folds, 2)
        Z, M = read_data(self, Z, M)
        weight = read_weight(sample_weight, len(Z))
        for twin, chosen in zip(twins, rows, strict=True):
            used = np.arange(len(Z)) if chosen is None else chosen
            used = used[weight[used] > 0]
            fit = fit_lassos(
                Z[used],
                M.reshape(len(Z), -1)[used],
                weight[used],
                inner_folds(used.size, count, None if groups is None else groups[used]),
                grid,
            )
            twin._keep(self, fit, flat=M.ndim == 1)
        return twins

    def _keep(self, reader: Self, fit: LassoSolution, *, flat: bool) -> None:
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(reader, name):
                setattr(self, name, getattr(reader, name))
        self.penalty_ = fit.penalty
        self.coef_ = fit.coef[0] if flat else fit.coef
        self.intercept_ = fit.intercept[0] if flat else fit.intercept
