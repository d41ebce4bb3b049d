"""Learned relevance against equal weights: error and coverage over 50 runs of each design.

Both are fitted to the same data, so ratios of errors are known far better than errors. Bounds are
those that learned relevance was designed for; seeds are fixed, so that a failure is a change.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from sklearn.linear_model import Lasso
from threadpoolctl import threadpool_limits

import debinet as dn

RUNS = 50


def simulated(make, n):
    def data(seed):
        made = make(n, random_state=seed)
        return made.X, made.y, made.truth

    return data


def with_noise(make, extra):
    """Add `extra` controls that are noise."""

    def data(seed):
        made = make(500, random_state=seed)
        rng = np.random.default_rng(10_000 + seed)
        noise = rng.normal(size=(500, extra))
        names = [f"noise{j}" for j in range(extra)]
        return made.X.join(pd.DataFrame(noise, columns=names)), made.y, made.truth

    return data


def crowded(n, p):
    """As many controls as relevance is learned for: a third of the rows."""

    def data(seed):
        made = dn.datasets.make_sparse_linear(n, p, random_state=seed)
        return made.X, made.y, made.truth

    return data


def table2(p, k, penalty):
    def data(seed):
        made = dn.datasets.make_table2(1000, p, k, random_state=seed)
        chosen = Lasso(penalty).fit(made.X.to_numpy(), made.y).coef_ != 0
        return made.X, made.y, made.truth[chosen]

    return data


DESIGNS = {
    "smooth nonlinear": simulated(dn.datasets.make_smooth_nonlinear, 500),
    "waves": simulated(dn.datasets.make_waves, 500),
    "waves, 10 more features": with_noise(dn.datasets.make_waves, 10),
    "smooth nonlinear, 40 more features": with_noise(dn.datasets.make_smooth_nonlinear, 40),
    "smooth nonlinear, 90 more features": with_noise(dn.datasets.make_smooth_nonlinear, 90),
    "ccddhnr2018": simulated(dn.datasets.make_ccddhnr2018, 500),
    "table 1": simulated(dn.datasets.make_table1, 1000),
    "table 2 B": table2(3000, 10, 0.5),
    "table 2 C": table2(500, 400, 1.0),
    "oblique": simulated(dn.datasets.make_oblique, 500),
    "sparse linear": simulated(dn.datasets.make_sparse_linear, 500),
    "survey": simulated(dn.datasets.make_survey, 500),
    "enrolment": simulated(dn.datasets.make_enrolment, 500),
    "sparse linear, n = 100, p = 30": crowded(100, 30),
    "sparse linear, n = 150, p = 50": crowded(150, 50),
    "smooth nonlinear, n = 100": simulated(dn.datasets.make_smooth_nonlinear, 100),
    "smooth nonlinear, n = 200": simulated(dn.datasets.make_smooth_nonlinear, 200),
    "ccddhnr2018, n = 100": simulated(dn.datasets.make_ccddhnr2018, 100),
    "ccddhnr2018, n = 200": simulated(dn.datasets.make_ccddhnr2018, 200),
}


def one_run(name, relevance, seed):
    """Return the mean squared error and the coverage of 95 % intervals in one draw."""
    with threadpool_limits(1):
        X, y, truth = DESIGNS[name](seed)
        model = dn.PartiallyLinear(list(truth.index), dn.WideNet(relevance=relevance)).fit(X, y)
    bounds = model.result_.confint()
    inside = (bounds["lower"] <= truth) & (truth <= bounds["upper"])
    return np.mean((model.coef_ - truth.to_numpy()) ** 2), inside.mean()


def errors(name, relevance):
    """Return the root mean squared error and the coverage over all runs."""
    runs = Parallel(2)(delayed(one_run)(name, relevance, seed) for seed in range(RUNS))
    square, covered = np.mean(runs, axis=0)
    return float(np.sqrt(square)), float(covered)


@pytest.fixture(scope="module")
def measured():
    found = {}
    for name in DESIGNS:
        equal, learned = errors(name, "equal"), errors(name, "learned")
        found[name] = (*equal, *learned)
        print(
            f"\n{name}: RMSE {equal[0]:.4f} and {learned[0]:.4f}, "
            f"ratio {learned[0] / equal[0]:.2f}, coverage {equal[1]:.3f} and {learned[1]:.3f}",
            flush=True,
        )
    return found


@pytest.mark.sim
@pytest.mark.parametrize("name", ["smooth nonlinear", "waves, 10 more features"])
def test_sparse_nonlinear_designs_gain(measured, name):
    equal, equal_cover, learned, cover = measured[name]
    assert learned <= 0.65 * equal
    assert abs(cover - 0.95) < abs(equal_cover - 0.95)


@pytest.mark.sim
@pytest.mark.parametrize("name", ["ccddhnr2018", "table 1", "table 2 B", "table 2 C"])
def test_other_designs_lose_nothing(measured, name):
    equal, _, learned, _ = measured[name]
    assert learned <= 1.05 * equal


@pytest.mark.sim
def test_extra_features_do_little_harm(measured):
    few, many = measured["smooth nonlinear"], measured["smooth nonlinear, 40 more features"]
    assert many[2] <= 1.2 * few[2]
    assert many[0] > 1.2 * few[0]
