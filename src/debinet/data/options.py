"""Checks of option values that many functions and classes share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from debinet.exceptions import OptionError


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer; booleans are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def whole_number(option: str, value: Any, least: int) -> int:
    """Require a whole number that is not too small."""
    if is_whole(value) and value >= least:
        return int(value)
    raise OptionError(
        f"{option} to be a whole number, at least {least}",
        repr(value),
        f"Leave {option} out for the default.",
    )


def one_of(option: str, value: Any, allowed: Iterable[str]) -> str:
    """Require one of the allowed names, the first of which is the default."""
    names = list(allowed)
    if isinstance(value, str) and value in names:
        return value
    raise OptionError(
        f"{option} to be one of {', '.join(map(repr, names))}",
        repr(value),
        f"Leave {option} out for the default, {names[0]!r}.",
    )
