"""Data of a replication: rows to fit, new rows to predict, and the truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd

from debinet.data.designs import Simulated


class SimulatedSample(NamedTuple):
    """Rows to fit and new rows of the same design.

    Attributes
    ----------
    X : DataFrame of shape (n, p)
    y : Series of length n
    X_new : DataFrame of shape (m, p)
    y_new : Series of length m
    truth : Series
        True coefficients by name.
    """

    X: pd.DataFrame
    y: pd.Series
    X_new: pd.DataFrame
    y_new: pd.Series
    truth: pd.Series


def draw_sample(
    make: Callable[..., Simulated], n: int, new: int, *, random_state: int, **options: Any
) -> SimulatedSample:
    """Draw n + new rows of a design; the last `new` are for prediction."""
    X, y, truth = make(n=n + new, random_state=random_state, **options)
    return SimulatedSample(
        X.iloc[:n],
        y.iloc[:n],
        X.iloc[n:].reset_index(drop=True),
        y.iloc[n:].reset_index(drop=True),
        truth,
    )
