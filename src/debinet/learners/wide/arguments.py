"""Arguments of the wide and the tangent network, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from debinet.exceptions import InputError, LengthError, OptionError, TooFewRowsError
from debinet.protocols import FloatArray

# Without the linear part, and with one that dominates: on linear truths the second wins by far.
AUTO_SKIPS = (0.0, 10.0)


def typed(validate: Any, *args: Any, **kwargs: Any) -> Any:
    """Run a validator of scikit-learn; its complaints become ours."""
    try:
        return validate(*args, **kwargs)
    except ValueError as error:
        raise InputError(
            "finite numbers: Z with one row per observation, and M with as many rows",
            f"this: {error}",
            "Clean or reshape the data first.",
        ) from error


def read_weight(sample_weight: Any, n: int) -> FloatArray:
    """Return the weights of n rows, ones if there are none."""
    if sample_weight is None:
        weight = np.ones(n)
    else:
        weight = typed(np.asarray, sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise LengthError(
            f"sample_weight of shape ({n},)", f"{weight.shape}", "Pass one weight per row."
        )
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise InputError(
            "sample_weight without negative or missing values",
            f"{weight[~(weight >= 0) | np.isinf(weight)][0]}",
            "Pass weight 0 to leave a row out.",
        )
    if np.count_nonzero(weight) < 2:
        raise TooFewRowsError(
            "at least 2 rows whose weight is not zero",
            f"{np.count_nonzero(weight)} sample",
            "Pass more rows.",
        )
    return weight


def skip_weights(skip: Any, auto: tuple[float, ...] = AUTO_SKIPS) -> tuple[float, ...]:
    """Return the skip weights to try."""
    if isinstance(skip, str) and skip == "auto":
        return auto
    if isinstance(skip, (int, float, np.number)) and 0 <= skip < np.inf:
        return (float(skip),)
    raise OptionError(
        "skip to be 'auto' or a number that is not negative", repr(skip), "Use skip='auto'."
    )


def whole_number(option: str, value: Any, least: int) -> int:
    """Require a whole number that is not too small."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= least:
        return int(value)
    raise OptionError(
        f"{option} to be a whole number, at least {least}",
        repr(value),
        f"Leave {option} out for the default.",
    )


def one_of(option: str, value: Any, table: Mapping[str, Any]) -> str:
    """Require a value of an option that is a key of `table`."""
    if isinstance(value, str) and value in table:
        return value
    names = ", ".join(map(repr, table))
    remedy = f"Leave {option} out for the default, {next(iter(table))!r}."
    raise OptionError(f"{option} to be one of {names}", repr(value), remedy)
