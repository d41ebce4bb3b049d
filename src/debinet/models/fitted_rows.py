"""The rows that a model was fitted to: in memory as they are, in files as a checksum."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from zlib import crc32

import numpy as np

from debinet.data.arrays import require
from debinet.data.dataset import Dataset
from debinet.exceptions import InputError, LengthError
from debinet.protocols import FloatArray


@dataclass(frozen=True, eq=False)
class FittedRows:
    """Rows of a fit, or how to recognize them.

    Attributes
    ----------
    n : int
    data : Dataset, optional
        The rows; None for models from files, which do not contain them.
    marks : tuple of int, optional
        Checksums of X and of y, for models from files.
    """

    n: int
    data: Dataset | None = None
    marks: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        require(self.marks is None or len(self.marks) == 2, "checksums")

    @classmethod
    def of(cls, data: Dataset) -> Self:
        """Keep rows in memory."""
        return cls(data.n, data)

    def require_same(self, D: FloatArray, Z: FloatArray, y: FloatArray | None = None) -> None:
        """Require that X, split into D (n, q) and Z (n, p), and y are those of the fit."""
        if len(D) != self.n:
            raise LengthError(
                f"the {self.n} rows of fit",
                f"{len(D)} rows",
                "Pass the X that fit was called with.",
            )
        given = (mark(D, Z), None if y is None else mark(y))
        own = self._own_marks()
        for name, one, expected in zip(("X", "y"), given, own, strict=True):
            if one is not None and one != expected:
                raise InputError(
                    "the rows of fit, in the same order",
                    f"{name} with other values or in another order",
                    f"Pass the {name} that fit was called with.",
                )

    def _own_marks(self) -> tuple[int, ...]:
        if self.marks is not None:
            return self.marks
        assert self.data is not None
        return mark(self.data.D, self.data.Z), mark(self.data.y)

    def to_parts(self) -> Mapping[str, Any]:
        """Return what recognizes the rows, for files."""
        return {"n": self.n, "marks": self._own_marks()}

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        """Return the record of a file."""
        n, marks = parts["n"], parts["marks"]
        require(isinstance(n, int) and isinstance(marks, tuple), "rows")
        require(all(isinstance(one, int) for one in marks), "checksums")
        return cls(n, None, marks)


def mark(*arrays: FloatArray) -> int:
    """Return a checksum of numbers, which differs if any of them differs."""
    found = 0
    for array in arrays:
        # Adding zero makes -0 and 0 the same.
        found = crc32((np.ascontiguousarray(array, np.float64) + 0.0).tobytes(), found)
    return found
