"""What the algebra needs from a decomposition of a kernel, of features or of sums over rows.

Columns have one entry per row of positive weight, times the square root of that weight. Rows in
memory make them arrays (n, c). Where only sums over rows are known they are linear maps of a row,
arrays (folds, s, c); see `summed`. The algebra uses the last axis only.

A filter is the share of each direction that a stopped network has learned. Stopping time `t` and
eigenvalue `w` enter through `x = w t`. Ridge leaves the share `1 / (1 + x)` of a direction in the
residual (its penalty is `1 / t`), gradient flow `exp(-x)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from debinet.protocols import FloatArray, IntArray

# Up to this size numpy's eigh, which copies but runs on the threads of numpy's own BLAS. Those of
# scipy's BLAS, a second library, would have to compete with them: 0.05 s of work then take 0.15.
SMALL = 1500
# Points of the contour; 24 reach 2e-14 on all of [0, inf), with more, rounding errors dominate.
_CONTOUR_POINTS = 24


@dataclass(frozen=True)
class SpectralFilter:
    """A filter, and the same filter as a mixture of ridge filters.

    Attributes
    ----------
    residual : callable
        `r(x)`, the share of a direction that stays in the residual.
    log_residual : callable
        `log r(x)`, without underflow.
    dual : callable
        `(1 - r(x)) / x`: the coefficient of a direction in the span of the kernel is `t` times it.
    weight, stretch : arrays of shape (k,), real or complex
        `r(x) = Re sum_k weight_k / (1 + stretch_k x)`. Closed forms that hold for ridge at any
        complex penalty hold, summed, for the filter.
    """

    residual: Callable[[FloatArray], FloatArray]
    log_residual: Callable[[FloatArray], FloatArray]
    dual: Callable[[FloatArray], FloatArray]
    weight: npt.NDArray[Any]
    stretch: npt.NDArray[Any]


def _ridge_residual(x: FloatArray) -> FloatArray:
    return 1.0 / (1.0 + x)


def _ridge_log_residual(x: FloatArray) -> FloatArray:
    return -np.log1p(x)


def _flow_residual(x: FloatArray) -> FloatArray:
    return np.exp(-x)


def _flow_dual(x: FloatArray) -> FloatArray:
    return np.divide(-np.expm1(-x), x, out=np.ones_like(x), where=x > 0)


def _flow_mixture() -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return `exp(-x)` as a sum of resolvents.

    `exp(-x)` is the integral of `exp(z) / (z + x) dz / (2 pi i)` over a contour around the
    negative axis; the midpoint rule on the cotangent contour of Trefethen, Weideman & Schmelzer
    (2006), equation 3.1, converges like 3.9^-points. Points come in conjugate pairs: the upper
    half with double weights, of which the real part is taken. The weights are scaled to sum to
    one exactly, so that nothing is learned at time 0.
    """
    angle = (2 * np.arange(1, _CONTOUR_POINTS // 2 + 1) - 1) * np.pi / _CONTOUR_POINTS
    tangent = np.tan(0.6407 * angle)
    sine = np.sin(0.6407 * angle)
    z = _CONTOUR_POINTS * (0.5017 * angle / tangent - 0.6122 + 0.2645j * angle)
    slope = 0.5017 / tangent - 0.5017 * 0.6407 * angle / sine**2 + 0.2645j
    weight = 2 * np.exp(z) * slope / (1j * z)
    return weight / weight.real.sum(), 1.0 / z


RIDGE = SpectralFilter(
    _ridge_residual, _ridge_log_residual, _ridge_residual, np.ones(1), np.ones(1)
)
FLOW = SpectralFilter(_flow_residual, np.negative, _flow_dual, *_flow_mixture())
FILTERS: Mapping[str, SpectralFilter] = MappingProxyType({"ridge": RIDGE, "flow": FLOW})


@dataclass(frozen=True)
class Projected:
    """Columns in the coordinates of a decomposition.

    Attributes
    ----------
    w : FloatArray of shape (k,)
        Eigenvalues.
    T : FloatArray of shape (k, c)
        Coordinates in the directions that are learned.
    rest : FloatArray of shape (r, c)
        Any rows with the inner products of what lies in the directions of eigenvalue 0, of which
        nothing is learned.
    directions : int
        Number of all directions orthogonal to the unpenalized columns.
    unpenalized : int
        Number of those columns.
    """

    w: FloatArray
    T: FloatArray
    rest: FloatArray
    directions: int
    unpenalized: int = 1

    def energy(self, shares: FloatArray) -> FloatArray:
        """Return `sum T^2 shares + rest^2` (g, c) for shares (g, c or 1, k)."""
        if shares.shape[1] == 1:
            return np.asarray(shares[:, 0, :] @ self._power.T + self._idle)
        return np.asarray(np.einsum("gck,ck->gc", shares, self._power) + self._idle)

    @cached_property
    def _power(self) -> FloatArray:
        return np.asarray(self.T.T**2)

    @cached_property
    def _idle(self) -> FloatArray:
        return np.asarray((self.rest**2).sum(axis=0))


@dataclass(frozen=True)
class Block:
    """Rows held out together.

    Attributes
    ----------
    inside : IntArray of shape (b,)
        Positions among the rows of positive weight.
    outside : IntArray of shape (b0,)
        Positions among the rows of weight zero, which a decomposition does not contain.
    """

    inside: IntArray
    outside: IntArray


class Spectrum(Protocol):
    """Eigenvectors U of a weighted kernel, orthogonal to the unpenalized columns C.

    With penalty `1 / t`, ridge regression leaves the share `left = 1 / (1 + w t)` of each
    direction. Its residual operator is `R = U diag(left) U' + (I - C C' - U U')`.
    """

    @property
    def skip(self) -> float:
        """Weight of the linear part in the kernel."""

    @property
    def w(self) -> FloatArray:
        """Eigenvalues (k,), ascending, not negative."""

    def project(self, X: FloatArray) -> Projected:
        """Return the coordinates of columns."""

    def residual(self, X: npt.NDArray[Any], left: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return `R X`, for `left` (k, c), or (k, 1) for all columns alike."""

    def solve_blocks(
        self, X: npt.NDArray[Any], left: npt.NDArray[Any], blocks: Sequence[Block]
    ) -> npt.NDArray[Any]:
        """Return `blockdiag(R_BB^-1) X`; without blocks, every row is one."""


@dataclass(frozen=True)
class Stopped:
    """Where the learning of c columns stops in one spectrum.

    Attributes
    ----------
    time : FloatArray of shape (c,)
        Stopping times, the inverses of the penalties.
    filter_ : SpectralFilter
    """

    time: FloatArray
    filter_: SpectralFilter = RIDGE

    def resolvents(self, w: FloatArray) -> Iterator[tuple[Any, npt.NDArray[Any]]]:
        """Yield the ridge fits, at possibly complex penalties, that the filter is a mixture of.

        Each with its weight, and the share `left` (k, c) that it leaves of each direction.
        """
        for weight, stretch in zip(self.filter_.weight, self.filter_.stretch, strict=True):
            yield weight, 1.0 / (1.0 + np.multiply.outer(w, stretch * self.time))
