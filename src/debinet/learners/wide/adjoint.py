"""Transposes of the held-out operator: how sums of held-out residuals depend on the target.

At given stopping time the held-out residuals are linear in the target, `e = L m`. For ridge,
`L = blockdiag(Q_BB^-1) Q`, and in sample `L = lam Q`; other filters are mixtures of ridge filters
at complex penalties (see `filters`), and so are their operators. The covariance of the whole
procedure needs `L' X` for a few columns X.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from debinet.data.folds import Folds
from debinet.learners.wide.factorization import Factorization
from debinet.learners.wide.filters import SpectralFilter
from debinet.learners.wide.spectrum import Spectrum
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class Held:
    """A fit of one target.

    Attributes
    ----------
    factorization : Factorization
    spectrum : Spectrum
        The one of its spectra that the target uses.
    filter_ : SpectralFilter
    time : float
        Stopping time.
    """

    factorization: Factorization
    spectrum: Spectrum
    filter_: SpectralFilter
    time: float


def heldout_adjoint(held: Held, X: FloatArray, folds: Folds) -> FloatArray:
    """Return `L' X`, both of shape (rows of the data, q).

    Parameters
    ----------
    held : Held
    X : FloatArray of shape (n, q)
        For all rows of the data. Rows of no weight must be zero.
    folds : Folds
        Partition behind the held-out residuals, or none for residuals in sample.
    """
    rows, root = held.factorization.rows, held.factorization.root_weight[:, None]
    w, V = held.spectrum.w, held.spectrum.V
    inside = X[rows] / root
    total = np.zeros_like(inside)
    for weight, stretch in zip(held.filter_.weight, held.filter_.stretch, strict=True):
        left = 1.0 / (1.0 + stretch * held.time * w)
        solved = inside if folds.in_sample else _solve_blocks(held, left, inside, folds)
        total += (weight * (V @ (left[:, None] * (V.T @ solved)))).real
    out = np.zeros_like(X)
    out[rows] = root * total
    return out


def _solve_blocks(
    held: Held, left: npt.NDArray[Any], X: FloatArray, folds: Folds
) -> npt.NDArray[Any]:
    """Return `blockdiag(Q_BB^-1) X`; `left` in place of `1 / (w + lam)` scales all of Q alike."""
    V, rows = held.spectrum.V, held.factorization.rows
    if folds.singletons:
        return np.asarray(X / ((V**2) @ left)[:, None])
    position = np.full(folds.n, -1)
    position[rows] = np.arange(rows.size)
    out = np.zeros(X.shape, dtype=left.dtype)
    for fold in folds:
        block = position[fold.test]
        block = block[block >= 0]
        out[block] = np.linalg.solve((V[block] * left) @ V[block].T, X[block])
    return out
