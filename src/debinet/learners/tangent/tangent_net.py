"""The wide network with finitely many random hidden units, solved exactly."""

from __future__ import annotations

from typing import Literal

from debinet._random import RandomState, root_seed
from debinet.data.options import one_of, whole_number
from debinet.learners.tangent.feature_learner import CRITERIA, FeatureLearner
from debinet.learners.tangent.features import Units


class TangentNet(FeatureLearner):
    r"""Network of random hidden units whose outgoing weights are trained by ridge regression.

    With :math:`\tilde z = (z / \sqrt p, 1)` of standardized z and :math:`w_r` standard normal, a
    row has the features :math:`\max(0, \langle w_r, \tilde z \rangle) / \sqrt{width}`, and
    :math:`\sqrt{s} z / \sqrt p` for a linear skip connection. Their kernel is, up to an error of
    order :math:`1 / \sqrt{width}`,

    .. math:: K = |\tilde z| |\tilde z'| \frac{\sin \theta + (\pi - \theta) \cos \theta}{2 \pi}
        + s \langle z, z' \rangle / p,

    the part of `WideNet`'s that training the second layer contributes. Time is proportional to
    `n width**2` and memory to `n width`, where `WideNet` takes `n**3` and `n**2`. One
    decomposition serves all outputs, each with its own penalty and an unpenalized intercept.

    Parameters
    ----------
    width : int
        Number of hidden units.
    skip : float or "auto"
        Weight s of the linear skip connection; `"auto"` chooses 0 or 10 for each output by the
        criterion of `tune`, at the price of two decompositions.
    tune : {"reml", "gcv"}
        What the penalties minimize: the negative restricted likelihood, or generalized
        cross-validation.
    random_state : int, generator or None
        From which the hidden units are drawn.

    Attributes
    ----------
    penalty_ : FloatArray of shape (m,)
        The penalty of each output; infinity where nothing but the mean was learned.
    skip_ : FloatArray of shape (m,)
        Skip weight of each output.
    noise_variance_ : FloatArray of shape (m,)
        Variance of the noise in a row of weight one.
    dof_ : FloatArray of shape (m,)
        Effective degrees of freedom, the intercept included.
    n_features_in_ : int

    Notes
    -----
    Sample weights are precisions, as in `WideNet`.

    References
    ----------
    Rahimi & Recht (2007), Random features for large-scale kernel machines. NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from debinet.learners.tangent import TangentNet
    >>> Z = np.linspace(-2, 2, 500)[:, None]
    >>> net = TangentNet(width=200, random_state=0).fit(Z, np.abs(Z[:, 0]))
    >>> bool(np.abs(net.predict([[1.0]]) - 1.0) < 0.02)
    True
    """

    def __init__(
        self,
        *,
        width: int = 2000,
        skip: float | Literal["auto"] = "auto",
        tune: Literal["reml", "gcv"] = "reml",
        random_state: RandomState = None,
    ) -> None:
        self.width = width
        self.skip = skip
        self.tune = tune
        self.random_state = random_state

    def features(self) -> Units:
        """Return the choice of features, from checked options."""
        one_of("tune", self.tune, CRITERIA)
        return Units(whole_number("width", self.width, 1), root_seed(self.random_state))
