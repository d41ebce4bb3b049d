"""The coefficients along the penalty: what they would be if more of f and E(D|Z) were learned.

A penalty biases what is learned towards a constant, and the more so the larger it is. If smaller
penalties move a coefficient by more than noise explains, it is biased. With `coef = A y` at each
penalty, the noise of the difference is `(A - A_factor)' diag(e^2) (A - A_factor)`, e held out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from debinet.data.arrays import freeze_arrays, require
from debinet.exceptions import DebiNetError
from debinet.inference.methods import (
    MixedNuisances,
    RowAlgebra,
    Solved,
    solve,
)
from debinet.protocols import FloatArray, HeldOut, IntArray, Pilot

# By how much penalties are multiplied.
FACTORS = (0.3, 0.1)
# The same where every factor is a considerable part of the fit: for more rows than this, and where
# blocks of rows are held out, as each of them takes a factorization for every penalty.
FEWER_FACTORS = (0.1,)
MOST_ROWS = 5000


@dataclass(frozen=True)
class CoefficientPath:
    """Coefficients with all penalties multiplied by factors.

    Attributes
    ----------
    factor : FloatArray of shape (g,)
        Descending; the first is 1.
    coef : FloatArray of shape (g, q)
        The first row has the coefficients of the result.
    se_difference : FloatArray of shape (g, q)
        Standard errors of the differences from the first row.
    """

    factor: FloatArray
    coef: FloatArray
    se_difference: FloatArray

    def __post_init__(self) -> None:
        freeze_arrays(self, factor="g", coef="g q", se_difference="g q")
        require(self.factor.size > 1 and bool((np.diff(self.factor) < 0).all()), "factor")
        require(bool((self.se_difference >= 0).all()), "se_difference")


class PenalizedNuisances(MixedNuisances, Protocol):
    """Nuisances of a learner with a mixed model and penalties that can be changed."""

    def scaled(self, factor: float) -> PenalizedNuisances | None:
        """Return the same with all penalties multiplied, if the learner has penalties."""

    def hold_again(self, M: FloatArray, held: HeldOut) -> HeldOut:
        """Hold out the targets of an earlier fit, at its penalties times the factor."""

    def gls_again(self, y: FloatArray, D: FloatArray, pilot: Pilot) -> Pilot | None:
        """Repeat an earlier estimate of the mixed model, at its penalty times the factor."""


def solve_along(
    method: str,
    nuisances: PenalizedNuisances,
    rows: RowAlgebra,
    M: FloatArray,
    factors: Sequence[float],
    *,
    joint: HeldOut,
    pilot: Pilot | None,
) -> tuple[Solved, ...]:
    """Solve again with all penalties multiplied by each of the factors.

    Empty if the learner has no penalties, or there is no solution with smaller ones.

    Parameters
    ----------
    method, nuisances, rows, M
        As in `solve`, of a procedure that is linear in y.
    factors : sequence of float
    joint : HeldOut
        Of the targets M, whose penalties are multiplied.
    pilot : Pilot, optional
        As in `solve`.
    """
    found = []
    for factor in factors:
        other = nuisances.scaled(factor)
        if other is None:
            return ()
        try:
            R = M - other.hold_again(M, joint).predictions
            start = None
            if pilot is not None:
                y, D = M[..., 0], M[..., 1:]
                start = other.gls_again(y, D, pilot)
            found.append(solve(method, other, rows, M, R, pilot=start))
        except (DebiNetError, np.linalg.LinAlgError):
            return ()  # a check of the fit must not be the reason why it fails
    return tuple(found)


def make_path(
    coef: FloatArray, factors: Sequence[float], along: tuple[Solved, ...], variance: FloatArray
) -> CoefficientPath:
    """Return the path, given the variances (g - 1, q) of the differences."""
    se = np.vstack([np.zeros(coef.size), np.sqrt(variance)])
    return CoefficientPath(
        np.array([1.0, *factors]), np.stack([coef, *(one.coef for one in along)]), se
    )


def difference_variance(
    influence: FloatArray, e: FloatArray, along: tuple[Solved, ...], groups: IntArray | None
) -> FloatArray:
    """Return the variances (g - 1, q) of the differences for rows in memory.

    Parameters
    ----------
    influence : FloatArray of shape (n, q)
    e : FloatArray of shape (n,)
        Held-out residuals.
    along : tuple of Solved
        From `solve_along`.
    groups : IntArray of shape (n, ways), optional
        Clusters; the first way is used.
    """
    variances = []
    for one in along:
        assert one.influence is not None
        terms = (one.influence - influence) * e[:, None]
        if groups is not None:
            sums = np.zeros((int(groups[:, 0].max()) + 1, terms.shape[1]))
            np.add.at(sums, groups[:, 0], terms)
            terms = sums
        variances.append((terms**2).sum(axis=0))
    return np.stack(variances)
