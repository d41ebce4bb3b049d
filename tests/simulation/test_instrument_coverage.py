"""Do intervals with instruments cover, and Anderson-Rubin sets where these do not?

Shares are compared with binomial limits that a right method exceeds with probability at most
`FALSE_ALARM` in each comparison. Seeds are fixed; a run that fails is a failure.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import debinet as dn

FALSE_ALARM = 1e-3
LEVEL = 0.95


def limits(runs: int) -> tuple[float, float]:
    low, high = stats.binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], runs, LEVEL)
    return low / runs, high / runs


def several(seed: int, n: int = 300):
    """Two endogenous treatments, three instruments, controls that act non-linearly on all."""
    rng = np.random.default_rng(seed)
    Z, u = rng.normal(size=(n, 3)), rng.normal(size=n)
    W = rng.normal(size=(n, 3)) + 0.7 * np.sin(2 * Z[:, :1])
    d1 = W @ [0.9, 0.3, 0.5] + np.cos(2 * Z[:, 0]) + 0.7 * u + 0.7 * rng.normal(size=n)
    d2 = W @ [-0.3, 0.9, 0.4] + Z[:, 1] ** 2 / 2 + 0.7 * u + 0.7 * rng.normal(size=n)
    y = d1 + 2 * d2 + np.sin(2 * Z[:, 0]) + np.abs(Z[:, 1]) + u
    return named(y, np.column_stack([d1, d2]), W, Z)


def single(seed: int, n: int, k: int, strength: float):
    """One endogenous treatment and k instruments of equal strength."""
    rng = np.random.default_rng(seed)
    Z, u = rng.normal(size=(n, 3)), rng.normal(size=n)
    W = rng.normal(size=(n, k)) + 0.5 * np.sin(Z[:, :1])
    d = strength * W.sum(axis=1) + np.cos(Z[:, 0]) + 0.9 * u + 0.4 * rng.normal(size=n)
    y = d + np.sin(2 * Z[:, 0]) + np.abs(Z[:, 1]) + u
    return named(y, d[:, None], W, Z)


def named(y, D, W, Z):
    names = [f"d{j}" for j in range(D.shape[1])], [f"w{j}" for j in range(W.shape[1])]
    columns = [*names[0], *names[1], "z0", "z1", "z2"]
    return pd.DataFrame(np.column_stack([D, W, Z]), columns=columns), y, *names


def fit(data, **options):
    X, y, treatments, instruments = data
    model = dn.PartiallyLinear(treatments, instruments=instruments, random_state=0, **options)
    return model.fit(X, y).result_


def covers(result, truth) -> list[bool]:
    bounds = result.confint(LEVEL)
    inside = (bounds["lower"] <= truth) & (truth <= bounds["upper"])
    return [bool(one) for one in inside]


@cache
def of_several(runs: int) -> tuple[np.ndarray, np.ndarray]:
    results = [fit(several(seed)) for seed in range(runs)]
    truth = np.array([1.0, 2.0])
    errors = np.stack([result.estimate for result in results]) - truth
    return errors, np.array([covers(result, truth) for result in results])


@pytest.mark.parametrize("runs", [20, pytest.param(200, marks=pytest.mark.sim)])
def test_two_endogenous_treatments(runs):
    """Medians, as estimates with instruments need not have means."""
    errors, covered = of_several(runs)
    low, high = limits(runs)
    assert ((low <= covered.mean(axis=0)) & (covered.mean(axis=0) <= high)).all()
    z = np.median(errors, axis=0) / (1.2533 * errors.std(axis=0) / np.sqrt(runs))
    assert (np.abs(z) < stats.norm.isf(FALSE_ALARM / 2)).all()


@pytest.mark.parametrize("runs", [20, pytest.param(200, marks=pytest.mark.sim)])
def test_sets_cover_with_instruments_so_weak_that_intervals_do_not(runs):
    results = [fit(single(seed, 250, 4, 0.03)) for seed in range(runs)]
    low, high = limits(runs)
    inside = np.mean([1.0 in result.iv.confidence_set(LEVEL).iloc[0] for result in results])
    assert low <= inside <= high
    if runs >= 200:
        assert np.mean([covers(result, [1.0])[0] for result in results]) < 0.85


@pytest.mark.parametrize("runs", [20, pytest.param(200, marks=pytest.mark.sim)])
def test_jackknife_with_fifty_instruments_covers_where_two_stage_least_squares_does_not(runs):
    two_stage, jackknife, test = [], [], []
    for seed in range(runs):
        data = single(seed, 300, 50, 0.08)
        two_stage += covers(fit(data), [1.0])
        result = fit(data, method="jive")
        jackknife += covers(result, [1.0])
        test.append(result.iv.jackknife_ar(1.0).pvalue > 1 - LEVEL)
    low, high = limits(runs)
    assert np.mean(two_stage) < 0.5
    # The covariance leaves out a term of many instruments: 0.93 instead of 0.95 at most.
    assert low - 0.02 <= np.mean(jackknife) <= high
    assert low <= np.mean(test) <= high
