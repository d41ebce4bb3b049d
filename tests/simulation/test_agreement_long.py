"""Agreement over many data sets: right learners are rarely told apart, wrong ones often."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import debinet as dn
from debinet.inference.agreement import Placed, agreement, row_effects

pytestmark = pytest.mark.sim

RUNS = 120
# More rejections than this at a true rate of 5 % have a probability of 0.003.
MOST = 13


def results(learners, X, y, seed):
    each = [dn.PartiallyLinear(["d1"], learner, random_state=seed) for learner in learners]
    return {f"m{k}": Placed(model.fit(X, y).result_) for k, model in enumerate(each)}


@pytest.mark.parametrize(
    "learners", [["linear", "spline"], ["linear", "wide"], ["linear", "lasso", "spline", "wide"]]
)
def test_right_learners_agree_in_95_percent(learners):
    rejected = 0
    for seed in range(RUNS):
        X, y, _ = dn.datasets.make_sparse_linear(n=200, p=8, random_state=seed)
        found = agreement(results(learners, X, y, seed), 200, ["d1"])
        rejected += found.loc["d1", "verdict"] == "differ"
    assert rejected <= MOST


def test_the_variance_of_a_difference_is_not_understated():
    """The standard deviation over data sets has a relative error of 0.065, so 1.2 is 3 of them."""
    gaps, variances = [], []
    for seed in range(RUNS):
        X, y, _ = dn.datasets.make_sparse_linear(n=200, p=8, random_state=seed)
        one, two = results([LinearRegression(), "spline"], X, y, seed).values()
        gaps.append(two.result.estimate[0] - one.result.estimate[0])
        effects = row_effects(two.result) - row_effects(one.result)
        variances.append(2 * (effects**2).sum())
    assert np.std(gaps) < 1.2 * np.sqrt(np.mean(variances))


def test_wrong_learners_are_found():
    """With power 0.9, fewer than 13 of 20 have a probability of 0.002."""
    found = 0
    for seed in range(20):
        data = dn.datasets.make_smooth_nonlinear(400, random_state=seed)
        pair = results(["linear", "wide"], data.X, data.y, seed)
        found += agreement(pair, 400, ["d1"]).loc["d1", "verdict"] == "differ"
    assert found >= 13
