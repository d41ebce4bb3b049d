"""What the exact and the random-feature network share: everything but how they are solved."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self
from weakref import WeakValueDictionary

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from debinet.data.folds import Folds
from debinet.exceptions import FoldError, LengthError, OptionError
from debinet.learners.arguments import read_data, read_new_rows, read_weight
from debinet.learners.wide.factorization import fingerprint
from debinet.learners.wide.skips import AUTO_SKIPS, skip_weights
from debinet.learners.wide.tuning import StoppingPath, inverse
from debinet.protocols import FloatArray, Pilot


class SpectralNet(MultiOutputMixin, RegressorMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A network that is kernel regression, solved by one decomposition for all outputs.

    Subclasses say which network it is and how its inputs are decomposed; `Factorization` and
    `Solution` below are theirs, and this class looks only at `rows`, `spectra` (with `skip`),
    `time`, `spectrum_of`, `noise_variance` and `dof`.
    """

    skip: Any
    _auto_skips = AUTO_SKIPS
    _factorization: Any
    _path: StoppingPath

    @abstractmethod
    def _network(self) -> object:
        """Return, from checked options, a record that tells networks apart."""

    @abstractmethod
    def _decompose(
        self, Z: FloatArray, weight: FloatArray, network: Any, skips: tuple[float, ...], key: bytes
    ) -> Any:
        """Return the Factorization of the inputs."""

    @abstractmethod
    def _tune(self, factorization: Any, M: FloatArray) -> Any:
        """Return the Solution for the targets (n, m) of the factorization's rows."""

    @abstractmethod
    def _make_predictor(self, factorization: Any, solution: Any) -> Any:
        """Return what predictions need, and nothing of size n x n."""

    @abstractmethod
    def _predict(self, predictor: Any, Z: FloatArray) -> FloatArray:
        """Return outputs (r, m) for rows (r, p)."""

    @abstractmethod
    def _hold_out(
        self, factorization: Any, solution: Any, Z: FloatArray, M: FloatArray, folds: Folds
    ) -> FloatArray:
        """Return held-out predictions (n, m) in closed form."""

    @abstractmethod
    def _fit_mixed(self, factorization: Any, y: FloatArray, D: FloatArray) -> Pilot:
        """Return the mixed-model estimate for the factorization's rows."""

    @abstractmethod
    def _adjoint(
        self, factorization: Any, spectrum: Any, time: float, X: FloatArray, folds: Folds
    ) -> FloatArray:
        """Return `L' X` for one target stopped at `time`."""

    def fit(self, Z: Any, M: Any, sample_weight: Any = None) -> Self:
        """Learn `E(M | Z)`.

        Parameters
        ----------
        Z : array of shape (n, p)
        M : array of shape (n,) or (n, m)
        sample_weight : array of shape (n,), optional
            Not negative. Rows of weight 0 are as good as absent.
        """
        Z, M = read_data(self, Z, M)
        self._solve(Z, M, read_weight(sample_weight, Z.shape[0]))
        return self

    def predict(self, Z: Any) -> FloatArray:
        """Return predictions of the shape of `M`, for any rows."""
        check_is_fitted(self)
        Z = read_new_rows(self, Z)
        out = self._predict(self._predictor, Z)
        return out[:, 0] if self._flat else out

    def heldout(self, Z: Any, M: Any, folds: Folds, sample_weight: Any = None) -> FloatArray:
        """Fit on all rows; return the predictions that fits without each fold make for it.

        Exact for any partition of the rows, at the network, the penalties and the
        standardization of the fit on all rows.

        Parameters
        ----------
        Z, M, sample_weight
            As in `fit`.
        folds : Folds
            A partition of the rows, each part predicted from all others.
        """
        Z, M = read_data(self, Z, M)
        _require_partition(folds, Z.shape[0])
        factorization, solution = self._solve(Z, M, read_weight(sample_weight, Z.shape[0]))
        out = self._hold_out(factorization, solution, Z, M.reshape(Z.shape[0], -1), folds)
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
        Z, M = read_data(self, Z, np.column_stack([y, D]))
        weight = read_weight(sample_weight, Z.shape[0])
        self._look_at(Z, M, weight)
        factorization = self._factorize(Z, weight)
        inside = M[factorization.rows]
        pilot = self._fit_mixed(factorization, inside[:, 0], inside[:, 1:])
        rows = np.zeros((Z.shape[0], M.shape[1] - 1))
        rows[factorization.rows] = pilot.rows
        return Pilot(pilot.coef, rows, pilot.noise)

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
                f"a {type(self).__name__} that was fitted to one target in this process",
                f"one of {self._time.size} targets",
                "Fit it to the one target first.",
            )
        spectrum = self._factorization.spectra[self._spectrum_of[0]]
        return self._adjoint(self._factorization, spectrum, float(self._time[0]), X, folds)

    def stopping_path(self) -> StoppingPath:
        """Return penalties, criterion and degrees of freedom along each output's path."""
        check_is_fitted(self)
        return self._path

    def forget(self) -> None:
        """Let go of the decompositions, which only further fits to the same Z would need."""
        self._factorization = None

    def _look_at(self, Z: FloatArray, M: FloatArray, weight: FloatArray) -> None:
        """Learn what the network itself depends on of the targets (n, m): by default nothing."""

    def _solve(self, Z: FloatArray, M: FloatArray, weight: FloatArray) -> tuple[Any, Any]:
        self._look_at(Z, M.reshape(Z.shape[0], -1), weight)
        factorization = self._factorize(Z, weight)
        solution = self._tune(factorization, M.reshape(Z.shape[0], -1)[factorization.rows])
        self._predictor = self._make_predictor(factorization, solution)
        self._flat = M.ndim == 1
        self._time, self._spectrum_of = solution.time, solution.spectrum_of
        self.penalty_ = inverse(solution.time)
        self.skip_ = np.array([s.skip for s in factorization.spectra])[solution.spectrum_of]
        self.noise_variance_ = solution.noise_variance
        self.dof_ = solution.dof
        self._path = solution.path
        return factorization, solution

    def _factorize(self, Z: FloatArray, weight: FloatArray) -> Any:
        """Return the decompositions for these rows, made anew only if nobody holds them."""
        network, skips = self._network(), skip_weights(self.skip, self._auto_skips)
        key = fingerprint(Z, weight, (network, self._input_key()), skips)
        shared = self._share()
        factorization = shared.get(key)
        if factorization is None:
            # let go of the old one first: two do not fit where one does
            self._factorization = None
            factorization = shared[key] = self._decompose(Z, weight, network, skips, key)
        self._factorization = factorization
        return factorization

    def _input_key(self) -> bytes:
        """Return what else the decomposition depends on."""
        return b""

    def _share(self) -> WeakValueDictionary[bytes, Any]:
        """Return the decompositions that this object or one of its shallow copies still holds."""
        shared: WeakValueDictionary[bytes, Any] = self.__dict__.setdefault(
            "_shared", WeakValueDictionary()
        )
        return shared

    def _remembered(self) -> dict[bytes, FloatArray]:
        """Return what this object or one of its shallow copies learned of the inputs last."""
        remembered: dict[bytes, FloatArray] = self.__dict__.setdefault("_learned", {})
        return remembered

    def __copy__(self) -> Self:
        self._share()
        self._remembered()
        twin = self.__class__.__new__(self.__class__)
        twin.__dict__.update(self.__dict__)
        return twin

    def __getstate__(self) -> dict[str, Any]:
        # predictions need no eigenvectors, and files should not carry them
        state = dict(super().__getstate__())
        state.pop("_shared", None)
        state.pop("_learned", None)
        return {**state, "_factorization": None}


def _require_partition(folds: Folds, n: int) -> None:
    if folds.n != n:
        raise LengthError(f"folds of {n} rows", f"folds of {folds.n}", "Make them for these rows.")
    if not folds.complementary:
        raise FoldError(
            "folds that are predicted from all other rows",
            f"folds that train on fewer or more ({folds.label})",
            "Use the cross-fitting engine, which refits, for such folds.",
        )
