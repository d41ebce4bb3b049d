"""scikit-learn's own checks, and use in its pipelines and searches."""

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone, is_regressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LassoCV, LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import debinet as dn

IN_SAMPLE = [
    dn.PartiallyLinear([0], Ridge(), crossfit=None),
    dn.PartiallyLinear([0], Ridge(), crossfit=None, method="robinson"),
]
CROSS_FITTED = [
    dn.PartiallyLinear([0], LinearRegression(), random_state=0),
    dn.PartiallyLinear([0], LassoCV(alphas=10), crossfit=3, method="dml2", random_state=0),
    dn.PartiallyLinear([0], RandomForestRegressor(3), crossfit=3, random_state=0),
    dn.PartiallyLinear([0]),
]
# A row of weight two cannot equal two rows when rows are held out: the copies may fall into
# different folds. scikit-learn exempts its own cross-validated estimators for the same reason.
HELD_OUT = {
    "check_sample_weight_equivalence_on_dense_data": "copies of a row fall into different folds"
}


@parametrize_with_checks(IN_SAMPLE)
def test_check_estimator_in_full(estimator, check):
    check(estimator)


@parametrize_with_checks(CROSS_FITTED, expected_failed_checks=lambda _: HELD_OUT)
def test_check_estimator_cross_fitted(estimator, check):
    check(estimator)


def test_it_is_a_regressor_with_names(small):
    X, y = small
    model = dn.PartiallyLinear(["d1"], LinearRegression(), random_state=0).fit(X, y)
    assert is_regressor(model)
    assert list(model.feature_names_in_) == list(X.columns)
    assert model.n_features_in_ == 5


def test_clone_pickle_and_parameters(small):
    X, y = small
    model = dn.PartiallyLinear(["d1"], Ridge(2.0), crossfit=3, random_state=0).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    assert copy.result_.summary() == model.result_.summary()
    fresh = clone(model)
    assert not hasattr(fresh, "result_")
    assert fresh.get_params()["learner__alpha"] == 2.0
    assert fresh.set_params(learner__alpha=3.0).learner.alpha == 3.0


def test_grid_search_over_the_learner(small):
    X, y = small
    model = dn.PartiallyLinear(["d1"], Ridge(), crossfit=3, random_state=0)
    search = GridSearchCV(model, {"learner__alpha": [0.1, 10.0], "method": ["dml2", "structured"]})
    search.fit(X, y)
    assert search.best_params_["learner__alpha"] in {0.1, 10.0}
    assert search.predict(X).shape == (60,)
    assert cross_val_score(model, X, y, cv=3).shape == (3,)


def test_set_output_keeps_the_names_of_a_pipeline(small):
    X, y = small
    pipe = make_pipeline(
        StandardScaler().set_output(transform="pandas"),
        dn.PartiallyLinear(["d1", "d2"], LinearRegression(), random_state=0),
    ).fit(X, y)
    assert list(pipe[-1].result_.coef.index) == ["d1", "d2"]


def test_metadata_routing_of_groups_and_weights(small):
    X, y = small
    groups, weights = np.arange(60) // 4, np.linspace(0.5, 2, 60)
    with config_context(enable_metadata_routing=True):
        model = dn.PartiallyLinear(["d1"], LinearRegression(), random_state=0)
        model.set_fit_request(groups=True, sample_weight=True)
        model.set_score_request(sample_weight=True)
        done = cross_validate(
            model,
            X,
            y,
            cv=GroupKFold(3),
            params={"groups": groups, "sample_weight": weights},
            return_estimator=True,
            return_indices=True,
        )
        for fitted, rows in zip(done["estimator"], done["indices"]["train"], strict=True):
            assert fitted.result_.vcov_type == "cluster"
            alone = clone(model).fit(
                X.iloc[rows], y.iloc[rows], groups=groups[rows], sample_weight=weights[rows]
            )
            np.testing.assert_allclose(fitted.coef_, alone.coef_)


def test_routing_refuses_what_was_not_requested(small):
    X, y = small
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), dn.PartiallyLinear([0], LinearRegression()))
        with pytest.raises(ValueError, match="sample_weight"):
            pipe.fit(X, y, sample_weight=np.ones(60))
