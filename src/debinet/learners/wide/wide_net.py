"""The over-parameterized network of the paper, solved exactly in its infinite-width limit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from debinet.data.options import one_of
from debinet.learners.spectral.learner import SpectralLearner
from debinet.learners.spectral.prepared import SpectralFit, judged_columns
from debinet.learners.spectral.spectrum import FILTERS, SpectralFilter
from debinet.learners.spectral.tuning import CRITERIA
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.network_inputs import RELEVANCE, network_inputs
from debinet.learners.wide.view import KernelView, require_memory, view_rows
from debinet.protocols import Diagnostics, FloatArray


class WideNet(SpectralLearner):
    r"""Infinitely wide network, trained by gradient descent and stopped for each output.

    Training an infinitely wide network is kernel regression with its tangent kernel K. With one
    ReLU layer, :math:`\tilde z = (z / \sqrt p, 1)` and :math:`\theta` the angle between
    :math:`\tilde z` and :math:`\tilde z'`,

    .. math:: K = \langle \tilde z, \tilde z' \rangle \frac{\pi - \theta}{2 \pi}
        + |\tilde z| |\tilde z'| \frac{\sin \theta + (\pi - \theta) \cos \theta}{2 \pi}
        + s \langle z, z' \rangle / p,

    without the second term if only the first layer is trained, and with an unpenalized intercept.
    One eigendecomposition of K serves all outputs; each has its own stopping time t, and of the
    direction with eigenvalue w it learns the share :math:`w / (w + 1/t)` or :math:`1 - e^{-w t}`.
    There is no seed, no learning rate and no epoch. The kernel of `activation="erf"` is smooth, and
    `PartiallyLinear` then estimates the joint model by default.

    Parameters
    ----------
    depth : int
        Number of hidden layers.
    activation : {"relu", "leaky_relu", "erf", "tanh"}
        Leaky ReLU has slope 0.01 below zero.
    skip : float or "auto"
        Weight s of a linear skip connection; `"auto"` learns it with the relevance of the
        features if `activation="erf"`, and otherwise chooses 0 or 10 for each output by the
        criterion of `tune`. With 200 to 1,500 rows, one of them serves all outputs if no restricted
        likelihood is clearly greater with the other (docs/decisions/0029).
    train : {"all", "first"}
        Which layers are trained; `"first"` is the paper's setting.
    tune : {"reml", "gcv", "loo"}
        What the stopping times minimize: the negative restricted likelihood, generalized
        cross-validation, or the exact leave-one-out error.
    filter : {"ridge", "flow"}
        Ridge regression with penalty 1/t, or gradient flow until time t.
    relevance : {"auto", "learned", "per-output", "equal"}
        Weights of the features before the first layer, so that those that do not matter fade out:
        learned by restricted likelihood, on at most 1000 rows (500 for erf), for all outputs
        together or for each on its own; or equal. Learned weights are used if leave-one-out
        predictions are better, for rectifiers by more than the number of weights (AIC), and are not
        tried for more features than a third of those rows. For erf the features may also be
        rotated, and one common weight is learned if those of single features are not better; a
        smooth function of each feature is added to the network if the likelihood gains more than
        twice their number (AIC).
        `"auto"` learns them for at least 100 rows and 2 to 100 features, if the activation is a
        rectifier, or erf with `depth=1`, `tune="reml"` and `filter="ridge"`.

    Attributes
    ----------
    penalty_ : FloatArray of shape (m,)
        The penalty 1/t of each output; infinity where nothing but the mean was learned.
    skip_ : FloatArray of shape (m,)
        Skip weight of each output.
    noise_variance_ : FloatArray of shape (m,)
        Variance of the noise in a row of weight one.
    dof_ : FloatArray of shape (m,)
        Effective degrees of freedom, the intercept included.
    relevance_ : FloatArray of shape (p,), or (p, m) with `relevance="per-output"`
        Weights of the standardized features, all 1 if they are equal. After a rotation, the length
        of a feature's row in the matrix that maps features to inputs. A smooth function of a
        feature counts as an input of the same variance.
    n_features_in_ : int

    Notes
    -----
    Sample weights are precisions: a row of weight 2 has half the noise variance. Penalties are then
    comparable only between fits with weights of the same size.

    References
    ----------
    Jacot, Gabriel & Hongler (2018), Neural tangent kernel. NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from debinet.learners.wide import WideNet
    >>> Z = np.linspace(-2, 2, 50)[:, None]
    >>> net = WideNet().fit(Z, np.abs(Z[:, 0]))
    >>> bool(np.abs(net.predict([[1.0]]) - 1.0) < 0.02)
    True
    """

    relevance_: FloatArray

    def __init__(
        self,
        *,
        depth: int = 1,
        activation: Literal["relu", "leaky_relu", "erf", "tanh"] = "relu",
        skip: float | Literal["auto"] = "auto",
        train: Literal["all", "first"] = "all",
        tune: Literal["reml", "gcv", "loo"] = "reml",
        filter: Literal["ridge", "flow"] = "ridge",  # noqa: A002 - a public name, fixed
        relevance: Literal["auto", "learned", "per-output", "equal"] = "auto",
    ) -> None:
        self.depth = depth
        self.activation = activation
        self.skip = skip
        self.train = train
        self.tune = tune
        self.filter = filter
        self.relevance = relevance

    @property
    def spectral_filter(self) -> SpectralFilter:
        """How much of each direction is learned until a stopping time."""
        return FILTERS[self.filter]

    @property
    def architecture(self) -> Architecture:
        """The architecture of the network."""
        return Architecture(self.depth, self.activation, self.train)

    @property
    def is_smooth(self) -> bool:
        """Whether the mixed model can tell noise from the network's functions."""
        return self.activation == "erf" and self._is_mixed

    def check_options(self) -> None:
        """Check all options before anything is decomposed."""
        one_of("relevance", self.relevance, dict.fromkeys(RELEVANCE))
        one_of("filter", self.filter, FILTERS)
        one_of("tune", self.tune, CRITERIA)
        _ = self.architecture, self.skip_weights()

    def _decompose(
        self, Z: FloatArray, M: FloatArray, weight: FloatArray
    ) -> tuple[KernelView, ...]:
        architecture = self.architecture
        inputs = network_inputs(Z, M, weight, architecture, self._relevance())
        skips = [self.skip_weights(one.skip) for one in inputs]
        require_memory(len(Z), sum(map(len, skips)))
        # views of single outputs have equally many spectra
        judged = judged_columns(M, weight) if self._is_mixed and len(inputs) == 1 else None
        return tuple(
            view_rows(Z, weight, architecture, tried, one.map_, judged=judged)
            for one, tried in zip(inputs, skips, strict=True)
        )

    @property
    def _is_mixed(self) -> bool:
        """Whether penalties are chosen by the likelihood of a mixed model."""
        return self.tune == "reml" and self.filter == "ridge"

    def _relevance(self) -> str:
        """Return how weights are found: "auto" learns them by the criterion of the penalties."""
        return self.relevance if self._is_mixed or self.relevance != "auto" else "equal"

    def diagnostics(self) -> Diagnostics:
        """Return the stopping path, the noise and the relevance of a fit."""
        return replace(super().diagnostics(), relevance=self.relevance_)

    def _take(self, fit: SpectralFit, views: tuple[Any, ...]) -> None:
        super()._take(fit, views)
        scales = [view.inputs.relevance for view in views]
        own = self.relevance == "per-output" and fit.tuning.time.size == len(scales)
        self.relevance_ = np.column_stack(scales) if own else scales[0]
