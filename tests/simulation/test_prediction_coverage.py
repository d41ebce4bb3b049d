"""Do 95 % prediction intervals contain 95 % of new outcomes?

Ten sets: six tables of studies, split at random again and again, and four designs, drawn again and
again. The mean over independent splits or draws of the share of new rows within their intervals is
compared with bounds by its own standard error: a method whose intervals cover as often as the bound
says fails with probability at most `FALSE_ALARM` (normal approximation). Learners choose penalties,
relevant features and rules from all rows, which exact leave-one-out takes as given: the lower bound
allows for 0.01 of that.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

import debinet as dn

LEVEL, LOWEST, HIGHEST = 0.95, 0.94, 0.97
FALSE_ALARM = 0.001
SMALL_FOREST = RandomForestRegressor(20, min_samples_leaf=3)


def draw(design, seed, n):
    X, y, truth = getattr(dn.datasets, design)(n=n, random_state=seed)
    return pd.DataFrame(X), np.asarray(y), list(truth.index)


def read(folder, name):
    if name == "diabetes":
        data = load_diabetes(as_frame=True)
        return data.data, data.target, ["bmi", "bp"]
    if name == "401k":
        table = dn.datasets.fetch_401k()
        X = table[["inc", "age", "fsize", "educ", "marr", "twoearn", "db", "pira", "hown"]]
        return X.assign(e401=table["e401"]), table["net_tfa"], ["e401"]
    if name == "card":
        table = pd.read_csv(folder / "card" / "card.csv")
        columns = ["educ", "exper", "black", "south", "smsa", "nearc4", "momdad14", "age"]
        return table[columns].drop(columns="exper"), table["lwage"], ["educ"]
    if name == "wages":
        table = pd.read_csv(folder / "wage_panel" / "wage_panel.csv")
        # one year: rows of the same person are not exchangeable with those of others
        table = table[table["year"] == 1984]
        columns = ["union", "educ", "exper", "hours", "married", "black", "hisp"]
        return table[columns], table["lwage"], ["union"]
    if name == "darfur":
        table = pd.read_csv(folder / "darfur" / "darfur.csv")
        columns = ["directlyharmed", "age", "female", "pastvoted", "hhsize_darfur", "farmer_dar"]
        return table[columns], table["peacefactor"], ["directlyharmed"]
    table = pd.read_csv(folder / "growth" / "GrowthData.csv").drop(columns="intercept")
    return table.iloc[:, 1:25], table["Outcome"], ["gdpsh465"]


DESIGNS = ("make_waves", "make_survey", "make_ccddhnr2018", "make_smooth_nonlinear")
STUDIES = ("diabetes", "401k", "card", "wages", "darfur", "growth")


def share_inside(sample, learner, n, seed, **options):
    """Return the share of new rows, at most 500, whose outcomes the intervals contain."""
    X, y, treatments = sample
    rows = np.random.default_rng(seed).permutation(len(X))
    fit, new = rows[:n], rows[n : n + 500]
    X, y = X.reset_index(drop=True), np.asarray(y, dtype=float)
    used = [c for c in X if X[c].iloc[fit].nunique() > 1]
    model = dn.PartiallyLinear(treatments, learner, random_state=seed, **options)
    frame = model.fit(X[used].iloc[fit], y[fit]).predict(X[used].iloc[new], interval=LEVEL)
    return np.mean((frame["lower"] <= y[new]) & (y[new] <= frame["upper"]))


def require_coverage(shares, low=LOWEST, high=HIGHEST):
    shares = np.asarray(shares)
    slack = stats.norm.isf(FALSE_ALARM / 2) * shares.std(ddof=1) / np.sqrt(shares.size)
    assert low - slack <= shares.mean() <= high + slack, (shares.mean(), slack)
    return shares.mean(), slack


@pytest.mark.parametrize("learner", ["wide", "mean", "linear"])
def test_intervals_contain_new_outcomes_of_a_design(learner):
    shares = [share_inside(draw("make_waves", s, 300), learner, 100, s) for s in range(12)]
    require_coverage(shares)


@pytest.mark.parametrize(("learner", "n"), [("wide", 221), (SMALL_FOREST, 150)], ids=str)
def test_intervals_contain_new_outcomes_of_a_study(learner, n):
    diabetes = read(None, "diabetes")
    require_coverage([share_inside(diabetes, learner, n, s) for s in range(8)])


def test_the_check_can_fail():
    """Intervals from in-sample residuals of a forest are too short."""
    X, y, _ = draw("make_waves", 0, 600)
    shares = []
    for seed in range(8):
        rows = np.random.default_rng(seed).permutation(600)
        fit, new = rows[:300], rows[300:]
        forest = RandomForestRegressor(20, random_state=seed).fit(X.iloc[fit], y[fit])
        half = np.quantile(np.abs(y[fit] - forest.predict(X.iloc[fit])), LEVEL)
        shares.append(np.mean(np.abs(y[new] - forest.predict(X.iloc[new])) <= half))
    with pytest.raises(AssertionError):
        require_coverage(shares)


@pytest.mark.sim
@pytest.mark.parametrize("learner", ["wide", "forest"])
@pytest.mark.parametrize("name", [*STUDIES, *DESIGNS])
def test_intervals_contain_new_outcomes_of_ten_sets(name, learner, data_folder, capsys):
    """60 splits or draws, 200 rows to fit (60 of 90 for growth), up to 500 new ones."""
    chosen = RandomForestRegressor(100, min_samples_leaf=3) if learner == "forest" else learner
    n = 60 if name == "growth" else 200
    study = read(data_folder, name) if name in STUDIES else None
    shares = [share_inside(study or draw(name, s, n + 500), chosen, n, s) for s in range(60)]
    mean, slack = require_coverage(shares)
    with capsys.disabled():
        print(f"\n{name}, {learner}: {mean:.4f}, slack {slack:.4f}")
