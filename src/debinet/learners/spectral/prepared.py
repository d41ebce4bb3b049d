"""A spectral learner on given inputs: what every fit to the same rows starts from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from debinet.data.folds import Folds
from debinet.exceptions import FoldError, LengthError, OptionError
from debinet.learners.inputs import Moments, column_moments
from debinet.learners.spectral.heldout import (
    Outside,
    adjoint_residuals,
    held_out_residuals,
    locate_blocks,
)
from debinet.learners.spectral.joint import fit_joint
from debinet.learners.spectral.mixed import MixedFit, expected_bias, fit_mixed
from debinet.learners.spectral.spectrum import SpectralFilter, Spectrum
from debinet.learners.spectral.tuning import Tuning, tune_columns
from debinet.learners.tails import cut_tails
from debinet.protocols import (
    BoolArray,
    Diagnostics,
    FloatArray,
    HeldOut,
    IntArray,
    Pilot,
)

if TYPE_CHECKING:
    from debinet.learners.spectral.learner import SpectralLearner


class View(Protocol):
    """Rows as the learner sees them, decomposed for some skip weights."""

    @property
    def spectra(self) -> tuple[Spectrum, ...]:
        """One per skip weight."""

    def outside(self, spectrum: Any, Z: FloatArray) -> Outside:
        """Return further rows (n0, p) in the coordinates of one of the spectra."""

    def expand(self, fits: Sequence[OutputFit]) -> Any:
        """Return outputs as a function, a record with `predict(Z)`."""


# Values this many standard deviations out do not take part in the choice of penalties.
_FAR = 5.0


@dataclass(frozen=True)
class OutputFit:
    """One output: where it stops, in which spectrum, and its units.

    Attributes
    ----------
    spectrum : Spectrum
    time : float
    filter_ : SpectralFilter
    coordinates : FloatArray of shape (k,)
        The standardized target in the spectrum.
    mean, sd : float
        Of the target.
    """

    spectrum: Any
    time: float
    filter_: SpectralFilter
    coordinates: FloatArray
    mean: float
    sd: float


@dataclass(frozen=True)
class Predictor:
    """Outputs as functions of Z.

    Attributes
    ----------
    parts : tuple
        Records with `predict(Z)`, one for each view of the rows that is used.
    outputs : tuple of IntArray
        Which outputs each part predicts.
    """

    parts: tuple[Any, ...]
    outputs: tuple[IntArray, ...]

    def predict(self, Z: FloatArray) -> FloatArray:
        """Return the outputs (r, m) for rows (r, p)."""
        out = np.empty((len(Z), sum(j.size for j in self.outputs)))
        for part, j in zip(self.parts, self.outputs, strict=True):
            out[:, j] = part.predict(Z)
        return out


@dataclass(frozen=True)
class SpectralFit:
    """Targets fitted to all rows.

    Attributes
    ----------
    tuning : Tuning
    target : Moments
        Of the m targets.
    predictor : Predictor, optional
        None where penalties were multiplied: such fits are held out, and predict no new rows.
    """

    tuning: Tuning
    target: Moments
    predictor: Predictor | None


@dataclass(frozen=True)
class SpectralPrepared:
    """Inputs, decomposed. Implements `debinet.protocols.Prepared`.

    Attributes
    ----------
    learner : SpectralLearner
        Whose options are used.
    Z : FloatArray of shape (n, p)
        All rows.
    rows : IntArray of shape (r,)
        Those of positive weight, in ascending order.
    root_weight : FloatArray of shape (r,)
        Square roots of their weights.
    views : tuple of View
        One for all targets, or one for each of those that the learner was prepared for. Any other
        targets are then treated like the first of them, the outcome.
    factor : float
        By which all penalties are multiplied once they are chosen.
    """

    learner: SpectralLearner
    Z: FloatArray
    rows: IntArray
    root_weight: FloatArray
    views: tuple[Any, ...]
    factor: float = 1.0

    @property
    def spectra(self) -> tuple[Spectrum, ...]:
        """The spectra of all views, one view after the other."""
        return tuple(spectrum for view in self.views for spectrum in view.spectra)

    def allowed(self, m: int) -> BoolArray:
        """Return from which spectra each of m targets may choose, of shape (spectra, m)."""
        views = len(self.views)
        of_output = np.arange(m) if m == views else np.zeros(m, dtype=np.int64)
        of_spectrum = np.repeat(np.arange(views), [len(view.spectra) for view in self.views])
        return np.asarray(of_spectrum[:, None] == of_output)

    def fit(self, M: FloatArray) -> SpectralFit:
        """Fit targets (n, m) to all rows."""
        return self._fit(*self._standardize(M))

    def _fit(self, target: Moments, X: FloatArray) -> SpectralFit:
        learner, allowed = self.learner, self.allowed(X.shape[1])
        filter_, judged = learner.spectral_filter, self._without_tails(X)
        tuning = tune_columns(self.spectra, X, allowed, learner.tune, filter_, judged=judged)
        if self.factor != 1.0:
            return SpectralFit(tuning.scaled(self.factor), target, None)
        return SpectralFit(tuning, target, self._predictor(tuning, target))

    def hold_out(self, M: FloatArray, folds: Folds) -> HeldOut:
        """Fit targets (n, m); predict every row from the rows outside of its fold."""
        _require_partition(folds, len(self.Z))
        target, X = self._standardize(M)
        return self._hold_out(M, folds, self._fit(target, X), X)

    def hold_again(self, M: FloatArray, folds: Folds, held: HeldOut) -> HeldOut:
        """Hold out the targets of an earlier fit, at its penalties times the factor."""
        target, X = self._standardize(M)
        fit = SpectralFit(held.fit.tuning.scaled(self.factor), target, None)
        return self._hold_out(M, folds, fit, X)

    def _hold_out(self, M: FloatArray, folds: Folds, fit: SpectralFit, X: FloatArray) -> HeldOut:
        target, blocks = fit.target, locate_blocks(folds, self.rows)
        dropped = np.setdiff1d(np.arange(len(self.Z)), self.rows)
        out = np.array(M, dtype=np.float64)
        if dropped.size:
            predictor = fit.predictor or self._predictor(fit.tuning, target)
            out[dropped] = predictor.predict(self.Z[dropped])
        mixed = any(block.inside.size and block.outside.size for block in blocks or ())
        for k, j, stopped in fit.tuning.groups():
            spectrum, sd = self.spectra[k], target.sd[j]
            seen = self._view_of(k).outside(spectrum, self.Z[dropped]) if mixed else None
            residual, moved = held_out_residuals(spectrum, X[:, j], stopped, blocks, seen)
            out[np.ix_(self.rows, j)] -= sd * residual / self.root_weight[:, None]
            if mixed:
                out[np.ix_(dropped, j)] -= sd * moved
        if fit.predictor is None:
            return HeldOut(out, (), fit)
        return HeldOut(out, (self.learner.fitted(fit, self.Z.shape[1], self.views),), fit)

    def gls(self, y: FloatArray, D: FloatArray, *, joint: bool = False) -> Pilot:
        """Estimate `y = D coef + N(0, tau K) + noise` by generalized least squares, REML.

        With `joint`, f may be related to the conditional means of D.
        """
        scales, X = self._standardize(np.column_stack([y, D]))
        first = np.flatnonzero(self.allowed(1)[:, 0])
        model = fit_joint if joint else fit_mixed
        spectra = [self.spectra[k] for k in first]
        found = model(spectra, X, self.factor)
        judged = self._without_tails((X[:, 0] - X[:, 1:] @ found.coef)[:, None])
        if judged is not None:
            judged = np.column_stack([judged[:, 0] + X[:, 1:] @ found.coef, X[:, 1:]])
            found = model(spectra, X, self.factor, judged)
        return self._pilot(y, found, scales)

    def gls_again(self, y: FloatArray, D: FloatArray, pilot: Pilot) -> Pilot:
        """Repeat an earlier estimate, at its penalty times the factor."""
        scales, X = self._standardize(np.column_stack([y, D]))
        return self._pilot(y, pilot.choice.solve(X, self.factor), scales)

    def _pilot(self, y: FloatArray, found: MixedFit, scales: Moments) -> Pilot:
        """Return a fit in the units of the targets, of which `scales` has the moments."""
        rows = np.zeros((y.size, scales.sd.size - 1))
        rows[self.rows] = found.rows * self.root_weight[:, None] / scales.sd[1:]
        noise = found.noise * float(scales.sd[0])
        bias = expected_bias(found.spread, found.rows.T @ found.rows, noise, scales.sd[1:])
        return Pilot(rows.T @ y, rows, noise, bias, found.choice)

    def adjoint(self, X: FloatArray, folds: Folds, held: HeldOut) -> FloatArray:
        """Return `L' X`, `L m` being the held-out residuals of the one target m of `held`.

        Parameters
        ----------
        X : FloatArray of shape (n, q)
            Zero in rows of weight zero.
        folds : Folds
            As in `hold_out`.
        held : HeldOut
            From `hold_out`, of one target.
        """
        tuning = held.fit.tuning
        if tuning.time.size != 1:
            raise OptionError(
                "the held-out fit of one target", f"one of {tuning.time.size}", "Hold it out alone."
            )
        ((k, _, stopped),) = tuning.groups()
        root = self.root_weight[:, None]
        blocks = locate_blocks(folds, self.rows)
        out = np.zeros_like(X)
        out[self.rows] = root * adjoint_residuals(
            self.spectra[k], X[self.rows] / root, stopped, blocks
        )
        return out

    def scaled(self, factor: float) -> SpectralPrepared:
        """Return the same learner with its penalties multiplied by a factor."""
        return replace(self, factor=factor)

    def diagnostics(self, held: HeldOut) -> Diagnostics:
        """Return the diagnostics of a fit."""
        return self.learner.fitted(held.fit, self.Z.shape[1], self.views).diagnostics()

    def _standardize(self, M: FloatArray) -> tuple[Moments, FloatArray]:
        """Return moments of the targets, and standardized, weighted columns (r, m)."""
        inside = M[self.rows]
        target = column_moments(inside, self.root_weight**2)
        return target, self.root_weight[:, None] * target.standardize(inside)

    def _without_tails(self, X: FloatArray) -> FloatArray | None:
        """Return weighted columns (r, m) without outliers, None if there are none.

        A few large values are what a function learns that goes through every row: the restricted
        likelihood prefers it to noise with heavy tails.
        """
        root = self.root_weight[:, None]
        values = X / root
        cut = cut_tails(values, _FAR)
        return None if cut is values else root * cut

    def _view_of(self, spectrum: int) -> Any:
        return self.views[spectrum // len(self.views[0].spectra)]

    def _predictor(self, tuning: Tuning, target: Moments) -> Predictor:
        fits = [
            OutputFit(
                self.spectra[k],
                float(tuning.time[j]),
                tuning.filter_,
                tuning.coordinates[j],
                float(target.mean[j]),
                float(target.sd[j]),
            )
            for j, k in enumerate(tuning.spectrum_of)
        ]
        of_view = tuning.spectrum_of // len(self.views[0].spectra)
        used = np.unique(of_view)
        outputs = tuple(np.flatnonzero(of_view == v) for v in used)
        parts = tuple(
            self.views[v].expand([fits[i] for i in j]) for v, j in zip(used, outputs, strict=True)
        )
        return Predictor(parts, outputs)


def judged_columns(M: FloatArray, weight: FloatArray) -> FloatArray:
    """Return targets (n, m) standardized, without outliers, and weighted (n,): all positive."""
    columns = cut_tails(column_moments(M, weight).standardize(M), _FAR)
    return np.sqrt(weight)[:, None] * column_moments(columns, weight).standardize(columns)


def _require_partition(folds: Folds, n: int) -> None:
    if folds.n != n:
        raise LengthError(f"folds of {n} rows", f"folds of {folds.n}", "Make them for these rows.")
    if not (folds.complementary or folds.in_sample):
        raise FoldError(
            "folds that are predicted from all other rows",
            f"folds that train on fewer or more ({folds.label})",
            "Use the cross-fitting engine, which refits, for such folds.",
        )
