"""One check of the trust report: a number, a verdict and advice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

Verdict = Literal["ok", "look", "do not trust", "not known"]
_ORDER: dict[Verdict, int] = {"not known": 0, "ok": 1, "look": 2, "do not trust": 3}


@dataclass(frozen=True)
class Check:
    """One aspect of a result.

    Attributes
    ----------
    name : str
    verdict : "ok", "look", "do not trust" or "not known"
    finding : str
        The numbers, in words.
    advice : str
        What to do; empty if nothing needs to be done.
    """

    name: str
    verdict: Verdict
    finding: str
    advice: str = ""


def graded(
    name: str, value: float, limits: tuple[float, float], finding: str, advice: str
) -> Check:
    """Return "ok" up to the first limit, "look" up to the second, "do not trust" beyond.

    If the second limit is smaller than the first, smaller values are worse.
    """
    sign = 1.0 if limits[0] <= limits[1] else -1.0
    if sign * value <= sign * limits[0]:
        return Check(name, "ok", finding)
    worst = sign * value > sign * limits[1]
    return Check(name, "do not trust" if worst else "look", finding, advice)


def worst(checks: Iterable[Check]) -> Check:
    """Return the check with the worst verdict, the first of equals; "not known" is the least."""
    return max(checks, key=lambda check: _ORDER[check.verdict])


def unknown(name: str, why: str = "the result does not have the numbers for this check") -> Check:
    """Return a check without a finding."""
    return Check(name, "not known", why)


def number(value: float) -> str:
    """Return a number in three digits, large ones in full."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.3g}"


def percent(share: float) -> str:
    """Return a share in percent: two digits, or whole numbers from 10 on."""
    value = 100 * share
    return f"{value:.0f} %" if abs(value) >= 10 else f"{value:.2g} %"


def shared_limit(z: float, count: int) -> float:
    """Return the limit of a standard normal for `count` comparisons (Bonferroni).

    Any one exceeds it with the chance that one comparison has of exceeding `z`.
    """
    return float(stats.norm.isf(stats.norm.sf(z) / count)) if np.isfinite(z) else z
