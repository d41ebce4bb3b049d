"""A network of its own for every output, where each has its own relevance of the features.

What `SpectralNet` reads of a factorization and of a solution, read off several of one output each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.learners.wide.factorization import Factorization
from debinet.learners.wide.solution import Solution
from debinet.learners.wide.spectrum import Spectrum
from debinet.learners.wide.tuning import StoppingPath
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class OwnFactorizations:
    """The same rows, decomposed for every output on its own.

    Attributes
    ----------
    parts : tuple of Factorization
        One for each of m outputs.
    """

    parts: tuple[Factorization, ...]

    @property
    def rows(self) -> IntArray:
        """Return the rows of positive weight."""
        return self.parts[0].rows

    @property
    def spectra(self) -> tuple[Spectrum, ...]:
        """Return the spectra of all parts, one part after the other."""
        return tuple(spectrum for part in self.parts for spectrum in part.spectra)


@dataclass(frozen=True)
class OwnSolutions:
    """Fits of one output each.

    Attributes
    ----------
    parts : tuple of Solution
    spectra : int
        How many each part chose from.
    """

    parts: tuple[Solution, ...]
    spectra: int

    @property
    def time(self) -> FloatArray:
        """Return stopping times (m,)."""
        return np.concatenate([part.time for part in self.parts])

    @property
    def spectrum_of(self) -> IntArray:
        """Return which of the spectra of all parts each output uses."""
        first = self.spectra * np.arange(len(self.parts))
        return np.asarray(first + np.concatenate([part.spectrum_of for part in self.parts]))

    @property
    def noise_variance(self) -> FloatArray:
        """Return variances (m,) of the noise in a row of weight one."""
        return np.concatenate([part.noise_variance for part in self.parts])

    @property
    def dof(self) -> FloatArray:
        """Return effective degrees of freedom (m,)."""
        return np.concatenate([part.dof for part in self.parts])

    @property
    def path(self) -> StoppingPath:
        """Return the stopping paths side by side: grids have the same length for the same rows."""
        paths = [part.path for part in self.parts]
        return StoppingPath(
            np.column_stack([path.penalty for path in paths]),
            np.column_stack([path.criterion for path in paths]),
            np.column_stack([path.dof for path in paths]),
            np.concatenate([path.skip for path in paths]),
        )
