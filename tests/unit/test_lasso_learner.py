"""The Lasso as a learner against LassoCV of scikit-learn and the optimality conditions."""

import numpy as np
import pytest
from sklearn.linear_model import LassoCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import debinet as dn
from debinet.cli.fit_options import LEARNERS
from debinet.data import free_memory
from debinet.exceptions import FoldError, MemoryLimitError, OptionError, TooFewRowsError
from debinet.learners.lasso.fitting import inner_folds
from debinet.learners.named import NAMES, resolve_learner
from debinet.protocols import FoldLearner


def sample(n, p, correlation=0.5, seed=0, noise=1.0):
    """Correlated columns of different scales, and three outputs: sparse, decaying, noise."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, p))
    for j in range(1, p):
        Z[:, j] = correlation * Z[:, j - 1] + np.sqrt(1 - correlation**2) * Z[:, j]
    decaying = Z @ (1 / np.arange(1, p + 1))
    M = np.column_stack([2 * Z[:, 0] - Z[:, 2], decaying, np.zeros(n)])
    M = (M + noise * rng.normal(size=(n, 3))) * [1.0, 100.0, 1e-3] + [0.0, 7.0, 1.0]
    return 3.0 + Z * rng.uniform(0.1, 10.0, size=p), M


def exact_lasso_cv(**options):
    return LassoCV(tol=1e-12, max_iter=1_000_000, **options)


@pytest.mark.parametrize(
    ("n", "p", "correlation", "noise"),
    [(100, 8, 0.5, 1.0), (303, 150, 0.5, 1.0), (400, 150, 0.0, 0.3), (60, 90, 0.5, 1.0)],
)
def test_penalties_and_coefficients_are_those_of_lasso_cv(n, p, correlation, noise):
    Z, M = sample(n, p, correlation, noise=noise)
    model = dn.LassoLearner().fit(Z, M)
    for j in range(M.shape[1]):
        peer = make_pipeline(StandardScaler(), exact_lasso_cv()).fit(Z, M[:, j])
        np.testing.assert_allclose(model.penalty_[j], peer[-1].alpha_, rtol=1e-10)
        scaled = model.coef_[j] * Z.std(axis=0) / M[:, j].std()
        # Both stop when steps, or the duality gap, are far below this share of a deviation.
        np.testing.assert_allclose(scaled, peer[-1].coef_ / M[:, j].std(), atol=1e-6)
        np.testing.assert_allclose(
            model.predict(Z[:9])[:, j], peer.predict(Z[:9]), atol=1e-6 * M[:, j].std()
        )


def test_other_folds_and_paths_are_those_of_lasso_cv():
    Z, M = sample(90, 12)
    model = dn.LassoLearner(3, penalties=30, smallest=0.01).fit(Z, M[:, 0])
    peer = exact_lasso_cv(cv=3, alphas=30, eps=0.01).fit(StandardScaler().fit_transform(Z), M[:, 0])
    np.testing.assert_allclose(model.penalty_[0], peer.alpha_, rtol=1e-10)
    np.testing.assert_allclose(model.coef_ * Z.std(axis=0), peer.coef_, atol=1e-6)
    assert model.predict(Z).shape == (90,)


def test_weights_are_those_of_lasso_cv():
    Z, M = sample(101, 20)
    weight = np.random.default_rng(1).uniform(0.2, 3.0, size=101)
    model = dn.LassoLearner().fit(Z, M[:, 1], weight)
    X = StandardScaler().fit(Z, sample_weight=weight).transform(Z)
    peer = exact_lasso_cv().fit(X, M[:, 1], sample_weight=weight)
    np.testing.assert_allclose(model.penalty_[0], peer.alpha_, rtol=1e-10)
    np.testing.assert_allclose(model.predict(Z), peer.predict(X), atol=1e-6 * M[:, 1].std())


def test_rows_of_weight_zero_are_left_out():
    Z, M = sample(80, 10)
    weight = np.ones(80)
    weight[::7] = 0.0
    left = dn.LassoLearner().fit(Z[weight > 0], M[weight > 0], weight[weight > 0])
    np.testing.assert_array_equal(dn.LassoLearner().fit(Z, M, weight).coef_, left.coef_)


def test_optimality_conditions_hold():
    Z, M = sample(200, 120)
    model = dn.LassoLearner().fit(Z, M)
    X = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    for j in range(M.shape[1]):
        gradient = X.T @ (M[:, j] - model.predict(Z)[:, j]) / len(Z) / model.penalty_[j]
        used = model.coef_[j] != 0
        np.testing.assert_allclose(gradient[used], np.sign(model.coef_[j][used]), atol=1e-6)
        assert np.abs(gradient).max() <= 1 + 1e-6


def test_folds_are_fitted_as_separately():
    Z, M = sample(120, 15)
    rows = [np.flatnonzero(np.arange(120) % 4 != k) for k in range(4)]
    weight = np.linspace(0.5, 2.0, 120)
    learner = dn.LassoLearner()
    assert isinstance(learner, FoldLearner)
    together = learner.fit_folds(Z, M, rows, range(4), sample_weight=weight)
    for one, used in zip(together, rows, strict=True):
        alone = dn.LassoLearner().fit(Z[used], M[used], weight[used])
        np.testing.assert_array_equal(one.predict(Z), alone.predict(Z))


def test_inner_folds_do_not_split_groups():
    groups = np.repeat(np.arange(7), 5)[np.random.default_rng(0).permutation(35)]
    folds = inner_folds(35, 5, groups)
    assert len(folds) == 5
    assert sorted(np.concatenate(folds)) == list(range(35))
    held = [set(groups[fold]) for fold in folds]
    assert sum(map(len, held)) == 7
    assert len(inner_folds(35, 5, groups % 3)) == 3
    with pytest.raises(FoldError, match="2 groups"):
        inner_folds(4, 5, np.zeros(4, dtype=np.int64))
    with pytest.raises(TooFewRowsError, match="2 rows"):
        inner_folds(1, 5)


def test_clusters_of_a_fit_reach_the_inner_folds():
    Z, M = sample(100, 6)
    groups = np.arange(100) % 25
    X = np.column_stack([M[:, 1], Z])
    clustered, plain = (
        dn.PartiallyLinear([0], "lasso", random_state=0).fit(X, M[:, 0], **options).result_
        for options in ({"groups": groups}, {})
    )
    assert clustered.vcov_type == "cluster"
    assert clustered.coef.iloc[0] != plain.coef.iloc[0]


def test_constant_columns_and_outputs():
    Z, M = sample(50, 5)
    Z[:, 2], M[:, 0] = 4.0, 2.5
    Z[:, 3] = 0.0
    Z[7, 3] = 1.0  # constant without the fold that has row 7
    model = dn.LassoLearner().fit(Z, M)
    assert (model.coef_[:, 2] == 0).all()
    np.testing.assert_array_equal(model.coef_[0], 0)
    np.testing.assert_allclose(model.predict(Z)[:, 0], 2.5)


def test_collinear_columns_of_a_full_set_of_dummies():
    rng = np.random.default_rng(0)
    codes = rng.integers(6, size=150)
    Z = np.column_stack([np.eye(6)[codes], rng.normal(size=150)])
    Z = np.column_stack([Z, Z[:, 0]])
    y = 1.0 * (codes == 2) + Z[:, 6] + rng.normal(size=150)
    model = dn.LassoLearner().fit(Z, y)
    peer = make_pipeline(StandardScaler(), exact_lasso_cv()).fit(Z, y)
    # The coefficients of equal columns are not unique, but predictions are.
    np.testing.assert_allclose(model.predict(Z), peer.predict(Z), atol=1e-5)


def test_the_estimate_is_that_with_lasso_cv():
    Z, M = sample(150, 40)
    X, y = np.column_stack([M[:, 1], Z]), M[:, 0]
    peer = make_pipeline(StandardScaler(), exact_lasso_cv())
    ours, theirs = (
        dn.PartiallyLinear([0], learner, method="dml2", random_state=0).fit(X, y).result_
        for learner in ("lasso", peer)
    )
    np.testing.assert_allclose(ours.to_frame(), theirs.to_frame(), rtol=1e-5)


def test_refusals(monkeypatch):
    Z, M = sample(30, 4)
    for options in ({"folds": 1}, {"penalties": 1}, {"smallest": 1.0}, {"smallest": "tiny"}):
        with pytest.raises(OptionError, match=next(iter(options))):
            dn.LassoLearner(**options).fit(Z, M)
    monkeypatch.setattr(free_memory, "bytes_available", lambda: 1000)
    with pytest.raises(MemoryLimitError, match="LassoCV"):
        dn.LassoLearner().fit(Z, M)


def test_check_estimator():
    same = "check_sample_weight_equivalence_on_{}_data"
    reason = "copies of a row fall into different folds, as in LassoCV"
    reasons = {same.format(kind): reason for kind in ("dense", "sparse")}
    reasons["check_fit_score_takes_y"] = "the second argument of fit is M, several targets"
    results = check_estimator(
        dn.LassoLearner(), expected_failed_checks=reasons, on_fail=None, on_skip=None
    )
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert failed == {}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "net"])
def test_every_name_is_a_learner(name):
    assert resolve_learner(name).learner.get_params() is not None


def test_the_command_line_has_the_same_names():
    assert set(LEARNERS) == set(NAMES)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(OptionError, match=r"'lasso'.*'deep'"):
        resolve_learner("deep")
