"""Held-out residuals in closed form: what fits without some rows would have left of them.

For ridge with projected inverse `Q`, the residual of block B, had the model been fitted without
it, is exactly `Q_BB^-1 (Q M)_B`, at every penalty for which the inverses exist, complex ones
included. A spectral filter is a mixture of ridge filters at complex penalties (see `filters`), its
fit without B is the same mixture of ridge fits without B, and so are its held-out residuals. The
well-known shortcut for linear smoothers, residual over one minus leverage, holds for ridge only.

In all of this `lam Q = V diag(1 / (1 + w / lam)) V'` stands for `Q`: the factor cancels, and an
infinite penalty needs no special case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from debinet.learners.wide.filters import SpectralFilter
from debinet.learners.wide.spectrum import Spectrum
from debinet.protocols import FloatArray, IntArray

# Real for ridge, complex for other filters.
ScalarArray: TypeAlias = npt.NDArray[Any]

# Elements of the largest temporary array.
_CHUNK = 2**22


@dataclass(frozen=True)
class Stopped:
    """Outputs under one decomposition, stopped.

    Attributes
    ----------
    spectrum : Spectrum
    T : FloatArray of shape (n - 1, m)
        `V' M` for weighted targets M.
    filter_ : SpectralFilter
    times : FloatArray of shape (m,) or (1,)
        One stopping time per output, or one for all.
    """

    spectrum: Spectrum
    T: FloatArray
    filter_: SpectralFilter
    times: FloatArray


@dataclass(frozen=True)
class Block:
    """Rows held out together.

    Attributes
    ----------
    inside : IntArray of shape (b,)
        Positions among the rows of the decomposition.
    outside : IntArray of shape (b0,)
        Positions among the rows of no weight, which the decomposition does not contain.
    """

    inside: IntArray
    outside: IntArray


@dataclass(frozen=True)
class Outside:
    """Rows of no weight, as seen from a decomposition.

    Their ridge fits are linear in the (weighted) targets: `(V diag(1 / (w + lam)) C + shift 1')'`.

    Attributes
    ----------
    C : FloatArray of shape (n - 1, n0)
        `V' (W^1/2 k - A shift 1')`, k the kernel between the rows inside and outside.
    shift : FloatArray of shape (n,)
        `u / |W^1/2 1|`: the mean of the targets.
    """

    C: FloatArray
    shift: FloatArray


@dataclass(frozen=True)
class Heldout:
    """Held-out residuals and predictions, for weighted targets.

    Attributes
    ----------
    residual : FloatArray of shape (n, m)
        For the rows of the decomposition, times the square roots of their weights.
    correction : FloatArray of shape (n0, m)
        To be subtracted from what the fit on all rows predicts for the rows of no weight.
    """

    residual: FloatArray
    correction: FloatArray


def leave_one_out(stopped: Stopped, squared: FloatArray) -> FloatArray:
    """Return `(Q M)_i / Q_ii` for every row and output.

    Parameters
    ----------
    stopped : Stopped
    squared : FloatArray of shape (n, n - 1)
        Squares of the eigenvectors.

    Returns
    -------
    FloatArray of shape (n, m)
    """
    w, V, T = stopped.spectrum.w, stopped.spectrum.V, stopped.T
    residual = np.zeros((T.shape[1], V.shape[0]))
    for weight, stretch in zip(stopped.filter_.weight, stopped.filter_.stretch, strict=True):
        left = 1.0 / (1.0 + np.multiply.outer(stretch * stopped.times, w))
        ratio = _product(left * T.T, V.T) / _product(left, squared.T)
        residual += (weight * ratio).real
    return residual.T


def leave_blocks_out(stopped: Stopped, blocks: Sequence[Block], outside: Outside) -> Heldout:
    """Return the held-out residuals for a partition of the rows, one stopping time per output."""
    spectrum, T, filter_ = stopped.spectrum, stopped.T, stopped.filter_
    correction = np.zeros((outside.C.shape[1], T.shape[1]))
    if all(block.inside.size + block.outside.size == 1 for block in blocks):
        # a row of no weight that is held out alone takes nothing from the fit
        return Heldout(leave_one_out(stopped, spectrum.V**2), correction)
    residual = np.zeros((spectrum.V.shape[0], T.shape[1]))
    # the mixtures of all outputs, one behind the other
    weight = np.tile(filter_.weight, T.shape[1])
    time = np.outer(stopped.times, filter_.stretch).ravel()
    output = np.repeat(np.arange(T.shape[1]), filter_.weight.size)
    for block in blocks:
        V = spectrum.V[block.inside]
        for part in _parts(time.size, V.size):
            j = output[part]
            left = 1.0 / (1.0 + np.multiply.outer(time[part], spectrum.w))
            delta = weight[part, None] * _block_residuals(V, left, T[:, j])
            np.add.at(residual, (block.inside[:, None], j), delta.real.T)
            if block.outside.size:
                pull = _product(delta, V) * (time[part, None] * left)
                moved = _product(pull, outside.C[:, block.outside])
                moved += _product(delta, outside.shift[block.inside, None])
                np.add.at(correction, (block.outside[:, None], j), moved.real.T)
    return Heldout(residual, correction)


def _parts(count: int, size: int) -> list[slice]:
    step = max(1, _CHUNK // max(size, 1))
    return [slice(k, k + step) for k in range(0, count, step)]


def _block_residuals(V: FloatArray, left: ScalarArray, T: FloatArray) -> ScalarArray:
    """Return `Q_BB^-1 (Q M)_B` for k resolvents at once: (k, b) from (b, .), (k, .), (., k)."""
    half = np.sqrt(left)[:, None, :] * V
    # a matrix times its own transpose goes through syrk: half the work
    matrix = half @ half.transpose(0, 2, 1)
    target = _product(left * T.T, V.T)
    solution: ScalarArray = np.linalg.solve(matrix, target[:, :, None])
    return solution[:, :, 0]


def _product(left: ScalarArray, right: FloatArray) -> ScalarArray:
    """Return `left @ right` without making a complex copy of the large real `right`."""
    if np.iscomplexobj(left):
        return np.asarray(left.real @ right + 1j * (left.imag @ right))
    return np.asarray(left @ right)
