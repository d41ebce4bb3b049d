"""The tangent kernel of any network that torch can differentiate, without the Jacobian."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from debinet.exceptions import InputError
from debinet.learners.torch_extra import require_torch
from debinet.protocols import FloatArray
from debinet.theory.inputs import read_rows, require_memory


def tangent_kernel(function: Callable[[Any, Any], Any], parameters: Any, Z: Any) -> FloatArray:
    """Return the inner products of the gradients of all outputs at all rows.

    For every row and output, one gradient (vjp) is multiplied with those of the row and all later
    ones (jvp). This takes the memory of a few copies of the parameters, the Jacobian n x outputs.

    Parameters
    ----------
    function : callable
        Maps parameters and a tensor of rows (r, p) to outputs (r, outputs). Every row must be
        treated on its own (no batch normalization).
    parameters : tensor, array, or list, tuple or dict of them
        What to differentiate by; copied to double precision.
    Z : array or data frame of shape (n, p)
        Rows as the network sees them.

    Returns
    -------
    FloatArray of shape (outputs, outputs, n, n)
        As `finite_kernel` returns it.
    """
    require_torch()
    import torch
    from torch.func import jvp, vjp
    from torch.utils import _pytree as pytree

    rows = torch.as_tensor(read_rows(Z))
    weights = pytree.tree_map(
        lambda w: torch.as_tensor(w).detach().to(torch.float64, copy=True), parameters
    )
    n, outputs = len(rows), _count_outputs(function(weights, rows[:1]))
    require_memory(
        (n * outputs) ** 2, f"the kernel of {n} rows and {outputs} outputs", "Take fewer rows."
    )
    blocks = np.empty((outputs, outputs, n, n))
    with warnings.catch_warnings():
        # the first jvp loads a part of torch that uses another, deprecated one
        warnings.filterwarnings("ignore", "`torch.jit", DeprecationWarning)
        for i in range(n):
            _, pull = vjp(lambda w, i=i: function(w, rows[i : i + 1])[0], weights)
            for s, unit in enumerate(torch.eye(outputs, dtype=torch.float64)):
                (gradient,) = pull(unit)
                _, column = jvp(lambda w, i=i: function(w, rows[i:]), (weights,), (gradient,))
                products = column.detach().numpy()  # (n - i, outputs)
                blocks[s, :, i, i:] = products.T
                blocks[:, s, i:, i] = products.T
    return blocks


def _count_outputs(first: Any) -> int:
    if first.ndim != 2 or len(first) != 1:
        raise InputError(
            "a function that returns a row of outputs for every row of Z",
            f"shape {tuple(first.shape)} for one row",
            "Return a tensor of shape (rows, outputs).",
        )
    return int(first.shape[1])
