"""A progress bar for those who ask for one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar("Item")


def counted(
    items: Iterable[Item], show: bool, unit: str, total: int | None = None
) -> Iterable[Item]:
    """Yield the items, behind a bar with the time left if `show`."""
    if not show:
        return items
    from tqdm.auto import tqdm

    bar: Iterable[Item] = tqdm(items, desc="training", unit=unit, total=total, leave=False)
    return bar
