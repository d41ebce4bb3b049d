"""The wide network with finitely many random hidden units, solved exactly."""

from __future__ import annotations

from typing import Any, Literal, Self
from weakref import WeakValueDictionary

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from debinet._random import RandomState, root_seed
from debinet.data.folds import Folds
from debinet.exceptions import FoldError, LengthError, OptionError
from debinet.learners.tangent.adjoint import Held, heldout_adjoint
from debinet.learners.tangent.factorization import Factorization, Units, factorize
from debinet.learners.tangent.heldout import heldout_predictions
from debinet.learners.tangent.mixed import fit_mixed
from debinet.learners.tangent.predictor import Predictor, make_predictor, predict
from debinet.learners.tangent.solution import Solution, solve
from debinet.learners.tangent.tuning import CRITERIA
from debinet.learners.wide.arguments import one_of, read_weight, skip_weights, typed
from debinet.learners.wide.factorization import fingerprint
from debinet.learners.wide.solution import inverse
from debinet.protocols import FloatArray, Pilot


class TangentNet(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
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
        What the penalties minimize: the restricted likelihood's negative, or generalized
        cross-validation.
    random_state : int, generator or None
        From which the hidden units are drawn. Fits to the same rows share their decomposition
        only if it is an integer, which the cross-fitting engine makes of None.

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

    _factorization: Factorization | None

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

        Exact for any partition of the rows, at the hidden units, the penalties and the
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
        columns = M.reshape(Z.shape[0], -1)
        out = heldout_predictions(
            factorization, solution, self._predictor, Z=Z, M=columns, folds=folds
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
        # A pickled network comes back without its decomposition.
        factorization = self.__dict__.get("_factorization")
        if factorization is None or self._time.size != 1:
            raise OptionError(
                "a TangentNet that was fitted to one target in this process",
                f"one of {self._time.size} targets",
                "Fit it to the one target first.",
            )
        spectrum = factorization.spectra[self._spectrum_of[0]]
        return heldout_adjoint(Held(factorization, spectrum, float(self._time[0])), X, folds)

    def forget(self) -> None:
        """Let go of the decompositions, which only further fits to the same Z would need."""
        self._factorization = None

    def _read(self, Z: Any, M: Any) -> tuple[FloatArray, FloatArray]:
        Z, M = typed(validate_data, self, Z, M, dtype=np.float64, multi_output=True, y_numeric=True)
        return Z, np.asarray(M, dtype=np.float64)

    def _solve(
        self, Z: FloatArray, M: FloatArray, weight: FloatArray
    ) -> tuple[Factorization, Solution]:
        criterion = one_of("tune", self.tune, CRITERIA)
        factorization = self._factorize(Z, weight)
        solution = solve(factorization, M.reshape(Z.shape[0], -1)[factorization.rows], criterion)
        self._predictor: Predictor = make_predictor(factorization, solution)
        self._flat = M.ndim == 1
        self._time, self._spectrum_of = solution.time, solution.spectrum_of
        self.penalty_ = inverse(solution.time)
        self.skip_ = np.array([s.skip for s in factorization.spectra])[solution.spectrum_of]
        self.noise_variance_ = solution.noise_variance
        self.dof_ = solution.dof
        return factorization, solution

    def _factorize(self, Z: FloatArray, weight: FloatArray) -> Factorization:
        """Return the decompositions for these rows, made anew only if nobody holds them."""
        skips = skip_weights(self.skip)
        units = Units(_read_width(self.width), root_seed(self.random_state))
        key = fingerprint(Z, weight, units, skips)
        shared = self._share()
        factorization = shared.get(key)
        if factorization is None:
            # let go of the old one first: two do not fit where one does
            self._factorization = None
            factorization = shared[key] = factorize(Z, weight, units, skips, key)
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
        for name in ("_factorization", "_shared"):
            state.pop(name, None)
        return state


def _read_width(width: Any) -> int:
    whole = isinstance(width, (int, np.integer)) and not isinstance(width, bool)
    if whole and width >= 1:
        return int(width)
    raise OptionError(
        "width to be a whole number of hidden units, at least 1",
        repr(width),
        "Use width=2000 or less.",
    )
