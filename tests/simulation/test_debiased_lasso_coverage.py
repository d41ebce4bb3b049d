"""Do the desparsified Lasso's intervals cover, for every coefficient and for all at once?

Rows are normal with correlation `0.5^|j-k|`, n = 200, p = 300; the five coefficients that are 1
belong to neighbouring columns, the hardest place, as their biases add up. Replications that fail
are failures of the test, not rows left out. Seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest
from joblib import Parallel, delayed

from debinet.models.debiased_lasso import DebiasedLasso

N, P, ACTIVE, LEVEL = 200, 300, 5, 0.95
# The defaults were chosen on seeds below 100, so these data were not used for the choice.
FIRST_SEED = 10_000


def replicate(seed: int) -> tuple[np.ndarray, bool, bool]:
    rng = np.random.default_rng(FIRST_SEED + seed)
    X = rng.normal(size=(N, P))
    for j in range(1, P):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    coef = np.zeros(P)
    coef[:ACTIVE] = 1
    model = DebiasedLasso(random_state=seed, n_jobs=1).fit(X, X @ coef + rng.normal(size=N))

    def covers(bounds):
        return ((bounds["lower"] <= coef) & (coef <= bounds["upper"])).to_numpy()

    booted = model.bootstrap(200)
    return (
        covers(model.result_.confint(LEVEL)),
        bool(covers(model.result_.confint(LEVEL, joint=True)).all()),
        bool(covers(booted.confint(LEVEL, joint=True)).all()),
    )


def simulate(replications: int) -> tuple[np.ndarray, np.ndarray]:
    runs = Parallel(n_jobs=-1)(delayed(replicate)(seed) for seed in range(replications))
    assert len(runs) == replications
    return np.array([run[0] for run in runs]), np.array([run[1:] for run in runs])


@pytest.mark.sim
def test_intervals_of_the_default_settings_cover(capsys):
    """100 runs: 500 active intervals and 29,500 others, dependent within a run.

    The Monte Carlo error is taken between runs: 0.012 for active, 0.0011 for inactive. If the truth
    is 0.94 and 0.962, as found, the bounds are three and more of these away; the joint bound, 0.88,
    is 3.2 standard errors (0.022) below 0.95.
    """
    single, joint = simulate(100)
    by_run = {"active": single[:, :ACTIVE].mean(axis=1), "others": single[:, ACTIVE:].mean(axis=1)}
    with capsys.disabled():
        for name, share in by_run.items():
            error = share.std(ddof=1) / np.sqrt(share.size)
            print(f"\n{name}: coverage {share.mean():.4f}, Monte Carlo error {error:.4f}")
        print(f"joint: {joint[:, 0].mean():.2f}, by wild bootstrap: {joint[:, 1].mean():.2f}")
    assert by_run["active"].mean() >= 0.90
    assert 0.93 <= by_run["others"].mean() <= 0.98
    assert joint[:, 0].mean() >= 0.88
