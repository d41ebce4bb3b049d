"""Do joint bands, tests of heterogeneity and average effects keep their levels?

A true level fails a check with probability at most `FALSE_ALARM`. Seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import expit

import debinet as dn

FALSE_ALARM = 0.01
RUNS = 200


def region(level: float, runs: int = RUNS) -> tuple[float, float]:
    low, high = stats.binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], runs, level)
    return low / runs, high / runs


def curve(seed, n=500):
    rng = np.random.default_rng([seed, 11])
    Z = rng.normal(size=(n, 4))
    d = np.sin(Z[:, 0]) + 0.5 * Z[:, 1] + rng.normal(size=n)
    y = d * 2 * expit(2 * Z[:, 0]) + np.abs(Z[:, 1]) + Z[:, 2] + rng.normal(size=n)
    X = pd.DataFrame(np.column_stack([d, Z]), columns=["d", "a", "b", "c", "e"])
    model = dn.PartiallyLinear("d", random_state=0).fit(X, y)
    frame = model.effects("a", df=5).to_frame(joint=True)
    return frame, 2 * expit(2 * frame.index.to_numpy())


def groups(seed, n=1000):
    rng = np.random.default_rng([seed, 11])
    Z = rng.normal(size=(n, 5))
    Z[:, 4] = rng.integers(4, size=n)
    m = np.cos(Z[:, 0]) + Z[:, 1] / 2
    D = np.column_stack([m + rng.normal(size=n), rng.uniform(size=n) < expit(Z[:, 0])])
    tau = np.column_stack([Z[:, 4] / 2, np.ones(n)])
    noise = rng.normal(size=n) * (1 + 0.5 * (Z[:, 4] > 1))
    y = (D * tau).sum(axis=1) + np.cos(Z[:, 0]) + Z[:, 1] ** 2 / 2 + noise
    X = pd.DataFrame(np.hstack([D, Z]), columns=["d", "t", "a", "b", "c", "e", "g"])
    model = dn.PartiallyLinear(["d", "t"], random_state=0).fit(X, y)
    return model.effects("g").to_frame(joint=True), np.r_[0, 0.5, 1, 1.5, 1, 1, 1, 1]


@pytest.mark.sim
@pytest.mark.parametrize("design", [curve, groups])
def test_joint_bands_cover_the_whole_truth(design):
    hits = []
    for seed in range(RUNS):
        frame, truth = design(seed)
        hits.append(((frame["lower"] <= truth) & (truth <= frame["upper"])).all())
    low, high = region(0.95)
    assert low <= np.mean(hits) <= min(high, 1.0), np.mean(hits)


def pvalues(seed, varying, n=500):
    """The Wald test of a curve, and the score test, with variances that depend on the column."""
    rng = np.random.default_rng([seed, 4])
    Z = rng.normal(size=(n, 5))
    d = np.sin(Z[:, 0]) + 0.5 * Z[:, 1] + rng.normal(size=n)
    noise = rng.normal(size=n) * (1 + 0.3 * np.abs(Z[:, 0]))
    tau = 1 + varying * np.sin(1.5 * Z[:, 0])
    y = d * tau + np.abs(Z[:, 1]) + Z[:, 2] + noise
    X = pd.DataFrame(np.column_stack([d, Z]), columns=["d", "a", "b", "c", "e", "f"])
    model = dn.PartiallyLinear("d", random_state=0).fit(X, y)
    wald = model.effects("a").heterogeneity_test().pvalue
    return wald, model.individual_effects().score_pvalue


@pytest.mark.sim
def test_heterogeneity_tests_have_their_size_and_power():
    """Size in the region of 0.05; power at least 0.8 against `1 + sin(1.5 z) / 2`."""
    size = np.mean([np.array(pvalues(seed, 0.0)) < 0.05 for seed in range(RUNS)], axis=0)
    low, high = region(0.05)
    assert ((low <= size) & (size <= high)).all(), size
    power = np.mean([np.array(pvalues(seed, 0.5)) < 0.05 for seed in range(60)], axis=0)
    assert (power >= 0.8).all(), power


@pytest.mark.sim
def test_average_effects_cover_where_the_propensity_is_not_linear():
    """Effects and propensity share a sine; 100 runs of 1,000 rows."""

    def population(rng, n):
        Z = rng.normal(size=(n, 5))
        p = expit(1.2 * np.sin(1.5 * Z[:, 0]) + 0.5 * Z[:, 1] * Z[:, 2] + 0.3 * Z[:, 3])
        return Z, p, 1.0 + np.sin(1.5 * Z[:, 0]) + 0.5 * Z[:, 3]

    _, p, tau = population(np.random.default_rng(0), 2_000_000)
    truth = np.array([tau.mean(), (p * tau).mean() / p.mean()])
    hits = []
    for seed in range(1000, 1100):
        rng = np.random.default_rng([seed, 5])
        Z, p, tau = population(rng, 1000)
        a = (rng.uniform(size=1000) < p).astype(float)
        f = np.sin(1.5 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + np.abs(Z[:, 3])
        X = pd.DataFrame(np.column_stack([a, Z]), columns=list("dabcef"))
        model = dn.PartiallyLinear("d", random_state=0).fit(X, f + a * tau + rng.normal(size=1000))
        frame = model.average_effects().to_frame().loc[["ATE", "ATT"]]
        hits.append((frame["lower"] <= truth) & (truth <= frame["upper"]))
    low, high = region(0.95, 100)
    share = np.mean(hits, axis=0)
    assert ((low <= share) & (share <= min(high, 1.0))).all(), share
