"""Arrays of records: read-only, and of the shapes that the record declares."""

from __future__ import annotations

from typing import Any

import numpy as np


def freeze_arrays(record: Any, **shapes: str) -> None:
    """Make arrays of a frozen record read-only, and require shapes that agree.

    Parameters
    ----------
    record : dataclass
    **shapes : str
        The shape of each field, such as `R_D="n q"`. A letter stands for the same size in all
        fields of the record. Fields that are None are left out.

    Raises
    ------
    ValueError
        If shapes do not agree, as in damaged files.
    """
    sizes: dict[str, int] = {}
    for name, shape in shapes.items():
        value = getattr(record, name)
        if value is None:
            continue
        letters = shape.split()
        if value.ndim != len(letters) or any(
            sizes.setdefault(letter, size) != size
            for letter, size in zip(letters, value.shape, strict=True)
        ):
            raise ValueError(f"unexpected shape {value.shape} of {name}, expected ({shape})")
        # Contiguous, so that a result computes the same bits after it was saved and loaded. An
        # array that nobody can write to needs no copy: a covariance may fill the memory by itself.
        flags = value.flags
        if flags.writeable or not flags.owndata or not flags.c_contiguous:
            own = np.array(value, order="C")
            own.flags.writeable = False
            object.__setattr__(record, name, own)


def require(holds: bool, what: str) -> None:
    """Require that a part of a record or file is possible."""
    if not holds:
        raise ValueError(f"unexpected {what}")
