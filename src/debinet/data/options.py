"""Checks of option values that many functions and classes share."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from debinet.exceptions import InputError, LengthError, OptionError
from debinet.protocols import FloatArray

_LARGEST = float(np.finfo(np.float64).max)


def is_whole(value: Any) -> bool:
    """Return whether a value is an integer; booleans are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Return whether a value is a real number; booleans are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def whole_number(option: str, value: Any, least: int, remedy: str = "") -> int:
    """Require a whole number that is not too small."""
    if is_whole(value) and value >= least:
        return int(value)
    raise _refused(option, f"a whole number, at least {least}", value, remedy)


def positive_number(
    option: str, value: Any, most: float = np.inf, *, zero: bool = False, words: Iterable[str] = ()
) -> float:
    """Require a finite number above 0, or at least 0, and at most `most`.

    The error names `words` as allowed, too: the caller has checked for them already.
    """
    if isinstance(value, np.generic):
        value = value.item()  # single precision cannot be compared with the largest double
    if is_number(value) and (value > 0 or (zero and value == 0)) and value <= min(most, _LARGEST):
        return float(value)
    allowed = "a finite number, at least 0" if zero else "a finite positive number"
    if most < np.inf:
        allowed = f"a number {'at least 0' if zero else 'above 0'} and at most {most:g}"
    raise _refused(option, " or ".join([*map(repr, words), allowed]), value, "")


def share(option: str, value: Any, remedy: str = "") -> float:
    """Require a number strictly between 0 and 1."""
    if is_number(value) and 0 < value < 1:
        return float(value)
    raise _refused(option, "a number between 0 and 1", value, remedy)


def switch(option: str, value: Any) -> bool:
    """Require True or False."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise _refused(option, "True or False", value, "")


def one_of(option: str, value: Any, allowed: Iterable[str], remedy: str = "") -> str:
    """Require one of the allowed names; without a `remedy`, the first is the default."""
    names = list(allowed)
    if isinstance(value, str) and value in names:
        return value
    default = f"Leave {option} out for the default, {names[0]!r}."
    raise _refused(option, f"one of {', '.join(map(repr, names))}", value, remedy or default)


def number_array(option: str, values: Any, shape: tuple[int, ...]) -> FloatArray:
    """Require finite numbers in an array of this shape."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{option} to be numbers", str(error), "Pass numbers.") from error
    if array.shape != shape:
        raise LengthError(
            f"{option} of shape {shape}", f"shape {array.shape}", f"Pass {shape[0]} numbers."
        )
    if not np.isfinite(array).all():
        raise InputError(f"finite {option}", "NaN or infinity", "Check how they were computed.")
    return array


def _refused(option: str, allowed: str, value: Any, remedy: str) -> OptionError:
    return OptionError(
        f"{option} to be {allowed}", repr(value), remedy or f"Leave {option} out for the default."
    )
