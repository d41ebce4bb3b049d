"""Numbers of the dashboard's page as text; nothing where a number is not known."""

from __future__ import annotations

import math


def number(value: float) -> str:
    """Return two digits after the point, or none from 100 on."""
    if math.isnan(value):
        return ""
    return f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"


def with_error(value: float, error: float) -> str:
    """Return a number and its Monte Carlo error, if there is one."""
    return " ± ".join(filter(None, [number(value), number(error)]))


def percent(value: float) -> str:
    """Return a share in percent, without the sign."""
    return "" if math.isnan(value) else f"{100 * value:.0f}"
