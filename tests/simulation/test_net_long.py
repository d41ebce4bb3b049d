"""The trained network: the paper's Table 1, and a treatment of zeros and ones.

False alarms: the bound on Table 1 is ten times what was seen; a coverage of 0.95 falls out of
[0.92, 0.97] by chance in about one of eight choices of 200 seeds (Monte Carlo error 0.015), so the
seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from sklearn.metrics import log_loss

import debinet as dn

pytest.importorskip("torch")

RUNS = 200
NARROW = 100  # hidden units: enough for five controls, and quick


def paper(seed: int) -> dict[str, float]:
    """PLM-NN as in the paper: one network of width 10,000, in-sample residuals."""
    data = dn.datasets.make_table1(10_000, random_state=seed)
    new = dn.datasets.make_table1(10_000, random_state=1000 + seed)
    net = dn.Net(10_000, optimizer="adam", learning_rate=2e-4, epochs=5, validation_share=None)
    model = dn.PartiallyLinear(["d1"], net, crossfit=None, method="robinson", random_state=seed)
    model.fit(data.X, data.y)
    return {
        "error": (model.coef_[0] - data.truth.iloc[0]) ** 2,
        "test": np.mean((model.predict(new.X) - new.y) ** 2),
    }


@pytest.mark.sim
def test_table_1():
    found = pd.DataFrame([paper(seed) for seed in range(10)])
    print(f"\nTable 1, PLM-NN, 10 runs:\n{found.agg(['mean', 'std'])}")
    assert found["error"].mean() <= 1.59e-5
    assert found["test"].mean() <= 10.4


def enrol(binary: str, seed: int) -> dict[str, float]:
    data = dn.datasets.make_enrolment(random_state=seed)
    new = dn.datasets.make_enrolment(random_state=1000 + seed)
    net = dn.Net(NARROW, binary=binary)
    result = dn.PartiallyLinear(["d1"], net, random_state=seed).fit(data.X, data.y).result_
    lower, upper = result.confint().iloc[0]
    Z, d = data.X.drop(columns="d1").to_numpy(), data.X["d1"].to_numpy()
    chance = dn.Net(NARROW, binary=binary, random_state=seed).fit(Z, d)
    predicted = chance.predict(new.X.drop(columns="d1").to_numpy())
    return {
        "bias": result.coef.iloc[0] - 0.5,
        "se": result.se.iloc[0],
        "coverage": lower <= 0.5 <= upper,
        "log loss": log_loss(new.X["d1"], np.clip(predicted, 1e-3, 1 - 1e-3)),
    }


@pytest.mark.sim
def test_a_treatment_of_zeros_and_ones():
    found = {
        binary: pd.DataFrame(
            Parallel(n_jobs=-1)(delayed(enrol)(binary, seed) for seed in range(runs))
        )
        for binary, runs in (("logistic", RUNS), ("squared", RUNS // 4))
    }
    for binary, frame in found.items():
        print(f"\nEnrolment, {binary} head, {len(frame)} runs:\n{frame.agg(['mean', 'std'])}")
    assert 0.92 <= found["logistic"]["coverage"].mean() <= 0.97
    same = found["logistic"][: RUNS // 4]
    assert (same["log loss"] < found["squared"]["log loss"]).mean() > 0.9
