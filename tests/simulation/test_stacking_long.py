"""Stacking on the designs of the library: held-out error compared with that of its best member.

Errors are of 4,000 new rows, averaged over 5 draws; the weights come from 500 training rows, so
they identify the best member only up to noise. The bound of 5 % is not a statistical one.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LassoCV

import debinet as dn
from debinet.data.folds import k_folds
from debinet.learners.crossfitting import cross_fit

DESIGNS = (
    "sparse_linear",
    "smooth_nonlinear",
    "waves",
    "oblique",
    "survey",
    "enrolment",
    "ccddhnr2018",
    "table1",
)
RUNS = 5


def members():
    return [
        dn.WideNet(relevance="equal"),
        dn.SplineSmoother(),
        LassoCV(),
        RandomForestRegressor(100, min_samples_leaf=3),
    ]


def split(design, n, seed):
    data = getattr(dn.datasets, f"make_{design}")(n, random_state=seed)
    names = list(data.truth.index)
    M = np.column_stack([data.y, data.X[names]])
    return data.X.drop(columns=names).to_numpy(), M


def errors(design, seed):
    Z, M = split(design, 500, seed)
    new, expected = split(design, 4000, 1000 + seed)
    folds = k_folds(500, 5, np.random.default_rng(seed))
    learners = [*members(), dn.stack(members())]
    return [
        ((cross_fit(one, Z, M, folds, seed=seed).average.predict(new) - expected) ** 2).mean(axis=0)
        for one in learners
    ]


@pytest.mark.sim
@pytest.mark.parametrize("design", DESIGNS)
def test_a_stack_is_nearly_as_good_as_its_best_member(design):
    found = np.mean([errors(design, seed) for seed in range(RUNS)], axis=0)
    names = ["WideNet", "SplineSmoother", "LassoCV", "forest", "stack"]
    print(f"\n{design}\n{pd.DataFrame(found, index=names).round(3)}")
    ratio = found[-1] / found[:-1].min(axis=0)
    print(f"stack over best: {ratio.round(3)}")
    assert (ratio <= 1.05).all()
