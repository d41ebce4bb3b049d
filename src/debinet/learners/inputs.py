"""What learners are given: read, checked and standardized."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from debinet.data.checks import LARGEST
from debinet.exceptions import ColumnTypeError, InputError, LengthError, TooFewRowsError
from debinet.protocols import FloatArray

# A spread below this share of a column's size is the rounding of a constant.
_ROUNDING = 10 * np.finfo(np.float64).eps
# Columns whose moments are computed at a time.
_COLUMNS = 512


@dataclass(frozen=True)
class Moments:
    """Weighted mean and standard deviation of columns.

    Attributes
    ----------
    mean, sd : FloatArray of shape (p,)
        Where the column is constant, `sd` is 1 and `mean` its first value, so that it
        standardizes to exact zeros.
    """

    mean: FloatArray
    sd: FloatArray

    def standardize(self, X: FloatArray) -> FloatArray:
        """Return `(X - mean) / sd`."""
        out = X - self.mean
        out /= self.sd
        return out


def column_moments(X: FloatArray, weight: FloatArray) -> Moments:
    """Return the moments of the columns of `X` under row weights."""
    share = weight / weight.sum()
    size = np.maximum(X.max(axis=0), -X.min(axis=0))
    mean = share @ X
    # in units of the largest entry, so that the squares of tiny numbers do not vanish
    unit = np.where(size > 0, size, 1.0)
    variance = np.empty_like(mean)
    # of thousands of columns, copies take longer than arithmetic
    for start in range(0, mean.size, _COLUMNS):
        j = slice(start, start + _COLUMNS)
        squares = X[:, j] - mean[j]
        squares /= unit[j]
        squares *= squares
        variance[j] = share @ squares
    sd = unit * np.sqrt(variance)
    constant = sd <= _ROUNDING * size
    return Moments(np.where(constant, X[0], mean), np.where(constant, 1.0, sd))


def typed(validate: Any, *args: Any, **kwargs: Any) -> Any:
    """Run a validator of scikit-learn; its errors become this library's."""
    try:
        return validate(*args, **kwargs)
    except (ValueError, TypeError) as error:
        kind = ColumnTypeError if isinstance(error, TypeError) else InputError
        raise kind(
            "finite numbers: Z with one row per observation, and M with as many rows",
            f"this: {error}",
            "Clean or reshape the data first.",
        ) from error


def read_data(estimator: Any, Z: Any, M: Any) -> tuple[FloatArray, FloatArray]:
    """Return finite Z (n, p) and M (n,) or (n, m), and note the columns of Z on the estimator."""
    Z, M = typed(
        validate_data, estimator, Z, M, dtype=np.float64, multi_output=True, y_numeric=True
    )
    M = typed(np.asarray, M, dtype=np.float64)
    if not np.isfinite(M).all():
        raise InputError(
            "finite targets", "NaN or infinity in M", "Drop or impute those rows first."
        )
    for values, name in ((Z, "Z"), (M, "M")):
        if np.abs(values).max(initial=0.0) > LARGEST:
            raise InputError(
                f"numbers up to {LARGEST:g}, whose squares are numbers, too",
                f"{np.abs(values).max():g} in {name}",
                "Express them in other units.",
            )
    return Z, M


def read_new_rows(estimator: Any, Z: Any) -> FloatArray:
    """Return rows (r, p) to predict, with the columns of fit."""
    rows: FloatArray = typed(validate_data, estimator, Z, reset=False, dtype=np.float64)
    return rows


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
