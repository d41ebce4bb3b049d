"""Held-out predictions of all outputs for any partition of the rows."""

from __future__ import annotations

import numpy as np

from debinet.data.folds import Folds
from debinet.exceptions import FoldError
from debinet.learners.tangent.factorization import Factorization
from debinet.learners.tangent.lowrank import LowRank
from debinet.learners.tangent.predictor import Predictor, predict
from debinet.learners.tangent.smoother import Smoother, solve_blocks
from debinet.learners.tangent.solution import Solution, learned_share
from debinet.protocols import FloatArray, IntArray


def heldout_predictions(
    factorization: Factorization,
    solution: Solution,
    predictor: Predictor,
    *,
    Z: FloatArray,
    M: FloatArray,
    folds: Folds,
) -> FloatArray:
    """Return what fits without each fold, at the same penalties, predict for it.

    Parameters
    ----------
    factorization, solution, predictor
        Of the fit on all rows.
    Z, M : FloatArray of shapes (n, p), (n, m)
        The rows of that fit, those of no weight included.
    folds : Folds
        A partition.

    Returns
    -------
    FloatArray of shape (n, m)
    """
    rows, root = factorization.rows, factorization.root_weight[:, None]
    dropped = np.setdiff1d(np.arange(folds.n), rows)
    blocks = inside_blocks(factorization, folds)
    weighted = root * solution.target.standardize(M[rows])
    out = M.copy()
    out[dropped] = predict(predictor, Z[dropped])
    for k, spectrum in enumerate(factorization.spectra):
        j = solution.outputs_of(k)
        if not j.size:
            continue
        smoother = Smoother(
            spectrum.U, factorization.u, learned_share(spectrum.w, solution.time[j])
        )
        held = solve_blocks(smoother, smoother.residual(weighted[:, j]), blocks)
        sd = solution.target.sd[j]
        out[np.ix_(rows, j)] -= sd * held / root
        if dropped.size:
            U = _coordinates(factorization, spectrum, Z[dropped])
            correction = _correct_outside(factorization, smoother, held, U, folds)
            out[np.ix_(dropped, j)] -= sd * correction
    return out


def inside_blocks(factorization: Factorization, folds: Folds) -> list[IntArray]:
    """Return the folds as positions among the rows of positive weight; empty ones are left out."""
    n = factorization.rows.size
    position = np.full(folds.n, -1)
    position[factorization.rows] = np.arange(n)
    blocks = [position[fold.test] for fold in folds]
    blocks = [block[block >= 0] for block in blocks]
    if any(block.size == n for block in blocks):
        raise FoldError(
            "rows of positive weight left to train on in every fold",
            "a fold that holds all of them",
            "Use more folds or groups.",
        )
    return [block for block in blocks if block.size]


def _coordinates(factorization: Factorization, spectrum: LowRank, Z: FloatArray) -> FloatArray:
    """Return rows (n0, p) in the coordinates (n0, k) of a decomposition."""
    features = factorization.feature_map(Z) - factorization.centre
    return np.asarray(features @ spectrum.basis)


def _correct_outside(
    factorization: Factorization,
    smoother: Smoother,
    held: FloatArray,
    U: FloatArray,
    folds: Folds,
) -> FloatArray:
    """Return what leaving each fold out takes from predictions of its rows of no weight.

    The fit without a block is the fit to all rows whose targets there are replaced by what it
    predicts for them, so it differs by the fit to the block's held-out residuals.
    """
    codes = folds.codes()
    inside, outside = codes[factorization.rows], np.delete(codes, factorization.rows)
    length = np.linalg.norm(factorization.root_weight)
    out = np.empty((outside.size, held.shape[1]))
    for code in np.unique(outside):
        here, there = inside == code, outside == code
        moved = smoother.share * (smoother.U[here].T @ held[here])
        out[there] = U[there] @ moved + smoother.u[here] @ held[here] / length
    return out
