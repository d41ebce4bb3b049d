"""How strong a confounder is supposed to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from debinet.data.options import is_number, share
from debinet.exceptions import OptionError
from debinet.inference.robustness import bias_strength


@dataclass(frozen=True)
class Scenario:
    """How strong a confounder is supposed to be.

    Attributes
    ----------
    cf_y : float
        The share that it explains of the variance of the outcome that is left given treatments and
        controls.
    cf_d : float
        The share that it explains of the variance of the treatment that is left given controls and
        other treatments.
    rho : float
        Correlation of what it does to both sides; 1 or -1 is the worst case.
    level : float
        Of the one-sided confidence bounds.
    """

    cf_y: float = 0.03
    cf_d: float = 0.03
    rho: float = 1.0
    level: float = 0.95

    def __post_init__(self) -> None:
        if not (is_number(self.cf_y) and 0 <= self.cf_y <= 1):
            raise _refused("cf_y", "a share, from 0 to 1", self.cf_y, "Use cf_y=0.03 for 3 %.")
        if not (is_number(self.cf_d) and 0 <= self.cf_d < 1):
            raise _refused("cf_d", "a share below 1", self.cf_d, "Use cf_d=0.03 for 3 %.")
        if not (is_number(self.rho) and -1 <= self.rho <= 1):
            raise _refused("rho", "a correlation", self.rho, "Use rho=1, the worst case.")
        share("level", self.level, "Use level=0.95 for one-sided 95 % bounds.")

    @property
    def strength(self) -> float:
        """`|rho| sqrt(cf_y cf_d / (1 - cf_d))`."""
        return float(bias_strength(np.array(self.cf_y), np.array(self.cf_d), self.rho))


def _refused(option: str, allowed: str, value: Any, remedy: str) -> OptionError:
    return OptionError(f"{option} to be {allowed}", repr(value), remedy)
