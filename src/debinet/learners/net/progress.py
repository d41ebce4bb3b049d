"""A progress bar for those who ask for one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def counted(items: Iterable[Any], show: bool, what: str) -> Iterable[Any]:
    """Yield the items, behind a bar with the time left if `show`."""
    if not show:
        return items
    from tqdm.auto import tqdm

    bar: Iterable[Any] = tqdm(items, desc=what, unit="epoch", leave=False)
    return bar
