"""The credit card clients of the paper's Table 5: imputed, encoded and scaled for a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from debinet.protocols import BoolArray, FloatArray, IntArray

Payments: TypeAlias = Literal["numbers", "one-hot"]

OUTCOME = "default_next_month"
FIRST_REPAYMENT = "PAY_0"
VALIDATION_SHARE = 0.2

# Codes the data's documentation does not explain: the paper's missing values.
UNDOCUMENTED = {"MARRIAGE": (0,), "EDUCATION": (0, 5, 6)}

_PERSONS = ("SEX", "EDUCATION", "MARRIAGE")
_REPAYMENTS = (FIRST_REPAYMENT, "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6")
_CATEGORICAL: dict[Payments, tuple[str, ...]] = {
    "numbers": _PERSONS,
    "one-hot": _PERSONS + _REPAYMENTS,
}


@dataclass(frozen=True)
class CreditData:
    """Training and validation rows, standardized with the training rows' moments.

    Attributes
    ----------
    X_train, X_valid : FloatArray of shapes (n, p) and (m, p)
        All levels of every categorical column are in them, as in the paper, so that the columns
        are collinear.
    y_train, y_valid : IntArray of shapes (n,) and (m,)
        1 for clients who defaulted.
    names : tuple of p str
        Columns; a level is called `column=code`.
    references : tuple of str
        The most frequent level of every categorical column: without them no set of levels sums to
        a constant.
    """

    X_train: FloatArray
    y_train: IntArray
    X_valid: FloatArray
    y_valid: IntArray
    names: tuple[str, ...]
    references: tuple[str, ...]


def prepare(frame: pd.DataFrame, seed: int, *, payments: Payments = "numbers") -> CreditData:
    """Split the clients, impute undocumented codes, encode categories and standardize.

    Parameters
    ----------
    frame : DataFrame
        The UCI table; `ID`, if present, is not used.
    seed : int
        Decides the split, which keeps the share of defaults.
    payments : {"numbers", "one-hot"}
        Whether the repayment statuses, months of delay from -2 to 8, are numbers or categories.
        The paper encodes "all the categorical columns"; its values after the attack are reproduced
        only with numbers.
    """
    y = frame[OUTCOME].to_numpy(dtype=np.int64)
    features = frame.drop(columns=["ID", OUTCOME], errors="ignore").reset_index(drop=True)
    train = _training_rows(y, seed)
    encoded, references = _encode(impute(features, train), train, _CATEGORICAL[payments])
    X = encoded.to_numpy(dtype=np.float64)
    scaler = StandardScaler().fit(X[train])
    return CreditData(
        X_train=scaler.transform(X[train]),
        y_train=y[train],
        X_valid=scaler.transform(X[~train]),
        y_valid=y[~train],
        names=tuple(encoded.columns),
        references=references,
    )


def impute(features: pd.DataFrame, train: BoolArray) -> pd.DataFrame:
    """Return the features with undocumented codes replaced by predicted ones.

    A multinomial logistic regression on the columns without undocumented codes predicts them. It
    uses the training rows only and not the outcome, so that no information leaks.
    """
    filled = features.copy()
    known = features.drop(columns=[*UNDOCUMENTED]).to_numpy(dtype=np.float64)
    for column, codes in UNDOCUMENTED.items():
        values = features[column].to_numpy(copy=True)
        missing = np.isin(values, codes)
        if missing.any():
            rows = train & ~missing
            model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
            model.fit(known[rows], values[rows])
            values[missing] = model.predict(known[missing])
            filled[column] = values
    return filled


def _training_rows(y: IntArray, seed: int) -> BoolArray:
    rows, _ = train_test_split(
        np.arange(y.size), test_size=VALIDATION_SHARE, random_state=seed, stratify=y
    )
    train = np.zeros(y.size, dtype=np.bool_)
    train[rows] = True
    return train


def _encode(
    features: pd.DataFrame, train: BoolArray, categorical: Sequence[str]
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    # Levels are those of the training rows: a column that is constant there has no scale, and
    # its effect cannot be learned. A client of an unseen level is in none of them.
    parts, references = [features.drop(columns=list(categorical))], []
    for column in categorical:
        counts = features.loc[train, column].value_counts()
        levels = {f"{column}={code}": features[column] == code for code in sorted(counts.index)}
        parts.append(pd.DataFrame(levels))
        references.append(f"{column}={counts.idxmax()}")
    return pd.concat(parts, axis=1), tuple(references)
