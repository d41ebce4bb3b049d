"""Files that are written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4


@contextmanager
def write_atomically(target: Path) -> Iterator[Path]:
    """Yield the path of a draft, which replaces the target if nothing went wrong.

    A reader of the target finds the old file or the new one, even if the process dies. The name
    of the draft is unique, so several processes may write the same target.
    """
    draft = target.with_name(f".{target.name}-{uuid4().hex}.tmp")
    try:
        yield draft
        draft.replace(target)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
