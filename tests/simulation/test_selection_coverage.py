"""DebiNet after three selectors in the paper's Table 2: selection on separate rows, and on the same
rows.

With 50 runs of q coefficients the Monte Carlo error of a coverage of 0.95 is about
sqrt(0.95 * 0.05 / (50 q)): 0.007 for q = 20.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed

import debinet as dn
from debinet.selection.sorted_norm import benjamini_hochberg_weights

RUNS = 50
ROWS = 1000


@dataclass(frozen=True)
class Setting:
    """One of Table 2's settings, the Lasso's penalty and rank there, and the required coverage."""

    p: int
    k: int
    penalty: float
    rank: int
    cover: tuple[float, float]


SETTINGS = {
    "A": Setting(p=3000, k=300, penalty=1.8, rank=23, cover=(0.93, 0.97)),
    "B": Setting(p=3000, k=10, penalty=0.5, rank=10, cover=(0.93, 0.97)),
    "C": Setting(p=500, k=400, penalty=1.0, rank=95, cover=(0.92, 0.985)),
}


def make_selector(name: str, setting: Setting, factor: float):
    """Return the selector with the Lasso's threshold: SLOPE's at the rank the Lasso reaches."""
    level = factor * setting.penalty
    if name == "Lasso":
        return dn.Lasso(level, standardize=False)
    if name == "ElasticNet":
        return dn.ElasticNet(level / 0.5, l1_ratio=0.5, standardize=False)
    weight = benjamini_hochberg_weights(setting.p, 0.1)[setting.rank - 1]
    return dn.Slope(level / weight, standardize=False)


def run(name: str, setting: Setting, share: float | None, seed: int) -> dict[str, float]:
    data = dn.datasets.make_table2(2 * ROWS, setting.p, setting.k, random_state=seed)
    X, y = data.X.to_numpy(), data.y.to_numpy()
    # 40 % of the rows have a noisier threshold: the penalty is 1.3 times that of all rows
    selector = make_selector(name, setting, 1.3 if share else 1.0)
    model = dn.DebiNet(selector, selection_share=share, random_state=seed).fit(X[:ROWS], y[:ROWS])
    truth = data.truth.to_numpy()[model.get_support()]
    bounds = model.result_.confint().to_numpy()
    return {
        "q": truth.size,
        "error": ((model.coef_ - truth) ** 2).mean(),
        "test": ((model.predict(X[ROWS:]) - y[ROWS:]) ** 2).mean(),
        "coverage": ((bounds[:, 0] <= truth) & (truth <= bounds[:, 1])).mean(),
    }


@pytest.mark.sim
@pytest.mark.parametrize("share", [0.4, None])
@pytest.mark.parametrize("selector", ["Lasso", "ElasticNet", "Slope"])
@pytest.mark.parametrize("name", SETTINGS)
def test_coverage_after_selection(name, selector, share, capsys):
    """On the same rows the numbers are only printed: they are what the default avoids."""
    setting = SETTINGS[name]
    runs = pd.DataFrame(
        Parallel(n_jobs=-1)(delayed(run)(selector, setting, share, s) for s in range(RUNS))
    )
    assert len(runs) == RUNS
    means, errors = runs.mean(), runs.std() / np.sqrt(RUNS)
    with capsys.disabled():
        print(f"\nTable 2 {name}, {selector}, selection_share={share}, {RUNS} runs:")
        print(pd.DataFrame({"mean": means, "Monte Carlo error": errors}).T.round(4).to_string())
    if share is not None:
        low, high = setting.cover
        assert low <= means["coverage"] <= high
