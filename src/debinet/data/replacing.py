"""Files that are written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4


@contextmanager
def replaced(target: Path) -> Iterator[Path]:
    """Yield a path to write to; it takes the target's place when nothing went wrong.

    Whoever reads the target finds the old file or the new one, also if the process dies. The name
    of the draft is unique, so several processes may write the same target.
    """
    draft = target.with_name(f".{target.name}-{uuid4().hex}.tmp")
    try:
        yield draft
        draft.replace(target)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
