"""The over-parameterized network of the paper, solved exactly in its infinite-width limit."""

from __future__ import annotations

from copy import copy
from typing import Any, Literal, Self

import numpy as np

from debinet.data.folds import Folds
from debinet.learners.arguments import one_of
from debinet.learners.moments import column_moments
from debinet.learners.wide.adjoint import Held, heldout_adjoint
from debinet.learners.wide.factorization import Factorization, factorize, fingerprint
from debinet.learners.wide.filters import FILTERS
from debinet.learners.wide.heldout import heldout_predictions
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.mixed import fit_mixed
from debinet.learners.wide.network import SpectralNet
from debinet.learners.wide.per_output import OwnFactorizations, OwnSolutions
from debinet.learners.wide.predictor import Predictor, make_predictor, predict
from debinet.learners.wide.relevance import learn_relevance
from debinet.learners.wide.sensitivity import RECTIFIERS
from debinet.learners.wide.solution import Solution, solve
from debinet.learners.wide.spectrum import Spectrum
from debinet.learners.wide.tuning import CRITERIA
from debinet.protocols import FloatArray, Pilot

_RELEVANCE = ("auto", "learned", "per-output", "equal")
# Where "auto" learns the weights of the features (docs/decisions/0016).
AUTO_ROWS, AUTO_FEATURES = 100, 100


class WideNet(SpectralNet):
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
    There is no seed, no learning rate and no epoch.

    Parameters
    ----------
    depth : int
        Number of hidden layers.
    activation : {"relu", "leaky_relu", "erf", "tanh"}
        Leaky ReLU has slope 0.01 below zero.
    skip : float or "auto"
        Weight s of a linear skip connection; `"auto"` chooses 0 or 10 for each output by the
        criterion of `tune`, at the price of two eigendecompositions.
    train : {"all", "first"}
        Which layers are trained; `"first"` is the paper's setting.
    tune : {"reml", "gcv", "loo"}
        What the stopping times minimize: the restricted likelihood's negative, generalized
        cross-validation, or the exact leave-one-out error.
    filter : {"ridge", "flow"}
        Ridge regression with penalty 1/t, or gradient flow until time t.
    relevance : {"auto", "learned", "per-output", "equal"}
        Weights of the features before the first layer, so that those that do not matter fade out:
        learned by restricted likelihood, on at most 1000 rows, for all outputs together or for
        each on its own; or equal. Learned weights are used if leave-one-out predictions are better
        by more than the number of weights (AIC), and are not tried for more features than a third
        of those rows. `"auto"` learns them from 100 rows on and for at most 100 features, if the
        activation is a rectifier, `tune="reml"` and `filter="ridge"`.

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
        Weights of the standardized features, all 1 if they are equal.
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

    def _network(self) -> Architecture:
        # All options are checked here, before the decomposition is paid for.
        one_of("relevance", self.relevance, dict.fromkeys(_RELEVANCE))
        one_of("filter", self.filter, FILTERS)
        one_of("tune", self.tune, CRITERIA)
        return Architecture(self.depth, self.activation, self.train)

    def keep_relevance(self) -> Self:
        """Return a copy whose further fits keep the weights of the features that this one has.

        If every output has its own, those of the first are kept, for all.
        """
        twin = copy(self)
        twin._kept = True
        if self.relevance_.ndim == 2:
            twin.relevance_ = self.relevance_[:, 0]
        return twin

    def _look_at(self, Z: FloatArray, M: FloatArray, weight: FloatArray) -> None:
        if getattr(self, "_kept", False) and self.relevance_.size == Z.shape[1]:
            return
        if not self._learns(int(np.count_nonzero(weight)), Z.shape[1]):
            self.relevance_ = np.ones(Z.shape[1])
            return
        # repetitions of cross-fitting ask for the same again
        remembered = self._remembered()
        key = fingerprint(np.hstack([Z, M]), weight, (self._network(), self.relevance, Z.shape), ())
        if key not in remembered:
            remembered.clear()
            remembered[key] = self._learn(Z, M, weight)
        self.relevance_ = remembered[key].copy()

    def _learn(self, Z: FloatArray, M: FloatArray, weight: FloatArray) -> FloatArray:
        rows = np.flatnonzero(weight > 0)
        root = np.sqrt(weight[rows])
        inputs = column_moments(Z[rows], weight[rows]).standardize(Z[rows])
        targets = column_moments(M[rows], weight[rows]).standardize(M[rows])
        targets *= root[:, None]
        network = self._network()
        if self.relevance != "per-output":
            return learn_relevance(inputs, targets, root, network)
        own = [learn_relevance(inputs, part, root, network) for part in targets.T[:, :, None]]
        return np.column_stack(own)

    def _input_key(self) -> bytes:
        return bytes([self.relevance_.ndim]) + self.relevance_.tobytes()

    def _learns(self, n: int, p: int) -> bool:
        self._network()
        if self.relevance != "auto":
            return self.relevance != "equal"
        able = self.activation in RECTIFIERS and self.tune == "reml" and self.filter == "ridge"
        return able and n >= AUTO_ROWS and 1 < p <= AUTO_FEATURES

    def _decompose(
        self, Z: FloatArray, weight: FloatArray, network: Any, skips: tuple[float, ...], key: bytes
    ) -> Factorization | OwnFactorizations:
        if self.relevance_.ndim == 1:
            return factorize(Z, weight, network, skips, key, scale=self.relevance_)
        return OwnFactorizations(
            tuple(
                factorize(Z, weight, network, skips, key, scale=scale)
                for scale in self.relevance_.T
            )
        )

    def _tune(
        self, factorization: Factorization | OwnFactorizations, M: FloatArray
    ) -> Solution | OwnSolutions:
        if isinstance(factorization, Factorization):
            return solve(factorization, M, FILTERS[self.filter], self.tune)
        parts = tuple(
            solve(part, target[:, None], FILTERS[self.filter], self.tune)
            for part, target in zip(factorization.parts, M.T, strict=True)
        )
        return OwnSolutions(parts, len(factorization.parts[0].spectra))

    def _make_predictor(self, factorization: Any, solution: Any) -> Any:
        if isinstance(factorization, Factorization):
            return make_predictor(factorization, solution)
        return tuple(map(make_predictor, factorization.parts, solution.parts))

    def _predict(self, predictor: Predictor | tuple[Predictor, ...], Z: FloatArray) -> FloatArray:
        if isinstance(predictor, Predictor):
            return predict(predictor, Z)
        return np.column_stack([predict(part, Z) for part in predictor])

    def _hold_out(
        self, factorization: Any, solution: Any, Z: FloatArray, M: FloatArray, folds: Folds
    ) -> FloatArray:
        if isinstance(factorization, Factorization):
            predictor = self._predictor
            return heldout_predictions(factorization, solution, predictor, Z=Z, M=M, folds=folds)
        parts = zip(factorization.parts, solution.parts, self._predictor, M.T, strict=True)
        return np.column_stack(
            [
                heldout_predictions(inputs, fit, predictor, Z=Z, M=target[:, None], folds=folds)
                for inputs, fit, predictor, target in parts
            ]
        )

    def _fit_mixed(
        self, factorization: Factorization | OwnFactorizations, y: FloatArray, D: FloatArray
    ) -> Pilot:
        # y depends on Z as its own network sees it
        return fit_mixed(_first(factorization), y, D)

    def _adjoint(
        self,
        factorization: Factorization | OwnFactorizations,
        spectrum: Spectrum,
        time: float,
        X: FloatArray,
        folds: Folds,
    ) -> FloatArray:
        held = Held(_first(factorization), spectrum, FILTERS[self.filter], time)
        return heldout_adjoint(held, X, folds)


def _first(factorization: Factorization | OwnFactorizations) -> Factorization:
    """Return the factorization of the first output, or of all."""
    return factorization if isinstance(factorization, Factorization) else factorization.parts[0]
