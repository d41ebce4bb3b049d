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
        # Contiguous, so that a saved and loaded result gives the same bits. A read-only array is
        # not copied: a covariance may take most of the memory.
        flags = value.flags
        if flags.writeable or not flags.owndata or not flags.c_contiguous:
            own = np.array(value, order="C")
            own.flags.writeable = False
            object.__setattr__(record, name, own)


def require(holds: bool, what: str) -> None:
    """Require that a part of a record or file is valid."""
    if not holds:
        raise ValueError(f"unexpected {what}")
