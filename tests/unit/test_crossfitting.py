"""The cross-fitting engine: number of fits, seeds, weights and scales."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import (
    Lasso,
    LassoCV,
    LinearRegression,
    Ridge,
    RidgeCV,
)
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR, LinearSVC

from debinet._random import named_generator
from debinet.data.crossfit import make_folds
from debinet.data.folds import leave_one_out, no_folds
from debinet.exceptions import LearnerError, OptionError
from debinet.learners.adapter import fit_learner, separable, takes_many_outputs, weight_arguments
from debinet.learners.closed_form import ClosedForm
from debinet.learners.crossfitting import cross_fit
from debinet.learners.mean import MeanLearner
from debinet.learners.named import resolve_learner
from debinet.protocols import HeldOut

N = 50


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(N, 3))
    M = Z @ rng.normal(size=(3, 3)) + rng.normal(size=(N, 3))
    return Z, M * [1.0, 1000.0, 0.01]


def folds_of(crossfit):
    return make_folds(crossfit, N, named_generator(0, "folds"))[0]


class Counting(RegressorMixin, BaseEstimator):
    """Predicts zeros and counts its fits in a list given by the test."""

    def __init__(self, shapes=None):
        self.shapes = shapes

    def __sklearn_clone__(self):
        return type(self)(self.shapes)

    def fit(self, Z, M):
        self.shapes.append(M.shape)
        self.width_ = M.shape[1:]
        return self

    def predict(self, Z):
        return np.zeros((len(Z), *self.width_))


class CountingMany(Counting):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def test_multi_output_learners_are_fitted_once_per_fold(data):
    shapes = []
    cross_fit(CountingMany(shapes), *data, folds_of(5), seed=0)
    assert shapes == [(40, 3)] * 5


def test_single_output_learners_are_fitted_once_per_column(data):
    shapes = []
    cross_fit(Counting(shapes), *data, folds_of(5), seed=0)
    assert shapes == [(40,)] * 15


def test_predictions_equal_a_loop_over_folds(data):
    Z, M = data
    folds = folds_of(4)
    held = cross_fit(LinearRegression(), Z, M, folds, seed=0)
    for block in folds:
        train = block.train(N)
        expected = LinearRegression().fit(Z[train], M[train]).predict(Z[block.test])
        np.testing.assert_allclose(held.predictions[block.test], expected, rtol=1e-10)
    new = np.random.default_rng(1).normal(size=(4, 3))
    models = [LinearRegression().fit(Z[b.train(N)], M[b.train(N)]) for b in folds]
    np.testing.assert_allclose(
        held.average.predict(new), np.mean([model.predict(new) for model in models], axis=0)
    )


def test_in_sample_residuals_are_those_of_one_fit(data):
    Z, M = data
    held = cross_fit(LinearRegression(), Z, M, no_folds(N), seed=0)
    np.testing.assert_allclose(held.predictions, LinearRegression().fit(Z, M).predict(Z))


@pytest.mark.parametrize(
    "learner", [RandomForestRegressor(5), LassoCV(alphas=5), Ridge(), KNeighborsRegressor()]
)
def test_workers_change_nothing(data, learner):
    one, two, all_ = (
        cross_fit(learner, *data, folds_of(5), seed=7, n_jobs=jobs).predictions
        for jobs in (1, 2, -1)
    )
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, all_)


def test_processes_change_nothing(data):
    from joblib import parallel_config

    learner = RandomForestRegressor(5)
    one = cross_fit(learner, *data, folds_of(5), seed=7).predictions
    with parallel_config(backend="loky", n_jobs=2):
        two = cross_fit(learner, *data, folds_of(5), seed=7).predictions
    np.testing.assert_array_equal(one, two)


def test_seeds_reach_open_random_states_only(data):
    def predictions(learner, seed):
        return cross_fit(learner, *data, folds_of(3), seed=seed).predictions

    open_state, fixed = RandomForestRegressor(3), RandomForestRegressor(3, random_state=1)
    assert not np.array_equal(predictions(open_state, 0), predictions(open_state, 1))
    np.testing.assert_array_equal(predictions(fixed, 0), predictions(fixed, 1))
    assert open_state.random_state is None
    piped = make_pipeline(StandardScaler(), RandomForestRegressor(3))
    np.testing.assert_array_equal(predictions(piped, 0), predictions(piped, 0))


def test_the_global_random_state_is_left_alone(data):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    cross_fit(RandomForestRegressor(3), *data, folds_of(3), seed=0)
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002


def test_joint_learners_do_not_feel_the_scale_of_an_output(data):
    """A forest for y and D at once must not depend on which output has the largest scale."""
    Z, M = data
    forest = RandomForestRegressor(10, random_state=0)
    plain = cross_fit(forest, Z, M, folds_of(5), seed=0).predictions
    # Powers of two, so that scaling changes no bit of the standardized outputs.
    scale = np.array([1.0, 2.0**-10, 2.0**20])
    scaled = cross_fit(forest, Z, M * scale, folds_of(5), seed=0).predictions
    np.testing.assert_allclose(scaled / scale, plain, rtol=1e-12)


def test_separable_learners_keep_their_penalty_in_the_users_units(data):
    Z, M = data
    joint = fit_learner(Lasso(alpha=0.1), Z, M, seed=0).predict(Z)
    for j in range(3):
        alone = Lasso(alpha=0.1).fit(Z, M[:, j]).predict(Z)
        np.testing.assert_allclose(joint[:, j], alone, rtol=1e-10, atol=1e-12)


def test_which_learners_take_many_outputs():
    assert takes_many_outputs(RandomForestRegressor())
    assert takes_many_outputs(make_pipeline(StandardScaler(), LinearRegression()))
    assert takes_many_outputs(MultiOutputRegressor(SVR()))
    assert not takes_many_outputs(SVR())
    assert not takes_many_outputs(LassoCV())
    assert not takes_many_outputs(GridSearchCV(Ridge(), {"alpha": [1.0, 2.0]}))
    # One penalty for all outputs would be tuned: each gets its own fit.
    assert not takes_many_outputs(make_pipeline(StandardScaler(), RidgeCV()))
    assert separable(TransformedTargetRegressor(Ridge()))
    assert not separable(RandomForestRegressor())


def test_weights_reach_the_learner(data):
    Z, M = data
    weights = np.random.default_rng(0).uniform(0.1, 2, N)
    for learner in (
        Ridge(),
        make_pipeline(StandardScaler(), Ridge()),
        TransformedTargetRegressor(Ridge()),
        GridSearchCV(Ridge(), {"alpha": [1.0]}),
    ):
        plain = fit_learner(learner, Z, M, seed=0).predict(Z)
        weighted = fit_learner(learner, Z, M, seed=0, weights=weights).predict(Z)
        assert np.abs(plain - weighted).max() > 1e-6
    np.testing.assert_allclose(
        fit_learner(Ridge(), Z, M, seed=0, weights=weights).predict(Z),
        Ridge().fit(Z, M, sample_weight=weights).predict(Z),
    )
    with pytest.raises(LearnerError, match="sample_weight"):
        weight_arguments(KNeighborsRegressor(), weights)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("crossfit", ["loo", 5])
def test_the_closed_form_of_the_mean_equals_refits(data, weighted, crossfit):
    Z, M = data
    weights = np.random.default_rng(0).uniform(0.1, 2, N) if weighted else None
    folds = folds_of(crossfit)
    closed = cross_fit(MeanLearner(), Z, M, folds, seed=0, weights=weights)
    for block in folds:
        train = block.train(N)
        w = None if weights is None else weights[train]
        expected = np.average(M[train], axis=0, weights=w)
        np.testing.assert_allclose(closed.predictions[block.test], [expected] * len(block.test))
    assert len(closed.models) == 1


def test_failures_name_the_learner(data):
    Z, M = data

    class Failing(Ridge):
        def fit(self, X, y, sample_weight=None):
            raise RuntimeError("no")

    class Nan(Counting):
        def predict(self, Z):
            return np.full(len(Z), np.nan)

    class Narrow(CountingMany):
        def predict(self, Z):
            return np.zeros((len(Z), 2))

    class Dishonest(MeanLearner):
        def prepare(self, Z, M, weights=None):
            return ClosedForm(lambda M, folds: HeldOut(np.zeros(3), (self,)))

    for learner, text in [
        (Failing(), "RuntimeError: no"),
        (Nan([]), "NaN"),
        (Narrow([]), "shape"),
        (Dishonest(), "prepare"),
    ]:
        with pytest.raises(LearnerError, match=text):
            cross_fit(learner, Z, M, leave_one_out(N), seed=0)


@pytest.mark.parametrize("learner", [LinearRegression, 3, None, LinearSVC()])
def test_what_is_no_learner_is_refused(learner):
    with pytest.raises(LearnerError):
        resolve_learner(learner)
    with pytest.raises(OptionError, match="wide"):
        resolve_learner("deep")
