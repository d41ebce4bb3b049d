"""The wide network on features instead of a kernel matrix: for many rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from debinet._random import RandomState, root_seed
from debinet.data.options import one_of, whole_number
from debinet.learners.inputs import Moments
from debinet.learners.spectral.prepared import SpectralFit
from debinet.learners.tangent.feature_learner import CRITERIA, FeatureLearner
from debinet.learners.tangent.features import HiddenUnits, NetworkFeatures, draw_directions
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.landmarks import choose_landmarks
from debinet.learners.wide.network_inputs import network_inputs
from debinet.protocols import Diagnostics, FloatArray

_FEATURES = ("landmarks", "units")
_RELEVANCE = ("auto", "learned", "equal")


class TangentNet(FeatureLearner):
    r"""The wide network, approximated by ridge regression on features of the rows.

    With `features="landmarks"` the features are the tangent kernel of `WideNet` between a row and
    `width` of the rows, which approximate it to many digits where the network is smooth
    (`activation="erf"`). With `features="units"` they are random hidden units
    :math:`\max(0, \langle w_r, \tilde z \rangle) / \sqrt{width}`, :math:`w_r` standard normal, and
    approximate, up to an error of order :math:`1 / \sqrt{width}`, the part of the kernel of a
    rectifier that training the second layer contributes. In both cases linear features
    :math:`\sqrt{s} z / \sqrt p` are a skip connection.

    Time is proportional to `n width**2` and memory to `n width`, where `WideNet` takes `n**3` and
    `n**2`. One decomposition serves all outputs, each with its own penalty and an unpenalized
    intercept.

    Parameters
    ----------
    width : int
        Number of landmarks or hidden units. Smooth functions of single features and rules, if there
        are any, take the places of some landmarks, of half of them at most.
    features : {"landmarks", "units"}
    activation : {"erf", "relu", "leaky_relu", "tanh"}
        For landmarks. Hidden units are always rectified.
    skip : float or "auto"
        Weight s of the linear skip connection; `"auto"` learns it with the relevance of the
        features, or chooses 0 or 10 for each output by the criterion of `tune`.
    tune : {"reml", "gcv"}
        What the penalties minimize: the negative restricted likelihood, or generalized
        cross-validation.
    relevance : {"auto", "learned", "equal"}
        Weights of the features, as in `WideNet`, learned on at most 500 rows for
        `activation="erf"`. `"auto"` learns them for landmarks, from 100 rows on and for 2 to 100
        features.
    random_state : int, generator or None
        From which landmarks or hidden units are drawn.

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
    relevance_ : FloatArray of shape (p,)
        Weights of the standardized features, all 1 if they are equal.
    n_features_in_ : int

    Notes
    -----
    Sample weights are precisions, as in `WideNet`.

    References
    ----------
    Williams & Seeger (2001), Using the Nystroem method to speed up kernel machines. NeurIPS.
    Rahimi & Recht (2007), Random features for large-scale kernel machines. NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from debinet.learners.tangent import TangentNet
    >>> Z = np.linspace(-2, 2, 500)[:, None]
    >>> net = TangentNet(width=200, random_state=0).fit(Z, np.sin(2 * Z[:, 0]))
    >>> bool(np.abs(net.predict([[1.0]]) - np.sin(2.0)) < 0.001)
    True
    """

    relevance_: FloatArray

    def __init__(
        self,
        *,
        width: int = 1000,
        features: Literal["landmarks", "units"] = "landmarks",
        activation: Literal["erf", "relu", "leaky_relu", "tanh"] = "erf",
        skip: float | Literal["auto"] = "auto",
        tune: Literal["reml", "gcv"] = "reml",
        relevance: Literal["auto", "learned", "equal"] = "auto",
        random_state: RandomState = None,
    ) -> None:
        self.width = width
        self.features = features
        self.activation = activation
        self.skip = skip
        self.tune = tune
        self.relevance = relevance
        self.random_state = random_state

    @property
    def architecture(self) -> Architecture:
        """The architecture of the network."""
        units = self.features == "units"
        return Architecture(activation="relu" if units else self.activation)

    @property
    def is_smooth(self) -> bool:
        """Whether the mixed model can tell noise from the network's functions."""
        return self.architecture.activation == "erf" and self.tune == "reml"

    def check_options(self) -> None:
        """Check all options before anything is decomposed."""
        super().check_options()
        one_of("tune", self.tune, CRITERIA)
        one_of("features", self.features, _FEATURES)
        one_of("relevance", self.relevance, _RELEVANCE)
        whole_number("width", self.width, 1)
        _ = self.architecture

    def feature_map(
        self, Z: FloatArray, M: FloatArray, weight: FloatArray, moments: Moments | None = None
    ) -> tuple[NetworkFeatures, tuple[float, ...]]:
        """Return the features for rows (n, p) and targets (n, m), and the skip weights to try.

        `moments` are those of the features, if these are some of the rows only.
        """
        seed, architecture = root_seed(self.random_state), self.architecture
        units = self.features == "units"
        by_rule = self.relevance == "auto" and (units or self.tune != "reml")
        relevance = "equal" if by_rule else self.relevance
        (inputs,) = network_inputs(Z, M, weight, architecture, relevance, moments=moments)
        skips = self.skip_weights(inputs.skip)
        if units:
            directions = draw_directions(seed, inputs.map_.width, self.width)
            return HiddenUnits(inputs.map_, directions), skips
        count = max(self.width - inputs.map_.added, self.width // 2)
        return choose_landmarks(Z, inputs.map_, architecture, count, seed), skips

    def diagnostics(self) -> Diagnostics:
        """Return the stopping path, the noise and the relevance of a fit."""
        return replace(super().diagnostics(), relevance=self.relevance_)

    def _take(self, fit: SpectralFit, views: tuple[Any, ...]) -> None:
        super()._take(fit, views)
        self.relevance_ = self._predictor.parts[0].feature_map.inputs.relevance
