"""Files that are written whole or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

_HEX = re.compile("[0-9a-f]{32}")


@contextmanager
def write_atomically(target: Path) -> Iterator[Path]:
    """Yield the path of a draft, which replaces the target if nothing went wrong.

    A reader of the target finds the old file or the new one, even if the process dies. The name
    of the draft is unique, so several processes may write the same target.
    """
    draft = target.with_name(f"{_draft(target.name)}{uuid4().hex}.tmp")
    try:
        yield draft
        draft.replace(target)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def remove_drafts(target: Path) -> None:
    """Remove drafts of a target that processes left which were killed; no one may be writing it."""
    start = _draft(target.name)
    with suppress(OSError):
        for path in target.parent.iterdir():
            middle = path.name.removeprefix(start).removesuffix(".tmp")
            if path.name == f"{start}{middle}.tmp" and _HEX.fullmatch(middle):
                path.unlink(missing_ok=True)


def _draft(name: str) -> str:
    return f".{name}-"
