"""Held-out fits from Gram matrices alone: no data are read here.

Columns over the rows are maps of a row, one for each fold; see `learners.spectral.summed`. Outcome
and treatments have their own units.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from debinet.exceptions import CollinearError
from debinet.learners.inputs import Moments
from debinet.learners.spectral.heldout import adjoint_residuals, held_out_residuals
from debinet.learners.spectral.joint import fit_joint
from debinet.learners.spectral.mixed import MixedFit, expected_bias, fit_mixed
from debinet.learners.spectral.prepared import Predictor, SpectralFit
from debinet.learners.spectral.spectrum import RIDGE
from debinet.learners.spectral.summed import SummedSpectrum, column_products
from debinet.learners.spectral.tuning import Tuning, tune_columns
from debinet.learners.tangent import TangentNet
from debinet.learners.tangent.view import FeatureExpansion
from debinet.protocols import FloatArray, HeldOut, Pilot
from debinet.streaming.grams import RowMap

# Less than this share of a treatment's variance is rounding.
_NOTHING_LEFT = 1e-11


@dataclass(frozen=True)
class GramRows:
    """Products of columns. Implements `debinet.inference.methods.RowAlgebra`.

    Attributes
    ----------
    G : FloatArray of shape (K, s, s)
        Gram matrices of the rows by fold.
    """

    G: FloatArray

    def regress(self, R_y: FloatArray, R_D: FloatArray) -> FloatArray:
        """Return the coefficients of the weighted regression."""
        return np.asarray(self.inner(self.dual(R_D), R_y[..., None])[:, 0])

    def average(self, R_y: FloatArray, R_D: FloatArray) -> FloatArray:
        """Not available for streams."""
        raise NotImplementedError

    def dual(self, R_D: FloatArray) -> FloatArray:
        """Return `B = R_D (R_D'R_D)^-1`."""
        gram = self.inner(R_D, R_D)
        # Differences of sums: rounding may leave less than nothing of a treatment.
        if not (np.diag(gram) > 0).all():
            raise CollinearError(
                "treatments that vary given the controls",
                "residuals of a treatment that are rounding errors",
                "Drop the treatment or the controls that determine it, or give more rows.",
            )
        # in units of their lengths, so that treatments on very different scales are solved equally
        scale = np.sqrt(np.diag(gram))
        units = np.outer(scale, scale)
        return np.asarray(R_D @ (np.linalg.inv(gram / units) / units))

    def inner(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return `left' right`."""
        return column_products(self.G, left, right)


@dataclass(frozen=True)
class SummedNuisances:
    """Ridge regression on features of rows that are known by their Gram matrices.

    Implements `debinet.inference.methods.Nuisances`.

    Attributes
    ----------
    net : TangentNet
        Whose options are used.
    row_map : RowMap
    G : FloatArray of shape (K, s, s)
        Gram matrices of the rows by fold.
    spectra : tuple of SummedSpectrum
        One per skip weight.
    factor : float
        By which all penalties are multiplied once they are chosen.
    """

    net: TangentNet
    row_map: RowMap
    G: FloatArray
    spectra: tuple[SummedSpectrum, ...]
    factor: float = 1.0

    @property
    def label(self) -> str:
        """The learner and the folds, in words."""
        return f"{type(self.net).__name__} and {len(self.G)} folds"

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        m = self.row_map.features
        return float(self.G[:, m, m].sum())

    def targets(self) -> FloatArray:
        """Return outcome and treatments without their means, as columns (K, s, 1 + q)."""
        sd = self.row_map.targets.sd
        one = np.vstack([np.zeros((self.row_map.size - sd.size, sd.size)), np.diag(sd)])
        return np.repeat(one[None], len(self.G), axis=0)

    def hold_out(self, M: FloatArray, *names: str | int) -> HeldOut:  # noqa: ARG002
        """Fit targets; predict every row from the rows outside of its fold."""
        sd = self._scale(M)
        X = M / sd
        allowed = np.ones((len(self.spectra), sd.size), dtype=np.bool_)
        tuning = tune_columns(self.spectra, X, allowed, self.net.tune, RIDGE)
        if self.factor != 1.0:
            tuning = tuning.scaled(self.factor)
        targets = self.row_map.targets
        mean = (targets.mean / targets.sd) @ M[0, -targets.sd.size :]
        expansion = self._expand(tuning, Moments(mean, sd))
        predictor = Predictor((expansion,), (np.arange(sd.size),))
        fit = SpectralFit(tuning, Moments(mean, sd), predictor)
        features = self.row_map.units.inputs.moments.mean.size
        model = self.net.fitted(fit, features)
        return HeldOut(M - self.residuals(M, fit), (model,), fit)

    def hold_again(self, M: FloatArray, held: HeldOut) -> HeldOut:
        """Hold out the targets of an earlier fit, at its penalties times the factor."""
        fit = SpectralFit(held.fit.tuning.scaled(self.factor), held.fit.target, None)
        return HeldOut(M - self.residuals(M, fit), (), fit)

    def residuals(self, M: FloatArray, fit: SpectralFit, *, in_sample: bool = False) -> FloatArray:
        """Return the residuals of targets at the penalties of a fit, held out or in sample."""
        out, blocks = np.empty_like(M), None if in_sample else ()
        for k, j, stopped in fit.tuning.groups():
            out[..., j], _ = held_out_residuals(self.spectra[k], M[..., j], stopped, blocks)
        return out

    def gls(self, y: FloatArray, D: FloatArray, *, joint: bool = False) -> Pilot:
        """Return the estimate of the mixed model."""
        M = np.concatenate([y[..., None], D], axis=-1)
        sd = self._scale(M)
        model = fit_joint if joint else fit_mixed
        return self._pilot(model(self.spectra, M / sd, self.factor), sd)

    def gls_again(self, y: FloatArray, D: FloatArray, pilot: Pilot) -> Pilot:
        """Repeat an earlier estimate of the mixed model, at its penalty times the factor."""
        M = np.concatenate([y[..., None], D], axis=-1)
        sd = self._scale(M)
        return self._pilot(pilot.choice.solve(M / sd, self.factor), sd)

    def _pilot(self, found: MixedFit, sd: FloatArray) -> Pilot:
        """Return a fit in the units of the targets."""
        coef, noise = found.coef * sd[0] / sd[1:], found.noise * float(sd[0])
        products = column_products(self.G, found.rows, found.rows)
        bias = expected_bias(found.spread, products, noise, sd[1:])
        return Pilot(coef, found.rows / sd[1:], noise, bias, found.choice)

    def adjoint(self, X: FloatArray, held: HeldOut) -> FloatArray:
        """Return `L' X`, `L m` being the held-out residuals of the one target m of `held`."""
        ((k, _, stopped),) = held.fit.tuning.groups()
        return adjoint_residuals(self.spectra[k], X, stopped, ())

    def scaled(self, factor: float) -> SummedNuisances:
        """Return the same with all penalties multiplied by a factor."""
        return replace(self, factor=factor)

    def _scale(self, M: FloatArray) -> FloatArray:
        """Return the standard deviations of targets."""
        energy = np.diag(column_products(self.G, M, M)) / self.weight
        raw = M[0, -self.row_map.targets.sd.size :]
        # If the treatments explain all of the outcome, the rest is rounding error, of either sign.
        least = np.finfo(np.float64).eps * (raw**2).sum(axis=0)
        return np.asarray(np.sqrt(np.maximum(energy, least)))

    def _expand(self, tuning: Tuning, target: Moments) -> FeatureExpansion:
        """Return the outputs as a function, from their coordinates."""
        maps = np.empty((self.row_map.features + 1, tuning.time.size))
        for j, k in enumerate(tuning.spectrum_of):
            spectrum = self.spectra[k]
            share = 1.0 - RIDGE.residual(spectrum.w * tuning.time[j])
            maps[:, j] = target.sd[j] * (spectrum.J[:, 1:] @ (share * tuning.coordinates[j]))
        return FeatureExpansion(self.row_map.units, maps[:-1], target.mean + maps[-1])


def require_identified(gram: FloatArray, names: Sequence[str]) -> None:
    """Require that every standardized treatment varies given Z and the others."""
    values, vectors = np.linalg.eigh(gram)
    if values[0] > _NOTHING_LEFT:
        return
    worst = np.flatnonzero(np.abs(vectors[:, 0]) > 0.3 / np.sqrt(len(names)))
    raise CollinearError(
        "treatments that vary given the controls and each other",
        f"nothing left of {', '.join(repr(names[j]) for j in worst[:5])}",
        "Drop those treatments, or the controls that determine them.",
    )
