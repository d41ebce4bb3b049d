"""Large matrices a few rows at a time, so that temporaries stay small."""

from __future__ import annotations

from collections.abc import Iterator

# Elements that are worked on at a time: temporaries stay below 4 MB each, and below an eighth of
# the matrix.
_CHUNK = 2**19


def row_chunks(rows: int, columns: int, size: int = _CHUNK) -> Iterator[slice]:
    """Yield slices of rows, each of at most `size` elements."""
    step = max(1, min(size // max(columns, 1), rows // 8))
    for start in range(0, rows, step):
        yield slice(start, start + step)
