"""Gradient flow with a constant kernel: a linear differential equation, solved exactly.

With residuals `E_s = M_s - F_s` of output s, gradient flow on `1/2 |F - M|^2` obeys

    d/dt F_s = sum_h H_sh (M_h - F_h).

The paper has this equation for single outputs, but its vectorized form has `(M_s - F_s)` under the
sum, which drops the influence of one output on another. This package uses `(M_h - F_h)`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

from debinet.data.options import is_number
from debinet.exceptions import InputError, LengthError, OptionError
from debinet.protocols import FloatArray
from debinet.theory.finite import require_blocks
from debinet.theory.inputs import read_rows, read_targets


def linearized_errors(
    blocks: FloatArray, M: Any, F0: FloatArray, times: FloatArray | list[float]
) -> FloatArray:
    """Return the squared errors of every output if the kernel stayed constant.

    The stacked residuals of all outputs are `exp(-H_whole t)` times those at the start. A wide
    network follows this closely.

    Parameters
    ----------
    blocks : FloatArray of shape (outputs, outputs, n, n)
        Kernel at the start, from `finite_kernel` or `tangent_kernel`.
    M : array or data frame of shape (n, outputs)
        Targets.
    F0 : FloatArray of shape (n, outputs)
        Predictions at the start.
    times : array of shape (k,)
        Times, at least 0.

    Returns
    -------
    FloatArray of shape (k, outputs)
        `|F_s(t) - M_s|^2`.
    """
    blocks = np.asarray(blocks, dtype=np.float64)
    require_blocks(blocks)
    outputs, _, n, _ = blocks.shape
    targets = read_targets(M, n).values
    start = np.asarray(F0, dtype=np.float64).reshape(n, -1)
    if targets.shape[1] != outputs or start.shape[1] != outputs:
        raise LengthError(
            f"M and F0 with {outputs} columns, as many as the kernel has outputs",
            f"{targets.shape[1]} and {start.shape[1]}",
            "Pass the targets and predictions that belong to the kernel.",
        )
    moments = np.array([_read_time(t) for t in np.ravel(times)])
    whole = blocks.transpose(0, 2, 1, 3).reshape(outputs * n, outputs * n)
    eigenvalues, vectors = eigh(whole)
    # a rounding error below 0 would grow exponentially
    rates = np.maximum(eigenvalues, 0.0)
    turned = vectors.T @ (targets - start).T.ravel()
    errors = np.empty((moments.size, outputs))
    for k, t in enumerate(moments):
        left = vectors @ (np.exp(-rates * t) * turned)
        errors[k] = (left.reshape(outputs, n) ** 2).sum(axis=1)
    return errors


def flow(H_train: FloatArray, H_test_train: FloatArray, M: Any, time: float) -> FloatArray:
    """Return the predictions of an infinitely wide network after training from zero for `time`.

    `H_test_train H^-1 (I - exp(-H time)) M`: smooth at first, least squares in the limit.

    Parameters
    ----------
    H_train : FloatArray of shape (n, n)
        Limiting kernel of the training rows.
    H_test_train : FloatArray of shape (r, n)
        Limiting kernel between new rows and training rows.
    M : array or data frame of shape (n, outputs) or (n,)
        Targets.
    time : float
        At least 0; infinity is allowed.

    Returns
    -------
    FloatArray of shape (r, outputs)

    Examples
    --------
    >>> from debinet.theory import limiting_kernel
    >>> H = limiting_kernel([[1.0, 0.0], [0.6, 0.8]])
    >>> flow(H, H, [1.0, 2.0], time=float("inf")).ravel()
    array([1., 2.])
    """
    H, cross = read_rows(H_train), read_rows(H_test_train)
    if H.shape[0] != H.shape[1] or cross.shape[1] != len(H):
        raise InputError(
            "kernels of shapes (n, n) and (r, n)",
            f"shapes {H.shape} and {cross.shape}",
            "Pass the kernel of the training rows first, then that of new rows and training rows.",
        )
    targets, t = read_targets(M, len(H)).values, _read_time(time, np.inf)
    rates, vectors = eigh(H)
    # the kernel between new and training rows is 0 in directions in which H is, so drop these
    kept = rates > len(H) * np.finfo(np.float64).eps * rates[-1]
    rates, vectors = rates[kept], vectors[:, kept]
    share = -np.expm1(-rates * t) / rates
    predictions: FloatArray = cross @ (vectors @ (share[:, None] * (vectors.T @ targets)))
    return predictions


def _read_time(value: Any, longest: float = np.finfo(np.float64).max) -> float:
    if not is_number(value) or not 0 <= value <= longest:
        raise OptionError(
            f"a {'' if longest == np.inf else 'finite '}time of at least 0",
            repr(value),
            "Training starts at time 0.",
        )
    return float(value)
