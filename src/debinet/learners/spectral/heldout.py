"""Residuals that fits without some rows would have left of them, and the transposed operator.

Held-out residuals are linear in the target, `L m`. For ridge, `L = blockdiag(R_BB^-1) R`, and in
sample `L = R`. Any other filter is a mixture of ridge filters at complex penalties, its fit
without B is the same mixture of ridge fits without B, and so are its held-out residuals. The
well-known shortcut for linear smoothers, residual over one minus leverage, holds for ridge only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from debinet.data.folds import Folds
from debinet.exceptions import FoldError
from debinet.learners.spectral.spectrum import Block, Spectrum, Stopped
from debinet.protocols import FloatArray, IntArray


@dataclass(frozen=True)
class Outside:
    """Rows of weight zero, in the coordinates of a spectrum of n rows.

    A ridge fit moves by `pull' diag(t left) U' d + level' C' d` at these rows if the weighted
    targets move by d.

    Attributes
    ----------
    U : FloatArray of shape (n, k)
        Eigenvectors.
    C : FloatArray of shape (n, c)
        Unpenalized columns.
    pull : FloatArray of shape (k, n0)
        The kernel between the rows inside and outside, in the spectrum's coordinates.
    level : FloatArray of shape (c, n0)
        The unpenalized columns there.
    """

    U: FloatArray
    C: FloatArray
    pull: FloatArray
    level: FloatArray

    def move(
        self, block: Block, residual: npt.NDArray[Any], share: npt.NDArray[Any]
    ) -> npt.NDArray[Any]:
        """Return how the fits at the rows outside of a block move by its residuals."""
        delta = residual[block.inside]
        inner = share * (self.U[block.inside].T @ delta)
        return np.asarray(
            self.pull[:, block.outside].T @ inner
            + self.level[:, block.outside].T @ (self.C[block.inside].T @ delta)
        )


def held_out_residuals(
    spectrum: Spectrum,
    X: FloatArray,
    stopped: Stopped,
    blocks: Sequence[Block] | None,
    outside: Outside | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return `L X` for columns X, in sample if `blocks` is None, and corrections outside.

    The corrections (n0, c) are what leaving out each block takes from predictions of its rows of
    weight zero. The fit without a block is the fit to all rows whose targets there are replaced by
    what it predicts for them, so it differs by the fit to the block's held-out residuals.
    """
    total = np.zeros_like(X)
    moved = np.zeros((0 if outside is None else outside.pull.shape[1], X.shape[-1]))
    mixture = zip(stopped.resolvents(spectrum.w), stopped.filter_.stretch, strict=True)
    for (weight, left), stretch in mixture:
        residual = spectrum.residual(X, left)
        if blocks is not None:
            residual = spectrum.solve_blocks(residual, left, blocks)
        residual = weight * residual
        total += residual.real
        if outside is not None:
            for block in blocks or ():
                if block.outside.size:
                    share = stretch * stopped.time * left
                    moved[block.outside] += outside.move(block, residual, share).real
    return total, moved


def adjoint_residuals(
    spectrum: Spectrum, X: FloatArray, stopped: Stopped, blocks: Sequence[Block] | None
) -> FloatArray:
    """Return `L' X` for columns X and one stopping time; in sample if `blocks` is None."""
    total = np.zeros_like(X)
    for weight, left in stopped.resolvents(spectrum.w):
        solved = spectrum.solve_blocks(X, left, blocks) if blocks is not None else X
        total += (weight * spectrum.residual(solved, left)).real
    return total


def locate_blocks(folds: Folds, rows: IntArray) -> list[Block] | None:
    """Return the folds as positions among the rows of positive weight, and among the others.

    None if residuals are in sample, an empty list if every row is held out by itself.
    """
    if folds.in_sample:
        return None
    if folds.singletons:
        return []
    position, inside = np.empty(folds.n, dtype=np.int64), np.zeros(folds.n, dtype=bool)
    inside[rows] = True
    position[inside], position[~inside] = np.arange(rows.size), np.arange(folds.n - rows.size)
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
