"""Transpose of the held-out operator: how sums of held-out residuals depend on the target."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from debinet.data.folds import Folds
from debinet.learners.tangent.factorization import Factorization
from debinet.learners.tangent.heldout import inside_blocks
from debinet.learners.tangent.lowrank import LowRank
from debinet.learners.tangent.smoother import Smoother, solve_blocks
from debinet.learners.tangent.solution import learned_share
from debinet.protocols import FloatArray


@dataclass(frozen=True)
class Held:
    """A fit of one target.

    Attributes
    ----------
    factorization : Factorization
    spectrum : LowRank
        The one of its spectra that the target uses.
    time : float
        Stopping time.
    """

    factorization: Factorization
    spectrum: LowRank
    time: float


def heldout_adjoint(held: Held, X: FloatArray, folds: Folds) -> FloatArray:
    """Return `L' X`, both of shape (rows of the data, q).

    Held-out residuals are `L m`; of weighted rows, `L = blockdiag(R_BB^-1) R`, in sample `L = R`.

    Parameters
    ----------
    held : Held
    X : FloatArray of shape (n, q)
        For all rows of the data. Rows of no weight must be zero.
    folds : Folds
        Partition behind the held-out residuals, or none for residuals in sample.
    """
    rows, root = held.factorization.rows, held.factorization.root_weight[:, None]
    share = learned_share(held.spectrum.w, np.array([held.time]))
    smoother = Smoother(held.spectrum.U, held.factorization.u, share)
    inside = X[rows] / root
    if not folds.in_sample:
        inside = solve_blocks(smoother, inside, inside_blocks(held.factorization, folds))
    out = np.zeros_like(X)
    out[rows] = root * smoother.residual(inside)
    return out
