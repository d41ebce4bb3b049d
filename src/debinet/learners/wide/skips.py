"""Weights of the linear skip connection."""

from __future__ import annotations

from typing import Any

import numpy as np

from debinet.exceptions import OptionError

# Without the linear part, and with one that dominates: on linear truths the second wins by far.
AUTO_SKIPS = (0.0, 10.0)


def skip_weights(skip: Any, auto: tuple[float, ...] = AUTO_SKIPS) -> tuple[float, ...]:
    """Return the skip weights to try."""
    if isinstance(skip, str) and skip == "auto":
        return auto
    if isinstance(skip, (int, float, np.number)) and 0 <= skip < np.inf:
        return (float(skip),)
    raise OptionError(
        "skip to be 'auto' or a number that is not negative", repr(skip), "Use skip='auto'."
    )
