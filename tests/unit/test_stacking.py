"""Stacked learners, learners by column, classifiers as learners, and the three-step method."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.svm import LinearSVC

import debinet as dn
from debinet.data.folds import k_folds
from debinet.exceptions import LearnerError, OptionError
from debinet.learners.crossfitting import cross_fit
from debinet.learners.stacking import stacking_weights


def data(n=200, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3))
    M = np.column_stack([100 + np.sin(3 * Z[:, 0]), Z[:, 1] - Z[:, 2]])
    return Z, M + 0.2 * rng.normal(size=(n, 2))


def test_weights_minimize_over_the_simplex():
    rng = np.random.default_rng(1)
    M = rng.normal(loc=[50, 0], size=(80, 2))
    predictions = np.array(
        [M + s * rng.normal(size=M.shape) + b for s, b in [(1, 0), (1, 0.5), (3, 0)]]
    )
    weight = rng.uniform(0.2, 3, size=80)
    found = stacking_weights(predictions, M, weight)
    np.testing.assert_allclose(found.sum(axis=0), 1, rtol=1e-12)
    assert (found >= 0).all()
    for j in range(2):

        def loss(w, j=j):
            return weight @ (w @ predictions[:, :, j] - M[:, j]) ** 2

        reference = minimize(
            loss,
            np.full(3, 1 / 3),
            bounds=[(0, 1)] * 3,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            tol=1e-12,
        )
        assert loss(found[:, j]) <= reference.fun * (1 + 1e-6)


def test_one_perfect_member_gets_all_and_twins_share():
    M = np.random.default_rng(0).normal(size=(50, 1))
    exact = stacking_weights(np.array([M, M + 1, 0 * M]), M)
    np.testing.assert_allclose(exact[:, 0], [1, 0, 0], atol=1e-6)
    twins = stacking_weights(np.array([M + 1, M + 1]), M)
    np.testing.assert_allclose(twins.sum(), 1)


def test_short_stacking_uses_the_predictions_of_cross_fitting():
    Z, M = data()
    folds = k_folds(200, 5, np.random.default_rng(0))
    members = [LinearRegression(), dn.SplineSmoother()]
    both = cross_fit(dn.stack(members), Z, M, folds, seed=3)
    alone = np.array([cross_fit(one, Z, M, folds, seed=3).predictions for one in members])
    weights = stacking_weights(alone, M)
    np.testing.assert_allclose(
        both.predictions, np.einsum("km,knm->nm", weights, alone), rtol=1e-10
    )
    assert weights[1, 0] > 0.9  # the sine is a curve
    errors = ((alone - M) ** 2).mean(axis=1)
    assert (((both.predictions - M) ** 2).mean(axis=0) <= errors.min(axis=0) * (1 + 1e-9)).all()


def test_in_a_partially_linear_model():
    Z, M = data()
    X, y = np.column_stack([M[:, 1], Z]), M[:, 0]
    learner = dn.stack(["wide", Ridge(), RandomForestRegressor(20)])
    first, second = (dn.PartiallyLinear([0], learner, random_state=0).fit(X, y) for _ in range(2))
    assert "weights of the stacked learners" in first.result_.summary()
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert np.mean((first.predict(X) - y) ** 2) < 0.2
    other = dn.stack(["wide", Ridge(), RandomForestRegressor(20)], random_state=5)
    assert dn.PartiallyLinear([0], other, random_state=0).fit(X, y).coef_ != first.coef_
    with pytest.raises(OptionError, match="crossfit=None"):
        dn.PartiallyLinear([0], learner, crossfit=None).fit(X, y)


def test_by_itself():
    Z, M = data()
    model = dn.stack([DummyRegressor(), dn.SplineSmoother()], random_state=0).fit(Z, M)
    assert model.weights_.shape == (2, 2)
    assert (model.weights_[1] > 0.9).all()
    assert model.score(Z, M) > 0.8
    assert clone(model).fit(Z, M[:, 0]).predict(Z).shape == (200,)


@pytest.mark.parametrize("learners", [[], [Ridge()], "wide", [Ridge(), "nothing"], [Ridge(), 3]])
def test_bad_stacks_are_refused(learners):
    with pytest.raises((OptionError, LearnerError)):
        dn.stack(learners).fit(*data())
    with pytest.raises(OptionError, match="folds"):
        dn.stack([Ridge(), LinearRegression()], folds=1).fit(*data())


def enrolled(n=400):
    data = dn.datasets.make_enrolment(n, random_state=0)
    return data.X, data.y


@pytest.mark.parametrize("classifier", [LogisticRegression(), RandomForestClassifier(20)])
def test_classifiers_learn_zeros_and_ones_as_probabilities(classifier):
    X, y = enrolled()
    learner = dn.Columns(LinearRegression(), classifier)
    model = dn.PartiallyLinear(["d1"], learner, method="dml2", crossfit=2, random_state=0).fit(X, y)
    R_D = model.result_.regressions[0].R_D[:, 0]
    chance = X["d1"].to_numpy() - R_D
    assert ((chance >= 0) & (chance <= 1)).all()
    assert 0.1 < chance.std() < 0.5


def test_logistic_regression_equals_scikit_learns():
    X, y = enrolled()
    Z, M = X.drop(columns="d1").to_numpy(), np.column_stack([y, X["d1"]])
    fitted = dn.Columns(LinearRegression(), LogisticRegression()).fit(Z, M).predict(Z)
    direct = LogisticRegression().fit(Z, X["d1"]).predict_proba(Z)[:, 1]
    np.testing.assert_array_equal(fitted[:, 1], direct)
    np.testing.assert_allclose(fitted[:, 0], LinearRegression().fit(Z, y).predict(Z))


def test_columns_with_a_learner_for_each():
    Z, M = data()
    M = np.column_stack([M, M[:, 1] > 0])
    parts = [LinearRegression(), LogisticRegression()]
    fitted = dn.Columns(dn.SplineSmoother(), parts).fit(Z, M)
    assert fitted.predict(Z).shape == (200, 3)
    np.testing.assert_allclose(
        fitted.predict(Z)[:, 1], LinearRegression().fit(Z, M[:, 1]).predict(Z)
    )
    with pytest.raises(OptionError, match="one for each"):
        dn.Columns(Ridge(), [Ridge()]).fit(Z, M)
    with pytest.raises(OptionError):
        dn.Columns(Ridge(), "nothing").fit(Z, M)
    assert dn.Columns("wide", "mean").fit(Z, M).predict(Z).shape == (200, 3)


def test_classifiers_that_do_not_fit():
    X, y = enrolled(100)
    with pytest.raises(LearnerError, match=r"dn\.Columns"):
        dn.PartiallyLinear(["d1"], LogisticRegression()).fit(X, y)
    with pytest.raises(LearnerError, match="predict_proba"):
        dn.PartiallyLinear(["d1"], LinearSVC()).fit(X, y)


@pytest.mark.parametrize("crossfit", [None, 5], ids=str)
def test_three_steps_are_the_papers_algorithm_3(crossfit):
    Z, M = data()
    X, y = np.column_stack([M[:, 1], Z]), M[:, 0]
    model = dn.PartiallyLinear(
        [0], Ridge(), crossfit=crossfit, method="three-step", random_state=0
    ).fit(X, y)
    plain = dn.PartiallyLinear([0], Ridge(), crossfit=crossfit, method="robinson", random_state=0)
    np.testing.assert_array_equal(model.coef_, plain.fit(X, y).coef_)
    np.testing.assert_allclose(model.predict(X), X[:, 0] * model.coef_[0] + model.nuisance(X))
    if crossfit is None:
        f = Ridge().fit(Z, y - X[:, 0] * model.coef_[0])
        np.testing.assert_allclose(model.predict(X), X[:, 0] * model.coef_[0] + f.predict(Z))
        np.testing.assert_allclose(model.nuisance(X), f.predict(Z))


@pytest.mark.parametrize(
    ("second", "each"),
    [(dn.TangentNet(width=20, random_state=0), 1), (dn.TangentNet(width=20), 3)],
    ids=["fixed units", "units drawn for every repetition"],
)
def test_members_are_prepared_once_for_all_targets(monkeypatch, second, each):
    counts = {"wide": 0, "tangent": 0}

    def counting(name, function):
        def counted(*arguments, **options):
            counts[name] += 1
            return function(*arguments, **options)

        return counted

    from debinet.learners.tangent import feature_learner
    from debinet.learners.wide import wide_net

    monkeypatch.setattr(wide_net, "view_rows", counting("wide", wide_net.view_rows))
    monkeypatch.setattr(
        feature_learner, "view_features", counting("tangent", feature_learner.view_features)
    )
    data = dn.datasets.make_waves(60, random_state=0)
    learner = dn.stack([dn.WideNet(relevance="equal"), second])
    dn.PartiallyLinear(["d1"], learner, crossfit=(3, 3), random_state=0).fit(data.X, data.y)
    assert counts == {"wide": 1, "tangent": each}
