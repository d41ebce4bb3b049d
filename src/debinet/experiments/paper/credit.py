"""The paper's Table 5: attack a network through the column with the largest coefficient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from scipy.linalg import lstsq
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.neural_network import MLPClassifier

from debinet.exceptions import SelectorError
from debinet.experiments.paper.credit_data import FIRST_REPAYMENT, CreditData, Payments, prepare
from debinet.models.debinet import DebiNet
from debinet.protocols import FloatArray
from debinet.selection.elastic_net import ElasticNet
from debinet.selection.lasso import Lasso

Aim: TypeAlias = Literal["label", "all"]
Method: TypeAlias = Literal["ols", "minimum_norm", "ols_references", "lasso", "elastic_net"]

# Hidden layers; with the output, the "MLP of three layers".
HIDDEN = (100, 100)


@dataclass(frozen=True)
class Victim:
    """A trained network with its training and validation data, shared by all rows."""

    data: CreditData
    network: Any


@dataclass(frozen=True)
class Target:
    """The column to perturb: its name, and its coefficient in standardized units."""

    column: str
    coefficient: float


def make_victim(frame: pd.DataFrame, seed: int, *, payments: Payments = "numbers") -> Victim:
    """Prepare the clients, as `prepare` does, and train the network to be attacked."""
    data = prepare(frame, seed, payments=payments)
    return Victim(data, train_network(data, seed))


def train_network(data: CreditData, seed: int) -> Any:
    """Return a ReLU network with three layers of weights, stopped early on training rows."""
    network = MLPClassifier(HIDDEN, activation="relu", early_stopping=True, random_state=seed)
    return network.fit(data.X_train, data.y_train)


def measure(victim: Victim, X: FloatArray) -> dict[str, float]:
    """Return log loss, accuracy and AUC of the network for validation rows X, perhaps perturbed."""
    y, chance = victim.data.y_valid, victim.network.predict_proba(X)[:, 1]
    return {
        "loss": float(log_loss(y, chance, labels=[0, 1])),
        "accuracy": float(accuracy_score(y, chance > 0.5)),
        "auc": float(roc_auc_score(y, chance)),
    }


def largest_coefficient(data: CreditData, method: Method, seed: int) -> Target:
    """Return the column whose coefficient, in a regression of y on X, is the largest.

    Parameters
    ----------
    data : CreditData
        Its training rows are used.
    method : str
        `"ols"`: least squares on all columns, where only singular values below the machine's
        precision count as zero: scikit-learn's `LinearRegression` before version 1.6. The columns
        are collinear, so coefficients may have any size, and rounding decides which is largest.
        `"minimum_norm"`: the same columns, `LinearRegression` as it is now.
        `"ols_references"`: least squares without reference levels and dependent columns.
        `"lasso"`, `"elastic_net"`: `DebiNet` on the columns of `"ols_references"`.
    seed : int
        Random state of DebiNet.
    """
    coefficients = _METHODS[method](data, seed)
    if coefficients.empty:
        raise SelectorError(
            "a selector that keeps at least one column",
            f"none from {method!r}",
            "Pass more rows: without a coefficient there is no column to attack.",
        )
    column = str(coefficients.abs().idxmax())
    return Target(column, float(coefficients[column]))


def perturb(data: CreditData, target: Target, *, aim: Aim = "label") -> FloatArray:
    """Return the validation rows with the target's column at an end of its range.

    Parameters
    ----------
    data : CreditData
        The range is that of its training rows, as the coefficient is.
    target : Target
        A positive coefficient says that the maximum raises the predicted chance of a default.
    aim : {"label", "all"}
        `"label"` raises the chance of clients who did not default and lowers that of those who
        did; `"all"` raises it for everybody. The paper does not say which, but once everybody is
        predicted to default, the 22 % who do are classified correctly: an accuracy of 0.008
        needs `"label"`.
    """
    j = data.names.index(target.column)
    lowest, highest = data.X_train[:, j].min(), data.X_train[:, j].max()
    if target.coefficient < 0:
        lowest, highest = highest, lowest
    X = data.X_valid.copy()
    X[:, j] = highest if aim == "all" else np.where(data.y_valid == 0, highest, lowest)
    return X


def baseline(victim: Victim, seed: int) -> dict[str, float]:  # noqa: ARG001 - as all rows
    """Return the measures of the network before any attack."""
    return measure(victim, victim.data.X_valid)


def attack(victim: Victim, seed: int, *, method: Method, aim: Aim = "label") -> dict[str, float]:
    """Return the measures after the attack, with what was attacked.

    `coefficient` is the target's; `first_repayment` is 1 if the target is the first repayment
    status or one of its levels, which is what the paper attacks with DebiNet, and 0 otherwise.
    """
    target = largest_coefficient(victim.data, method, seed)
    hit = target.column.partition("=")[0] == FIRST_REPAYMENT
    return {
        **measure(victim, perturb(victim.data, target, aim=aim)),
        "coefficient": target.coefficient,
        "first_repayment": float(hit),
    }


ROWS: dict[str, Callable[[Victim, int], dict[str, float]]] = {
    "MLP": baseline,
    "OLS attack": partial(attack, method="ols"),
    "OLS attack, minimum norm": partial(attack, method="minimum_norm"),
    "OLS attack, reference levels dropped": partial(attack, method="ols_references"),
    "DebiNet attack (Lasso)": partial(attack, method="lasso"),
    "DebiNet attack (elastic net)": partial(attack, method="elastic_net"),
}


def _independent(data: CreditData) -> pd.DataFrame:
    # DebiNet needs this too: a network learns a column exactly from the other levels, and a
    # residual of zero has no coefficient. Apart from reference levels, rare levels can be copies of
    # each other. A diagonal element of R is the part of a column that earlier ones do not explain.
    frame = pd.DataFrame(data.X_train, columns=list(data.names)).drop(columns=[*data.references])
    own = np.abs(np.diag(np.linalg.qr(frame.to_numpy(), mode="r")))
    kept: pd.DataFrame = frame.loc[:, own > 1e-8 * np.sqrt(len(frame))]
    return kept


def _ols(data: CreditData, seed: int) -> pd.Series[float]:  # noqa: ARG001 - as all methods
    X, y = data.X_train, data.y_train
    precision = np.finfo(np.float64).eps
    coef: FloatArray = lstsq(X - X.mean(axis=0), y - y.mean(), cond=precision)[0]
    return pd.Series(coef, index=list(data.names), dtype=np.float64)


def _minimum_norm(data: CreditData, seed: int) -> pd.Series[float]:  # noqa: ARG001
    coef = LinearRegression().fit(data.X_train, data.y_train).coef_
    return pd.Series(coef, index=list(data.names), dtype=np.float64)


def _ols_references(data: CreditData, seed: int) -> pd.Series[float]:  # noqa: ARG001
    X = _independent(data)
    coef = LinearRegression().fit(X, data.y_train).coef_
    return pd.Series(coef, index=X.columns, dtype=np.float64)


def _debinet(data: CreditData, seed: int, *, selector: Any) -> pd.Series[float]:
    # The same rows select and estimate, as in the paper: an attack needs no intervals.
    model = DebiNet(selector, selection_share=None, random_state=seed)
    model.fit(_independent(data), data.y_train.astype(np.float64))
    coef: pd.Series[float] = model.result_.coef
    return coef


# With so many rows, the minimum of the cross-validated error keeps nearly all columns and leaves
# the network almost nothing to learn; the penalty one standard error above it does select.
_METHODS: dict[Method, Callable[[CreditData, int], pd.Series[float]]] = {
    "ols": _ols,
    "minimum_norm": _minimum_norm,
    "ols_references": _ols_references,
    "lasso": partial(_debinet, selector=Lasso("cv-1se")),
    "elastic_net": partial(_debinet, selector=ElasticNet("cv-1se")),
}
