"""The over-parameterized network of the paper, solved exactly in its infinite-width limit."""

from __future__ import annotations

from typing import Any, Literal, Self
from weakref import WeakValueDictionary

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from debinet.data.folds import Folds
from debinet.exceptions import FoldError, LengthError, OptionError
from debinet.learners.wide.adjoint import Held, heldout_adjoint
from debinet.learners.wide.arguments import one_of, read_weight, skip_weights, typed
from debinet.learners.wide.factorization import Factorization, factorize, fingerprint
from debinet.learners.wide.filters import FILTERS
from debinet.learners.wide.heldout import heldout_predictions
from debinet.learners.wide.kernels import Architecture
from debinet.learners.wide.mixed import fit_mixed
from debinet.learners.wide.predictor import Predictor, make_predictor, predict
from debinet.learners.wide.solution import Solution, inverse, solve
from debinet.learners.wide.tuning import CRITERIA, StoppingPath
from debinet.protocols import FloatArray, Pilot


class WideNet(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
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
    relevance : {"equal", "auto"}
        Weight of the features before the first layer; both mean equal weights.

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

    _factorization: Factorization | None

    def __init__(
        self,
        *,
        depth: int = 1,
        activation: Literal["relu", "leaky_relu", "erf", "tanh"] = "relu",
        skip: float | Literal["auto"] = "auto",
        train: Literal["all", "first"] = "all",
        tune: Literal["reml", "gcv", "loo"] = "reml",
        filter: Literal["ridge", "flow"] = "ridge",  # noqa: A002 - a public name, fixed
        relevance: Literal["equal", "auto"] = "equal",
    ) -> None:
        self.depth = depth
        self.activation = activation
        self.skip = skip
        self.train = train
        self.tune = tune
        self.filter = filter
        self.relevance = relevance

    def fit(self, Z: Any, M: Any, sample_weight: Any = None) -> Self:
        """Learn `E(M | Z)`.

        Parameters
        ----------
        Z : array of shape (n, p)
        M : array of shape (n,) or (n, m)
        sample_weight : array of shape (n,), optional
            Not negative. Rows of weight 0 are as good as absent.
        """
        Z, M = self._read(Z, M)
        self._solve(Z, M, read_weight(sample_weight, Z.shape[0]))
        return self

    def predict(self, Z: Any) -> FloatArray:
        """Return predictions of the shape of `M`, for any rows."""
        check_is_fitted(self)
        Z = typed(validate_data, self, Z, reset=False, dtype=np.float64)
        out = predict(self._predictor, Z)
        return out[:, 0] if self._flat else out

    def heldout(self, Z: Any, M: Any, folds: Folds, sample_weight: Any = None) -> FloatArray:
        """Fit on all rows; return the predictions that fits without each fold make for it.

        Exact for both filters and any partition of the rows, at the penalties and the
        standardization of the fit on all rows.

        Parameters
        ----------
        Z, M, sample_weight
            As in `fit`.
        folds : Folds
            A partition of the rows, each part predicted from all others.
        """
        Z, M = self._read(Z, M)
        if folds.n != Z.shape[0]:
            raise LengthError(
                f"folds of {Z.shape[0]} rows", f"folds of {folds.n}", "Make them for these rows."
            )
        if not folds.complementary:
            raise FoldError(
                "folds that are predicted from all other rows",
                f"folds that train on fewer or more ({folds.label})",
                "Use the cross-fitting engine, which refits, for such folds.",
            )
        factorization, solution = self._solve(Z, M, read_weight(sample_weight, Z.shape[0]))
        out = heldout_predictions(
            factorization,
            solution,
            self._predictor,
            Z=Z,
            M=M.reshape(Z.shape[0], -1),
            folds=folds,
        )
        return out[:, 0] if self._flat else out

    def gls(self, Z: Any, y: Any, D: Any, sample_weight: Any = None) -> Pilot:
        """Estimate `y = D coef + N(0, tau K) + noise` by generalized least squares, REML.

        Parameters
        ----------
        Z, sample_weight
            As in `fit`.
        y : array of shape (n,)
        D : array of shape (n, q)
        """
        Z, M = self._read(Z, np.column_stack([y, D]))
        factorization = self._factorize(Z, read_weight(sample_weight, Z.shape[0]))
        inside = fit_mixed(factorization, M[factorization.rows, 0], M[factorization.rows, 1:])
        rows = np.zeros((Z.shape[0], M.shape[1] - 1))
        rows[factorization.rows] = inside.rows
        return Pilot(inside.coef, rows)

    def heldout_adjoint(self, X: FloatArray, folds: Folds) -> FloatArray:
        """Return `L' X`, with `L m` the held-out residuals of the one target m last fitted.

        Parameters
        ----------
        X : FloatArray of shape (n, q)
            Zero in rows of no weight.
        folds : Folds
            As in `heldout`, or the in-sample "folds".
        """
        check_is_fitted(self)
        if self._factorization is None or self._time.size != 1:
            raise OptionError(
                "a WideNet that was fitted to one target in this process",
                f"one of {self._time.size} targets",
                "Fit it to the one target first.",
            )
        stopped = Held(
            self._factorization,
            self._factorization.spectra[self._spectrum_of[0]],
            FILTERS[self.filter],
            float(self._time[0]),
        )
        return heldout_adjoint(stopped, X, folds)

    def forget(self) -> None:
        """Let go of the decompositions, which only further fits to the same Z would need."""
        self._factorization = None

    def stopping_path(self) -> StoppingPath:
        """Return penalties, criterion and degrees of freedom along each output's path."""
        check_is_fitted(self)
        return self._path

    def _read(self, Z: Any, M: Any) -> tuple[FloatArray, FloatArray]:
        Z, M = typed(validate_data, self, Z, M, dtype=np.float64, multi_output=True, y_numeric=True)
        return Z, np.asarray(M, dtype=np.float64)

    def _solve(
        self, Z: FloatArray, M: FloatArray, weight: FloatArray
    ) -> tuple[Factorization, Solution]:
        filter_ = FILTERS[one_of("filter", self.filter, FILTERS)]
        criterion = one_of("tune", self.tune, CRITERIA)
        factorization = self._factorize(Z, weight)
        columns = M.reshape(Z.shape[0], -1)[factorization.rows]
        solution = solve(factorization, columns, filter_, criterion)
        self._predictor: Predictor = make_predictor(factorization, solution)
        self._path = solution.path
        self._flat = M.ndim == 1
        self._time, self._spectrum_of = solution.time, solution.spectrum_of
        self.penalty_ = inverse(solution.time)
        self.skip_ = solution.path.skip
        self.noise_variance_ = solution.noise_variance
        self.dof_ = solution.dof
        return factorization, solution

    def _factorize(self, Z: FloatArray, weight: FloatArray) -> Factorization:
        """Return the decompositions for these rows, made anew only if nobody holds them."""
        architecture = Architecture(self.depth, self.activation, self.train)
        skips = skip_weights(self.skip)
        one_of("relevance", self.relevance, {"equal": None, "auto": None})
        key = fingerprint(Z, weight, architecture, skips)
        shared = self._share()
        factorization = shared.get(key)
        if factorization is None:
            # let go of the old one first: two do not fit where one does
            self._factorization = None
            factorization = shared[key] = factorize(Z, weight, architecture, skips, key)
        self._factorization = factorization
        return factorization

    def _share(self) -> WeakValueDictionary[bytes, Factorization]:
        """Return the decompositions that this object or one of its shallow copies still holds."""
        shared: WeakValueDictionary[bytes, Factorization] = self.__dict__.setdefault(
            "_shared", WeakValueDictionary()
        )
        return shared

    def __copy__(self) -> Self:
        self._share()
        twin = self.__class__.__new__(self.__class__)
        twin.__dict__.update(self.__dict__)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        # predictions need no eigenvectors, and files should not carry them
        state = dict(super().__getstate__())
        state.pop("_shared", None)
        return {**state, "_factorization": None}
