"""Arguments that all learners of the library take, read and checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from debinet.exceptions import InputError, LengthError, TooFewRowsError
from debinet.protocols import FloatArray


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


def read_data(estimator: Any, Z: Any, M: Any) -> tuple[FloatArray, FloatArray]:
    """Return finite Z (n, p) and M (n,) or (n, m), and note the columns of Z on the estimator."""
    Z, M = typed(
        validate_data, estimator, Z, M, dtype=np.float64, multi_output=True, y_numeric=True
    )
    return Z, np.asarray(M, dtype=np.float64)


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
