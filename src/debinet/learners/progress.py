"""An optional progress bar."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar("Item")


def counted(
    items: Iterable[Item], show: bool, unit: str, total: int | None = None
) -> Iterable[Item]:
    """Yield the items; if `show`, with a bar that shows the time left."""
    if not show:
        return items
    from tqdm.auto import tqdm

    bar: Iterable[Item] = tqdm(items, desc="training", unit=unit, total=total, leave=False)
    return bar
