"""What the algebra asks of a decomposition, whether of a kernel, of features or of sums over rows.

Columns have one entry per row of positive weight, times the square root of that weight. Rows in
memory make them arrays (n, c). Where only sums over rows are known they are linear maps of a row,
arrays (folds, s, c); see `summed`. The algebra looks at the last axis only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from debinet.learners.spectral.filters import RIDGE, SpectralFilter
from debinet.protocols import FloatArray, IntArray


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
    """

    w: FloatArray
    T: FloatArray
    rest: FloatArray
    directions: int

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
        """Return `blockdiag(R_BB^-1) X`."""


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
