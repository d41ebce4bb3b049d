"""`SplineSmoother`: a sum of curves, one for every feature."""

from __future__ import annotations

from typing import Literal

from debinet.data.options import one_of, whole_number
from debinet.learners.splines.basis import Curves, count_splines, place_splines
from debinet.learners.tangent.feature_learner import CRITERIA, FeatureLearner
from debinet.learners.tangent.view import require_memory
from debinet.protocols import FloatArray


class SplineSmoother(FeatureLearner):
    r"""Additive model `E(M | Z) = c + f_1(z_1) + ... + f_p(z_p)` of penalized B-splines.

    The penalty is that of P-splines, the squared second differences of the coefficients of each
    column's B-splines, so that curves are pulled towards straight lines; the lines themselves
    are penalized `skip` times less, so that many features do no harm. Every output has a penalty
    of its own and an unpenalized intercept; one decomposition serves all outputs. Interactions are
    not learned: use `WideNet` for those.

    Parameters
    ----------
    knots : int
        Per feature, evenly spaced over 99 % of the rows; beyond them, only the lines continue.
    degree : int
        Of the polynomials between knots.
    skip : float or "auto"
        Weight of the straight lines; `"auto"` chooses 1 or 100 for each output by the criterion
        of `tune`, at the price of two decompositions.
    tune : {"reml", "gcv"}
        What the penalties minimize: the negative restricted likelihood, or generalized
        cross-validation.

    Attributes
    ----------
    penalty_ : FloatArray of shape (m,)
        The penalty of each output; infinity where nothing but the mean was learned.
    skip_ : FloatArray of shape (m,)
        Weight of the lines of each output.
    noise_variance_ : FloatArray of shape (m,)
        Variance of the noise in a row of weight one.
    dof_ : FloatArray of shape (m,)
        Effective degrees of freedom, the intercept included.
    n_features_in_ : int

    References
    ----------
    Eilers & Marx (1996), Flexible smoothing with B-splines and penalties. Statistical Science 11.

    Examples
    --------
    >>> import numpy as np
    >>> import debinet as dn
    >>> Z = np.linspace(-2, 2, 200)[:, None]
    >>> dn.SplineSmoother().fit(Z, np.sin(2 * Z[:, 0])).predict([[0.5]]).round(2)
    array([0.84])
    """

    _auto_skips = (1.0, 100.0)

    def __init__(
        self,
        knots: int = 10,
        degree: int = 3,
        *,
        skip: float | Literal["auto"] = "auto",
        tune: Literal["reml", "gcv"] = "reml",
    ) -> None:
        self.knots = knots
        self.degree = degree
        self.skip = skip
        self.tune = tune

    def feature_map(
        self,
        Z: FloatArray,
        M: FloatArray,  # noqa: ARG002
        weight: FloatArray,
    ) -> tuple[Curves, tuple[float, ...]]:
        """Return the splines of rows (n, p), and the skip weights to try."""
        one_of("tune", self.tune, CRITERIA)
        knots, degree = whole_number("knots", self.knots, 3), whole_number("degree", self.degree, 1)
        require_memory(len(Z), count_splines(Z.shape[1], knots, degree), 1)
        return place_splines(Z, weight, knots, degree), self.skip_weights()
