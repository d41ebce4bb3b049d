"""Do 95 % intervals cover 95 %?

A method whose intervals cover with probability 0.95 fails a check here with probability at most
`FALSE_ALARM`; the number of replications then determines how far off a method must be to be
detected. Replications that fail are failures of the test, not rows left out. Seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest
from joblib import Parallel, delayed
from scipy import stats
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LassoCV

import debinet as dn

DESIGNS = {
    "ccddhnr2018": dn.datasets.make_ccddhnr2018,
    "survey": dn.datasets.make_survey,
}
LEARNERS = {
    "LassoCV": LassoCV(alphas=20),
    "RandomForest": RandomForestRegressor(n_estimators=50, min_samples_leaf=3),
}
# cheaper ones, for the tests that run every time
QUICK = {
    "quick LassoCV": LassoCV(alphas=5, cv=3),
    "quick forest": RandomForestRegressor(n_estimators=10, min_samples_leaf=3),
}
# tested on one design only
OTHERS = {"equal relevance": dn.WideNet(relevance="equal")}
LEVEL = 0.95


def region(replications: int, false_alarm: float) -> tuple[float, float]:
    """Return the shares of covering intervals that a true 95 % is this unlikely to leave."""
    low, high = stats.binom.ppf([false_alarm / 2, 1 - false_alarm / 2], replications, LEVEL)
    return low / replications, high / replications


def covers(design: str, learner: str, n: int, seed: int) -> np.ndarray:
    X, y, truth = DESIGNS[design](n=n, random_state=seed)
    chosen = {**LEARNERS, **QUICK, **OTHERS}.get(learner, learner)
    model = dn.PartiallyLinear(list(truth.index), chosen, random_state=seed).fit(X, y)
    bounds = model.result_.confint(LEVEL)
    return ((bounds["lower"] <= truth) & (truth <= bounds["upper"])).to_numpy()


def coverage(design: str, learner: str, n: int, replications: int, n_jobs: int = -1) -> np.ndarray:
    runs = Parallel(n_jobs=n_jobs)(
        delayed(covers)(design, learner, n, seed) for seed in range(replications)
    )
    assert len(runs) == replications
    return np.mean(runs, axis=0)


@pytest.mark.parametrize("design", DESIGNS)
def test_intervals_with_lasso_cover(design):
    """Quick version: 40 replications, false alarm 0.001 per coefficient, region [0.80, 1]."""
    low, high = region(40, 0.001)
    share = coverage(design, "quick LassoCV", 200, 40, n_jobs=1)
    assert ((low <= share) & (share <= high)).all(), share


def test_intervals_with_a_forest_cover():
    """Quick version: 40 replications, false alarm 0.001 per coefficient."""
    low, high = region(40, 0.001)
    share = coverage("survey", "quick forest", 200, 40, n_jobs=1)
    assert ((low <= share) & (share <= high)).all(), share


def test_the_check_can_fail():
    """Intervals of ordinary least squares that ignore the confounders do not cover."""
    low, _ = region(40, 0.001)
    missed = []
    for seed in range(40):
        X, y, truth = DESIGNS["ccddhnr2018"](n=200, random_state=seed)
        bounds = dn.PartiallyLinear(["d1"], "mean").fit(X, y).result_.confint(LEVEL)
        missed.append((bounds["lower"] <= truth) & (truth <= bounds["upper"]))
    assert np.mean(missed) < low


@pytest.mark.sim
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("design", DESIGNS)
def test_intervals_cover_over_many_replications(design, learner, capsys):
    """400 replications at n = 500, false alarm 0.01 per coefficient: region [0.9200, 0.9750]."""
    low, high = region(400, 0.01)
    share = coverage(design, learner, 500, 400)
    with capsys.disabled():
        print(f"\n{design}, {learner}: coverage {share.round(4)}, region [{low:.4f}, {high:.4f}]")
    assert ((low <= share) & (share <= high)).all(), share


@pytest.mark.sim
@pytest.mark.parametrize(
    ("n", "replications", "learner"),
    [(500, 400, "wide"), (500, 400, "equal relevance"), (2000, 300, "equal relevance")],
)
def test_the_wide_network_covers_the_design_of_doubleml(n, replications, learner, capsys):
    """Between 0.92 and 0.97; a true 0.95 leaves that with probability 0.02 (400) and 0.04 (300).

    With 2000 rows features are left equal, for time: learning them would take an hour.
    """
    share = coverage("ccddhnr2018", learner, n, replications)
    with capsys.disabled():
        print(f"\nccddhnr2018, {learner}, n = {n}: {share.round(4)}, {replications} replications")
    assert 0.92 <= share[0] <= 0.97
