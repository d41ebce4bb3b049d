"""Held-out predictions of all outputs for any partition of the rows."""

from __future__ import annotations

import numpy as np

from debinet.data.folds import Folds
from debinet.exceptions import FoldError
from debinet.learners.wide.blocks import Block, Outside, Stopped, leave_blocks_out
from debinet.learners.wide.factorization import Factorization
from debinet.learners.wide.inputs import encode
from debinet.learners.wide.kernels import kernel_matrix
from debinet.learners.wide.predictor import Predictor, predict
from debinet.learners.wide.solution import Solution
from debinet.learners.wide.spectrum import Spectrum
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
    dropped = np.setdiff1d(np.arange(folds.n), factorization.rows)
    blocks = _locate(folds, factorization.rows, dropped)
    out = M.copy()
    out[dropped] = predict(predictor, Z[dropped])
    encoded = encode(Z[dropped], factorization.moments)
    for k, spectrum in enumerate(factorization.spectra):
        j = np.flatnonzero(solution.spectrum_of == k)
        if not j.size:
            continue
        outside = _outside(factorization, spectrum, encoded)
        stopped = Stopped(spectrum, solution.T[:, j], solution.filter_, solution.time[j])
        left = leave_blocks_out(stopped, blocks, outside)
        sd = solution.target.sd[j]
        residual = left.residual / factorization.root_weight[:, None]
        out[np.ix_(factorization.rows, j)] -= sd * residual
        out[np.ix_(dropped, j)] -= sd * left.correction
    return out


def _locate(folds: Folds, rows: IntArray, dropped: IntArray) -> list[Block]:
    """Translate row numbers into positions inside and outside the decomposition."""
    position = np.empty(folds.n, dtype=np.int64)
    position[rows], position[dropped] = np.arange(rows.size), np.arange(dropped.size)
    inside = np.zeros(folds.n, dtype=bool)
    inside[rows] = True
    blocks = []
    for fold in folds:
        held_in = inside[fold.test]
        block = Block(position[fold.test[held_in]], position[fold.test[~held_in]])
        if block.inside.size == rows.size:
            raise FoldError(
                "rows of positive weight left to train on in every fold",
                "a fold that holds all of them",
                "Use more folds or groups.",
            )
        blocks.append(block)
    return blocks


def _outside(factorization: Factorization, spectrum: Spectrum, encoded: FloatArray) -> Outside:
    length = np.linalg.norm(factorization.root_weight)
    kernel = kernel_matrix(
        factorization.encoded, encoded, factorization.architecture, spectrum.skip
    )
    kernel *= factorization.root_weight[:, None]
    kernel -= (spectrum.Au / length)[:, None]
    return Outside(spectrum.V.T @ kernel, spectrum.u / length)
