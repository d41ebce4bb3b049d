"""The Nadaraya-Watson learner: against statsmodels, brute force and its limits."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator
from statsmodels.nonparametric.kernel_regression import KernelReg

from debinet.data.folds import leave_one_out
from debinet.exceptions import OptionError
from debinet.learners.smoothers import NadarayaWatson


def data(n=60, p=2):
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(n, p))
    return Z, np.column_stack([np.sin(2 * Z[:, 0]), Z[:, -1] ** 2]) + 0.1 * rng.normal(size=(n, 2))


def by_hand(Z, M, at, h, keep=None):
    scale = Z.std(axis=0)
    distance = (((at[:, None, :] - Z[None]) / scale) ** 2).sum(axis=2)
    K = np.exp(-distance / (2 * h**2))
    if keep is not None:
        K = K * keep
    return K @ M / K.sum(axis=1, keepdims=True)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of statsmodels' own code
def test_equals_statsmodels():
    Z, M = data()
    at = np.random.default_rng(0).normal(size=(7, 2))
    theirs = KernelReg(M[:, 0], Z, "cc", reg_type="lc", bw=0.4 * Z.std(axis=0)).fit(at)[0]
    ours = NadarayaWatson(0.4).fit(Z, M[:, 0]).predict(at)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)


def test_bandwidth_minimizes_leave_one_out_by_hand():
    Z, M = data()
    net = NadarayaWatson().fit(Z, M)
    assert net.bandwidth_[0] != net.bandwidth_[1]
    outside = 1 - np.eye(len(Z))

    def error(h, j):
        return ((M[:, j] - by_hand(Z, M, Z, h, outside)[:, j]) ** 2).mean()

    for j in range(2):
        best = error(net.bandwidth_[j], j)
        assert best <= min(error(f * net.bandwidth_[j], j) for f in (0.5, 0.8, 1.25, 2.0))


def test_held_out_equals_refits():
    Z, M = data()
    net = NadarayaWatson(0.5)
    held = net.heldout(Z, M, leave_one_out(len(Z)))
    np.testing.assert_allclose(held, by_hand(Z, M, Z, 0.5, 1 - np.eye(len(Z))), rtol=1e-8)


def test_limits():
    Z, M = data()
    np.testing.assert_allclose(
        NadarayaWatson(1e6).fit(Z, M).predict(Z), np.tile(M.mean(axis=0), (60, 1)), rtol=1e-6
    )
    np.testing.assert_allclose(NadarayaWatson(1e-3).fit(Z, M).predict(Z), M, rtol=1e-12)
    far = NadarayaWatson(0.1).fit(Z, M).predict(np.full((1, 2), 1e3))
    nearest = ((Z - 1e3) ** 2 / Z.var(axis=0)).sum(axis=1).argmin()
    np.testing.assert_allclose(far[0], M[nearest])


def test_weights_of_zero_are_absence():
    Z, M = data()
    weight = np.ones(60)
    weight[:10] = 0
    left = NadarayaWatson(0.5).fit(Z, M, weight).predict(Z)
    np.testing.assert_allclose(left, NadarayaWatson(0.5).fit(Z[10:], M[10:]).predict(Z), rtol=1e-9)


@pytest.mark.parametrize("bandwidth", [0, -1.0, "cv", np.inf, None])
def test_bad_bandwidths_are_refused(bandwidth):
    with pytest.raises(OptionError, match="bandwidth"):
        NadarayaWatson(bandwidth).fit(*data())


def test_scikit_learn_checks():
    reasons = {
        "check_fit_score_takes_y": "the second argument of fit is M, several targets",
        "check_sample_weight_equivalence_on_dense_data": "the same: the check names it y",
    }
    results = check_estimator(
        NadarayaWatson(), expected_failed_checks=reasons, on_fail=None, on_skip=None
    )
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert failed == {}
