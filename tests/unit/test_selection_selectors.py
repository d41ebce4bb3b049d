"""Every selector against every property: a new selector is one line here."""

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from debinet.exceptions import InputError
from debinet.selection.adaptive_lasso import AdaptiveLasso
from debinet.selection.elastic_net import ElasticNet
from debinet.selection.forward_backward import ForwardBackward
from debinet.selection.group_lasso import GroupLasso
from debinet.selection.lasso import Lasso
from debinet.selection.slope import Slope
from debinet.selection.sparse_group_lasso import SparseGroupLasso
from debinet.testing import check_selector

N, P = 120, 12
GROUPS = np.repeat(np.arange(6), 2)
PENALIZED = {
    "Lasso": lambda penalty, groups=GROUPS: Lasso(penalty, random_state=0),
    "AdaptiveLasso": lambda penalty, groups=GROUPS: AdaptiveLasso(penalty, random_state=0),
    "ElasticNet": lambda penalty, groups=GROUPS: ElasticNet(penalty, random_state=0),
    "GroupLasso": lambda penalty, groups=GROUPS: GroupLasso(groups, penalty, random_state=0),
    "SparseGroupLasso": lambda penalty, groups=GROUPS: SparseGroupLasso(
        groups, penalty, random_state=0
    ),
    "Slope": lambda penalty, groups=GROUPS: Slope(penalty, random_state=0),
}
STEPWISE = {
    "bic": lambda penalty=None, groups=None: ForwardBackward("bic"),
    "aic": lambda penalty=None, groups=None: ForwardBackward("aic"),
    "pvalue": lambda penalty=None, groups=None: ForwardBackward("pvalue", entry=0.001),
}
penalized = pytest.mark.parametrize("make", PENALIZED.values(), ids=PENALIZED.keys())
ALL = {**PENALIZED, **STEPWISE}
every = pytest.mark.parametrize("make", ALL.values(), ids=ALL.keys())


def data(n=N, p=P, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.geomspace(0.1, 10, p) + 3
    scaled = (X - 3) / np.geomspace(0.1, 10, p)
    y = 7 + scaled[:, [2, 3, 8]] @ [3.0, -2.0, 2.0] + rng.normal(size=n)
    return X, y


CHECKED = [
    Lasso(random_state=0),
    *(make("plugin", None) for make in PENALIZED.values()),
    ForwardBackward(),
]


@parametrize_with_checks(CHECKED)
def test_check_estimator(estimator, check):
    check(estimator)


@every
def test_check_selector(make):
    assert len(check_selector(make("plugin", None))) == 5


@penalized
@pytest.mark.parametrize("penalty", ["cv", "cv-1se", "plugin"])
def test_an_easy_truth_is_found(make, penalty):
    X, y = data()
    model = make(penalty).fit(X, y)
    assert model.get_support()[[2, 3, 8]].all()
    assert model.score(X, y) > 0.8
    if penalty == "plugin":
        # group members come along
        assert model.get_support().sum() <= 6
    assert model.tuning_.rule == penalty
    assert model.penalty_ == model.tuning_.penalty
    if penalty == "plugin":
        # 120 rows give the noise of 1 to about 7 %, shrinkage of the selection adds to it
        assert model.tuning_.noise == pytest.approx(1.0, abs=0.25)
    else:
        assert (np.diff(model.tuning_.cross_validation.penalties) < 0).all()
        assert model.tuning_.cross_validation.simplest >= model.tuning_.cross_validation.best


@pytest.mark.parametrize("make", STEPWISE.values(), ids=STEPWISE.keys())
def test_stepwise_finds_an_easy_truth(make):
    X, y = data()
    model = make().fit(X, y)
    assert model.get_support()[[2, 3, 8]].all()
    support = model.get_support()
    design = np.column_stack([np.ones(N), X[:, support]])
    coef = np.linalg.lstsq(design, y)[0]
    np.testing.assert_allclose(model.coef_[support], coef[1:], rtol=1e-8)
    np.testing.assert_allclose(model.intercept_, coef[0], rtol=1e-8)


@every
def test_order_of_columns_and_of_rows_does_not_matter(make):
    X, y = data()
    rng = np.random.default_rng(5)
    columns, rows = rng.permutation(P), rng.permutation(N)
    model = make("plugin").fit(X, y)
    moved = make("plugin", GROUPS[columns]).fit(X[rows][:, columns], y[rows])
    np.testing.assert_allclose(moved.coef_, model.coef_[columns], rtol=1e-3, atol=1e-4)
    np.testing.assert_array_equal(moved.get_support(), model.get_support()[columns])


@every
def test_scales_of_y_and_of_columns(make):
    X, y = data()
    model = make("plugin").fit(X, y)
    scale = np.geomspace(100, 0.01, P)
    # the elastic net's squares have units
    unit = 1 if make is PENALIZED["ElasticNet"] else 1000
    other = make("plugin").fit(X * scale + 5, unit * y)
    np.testing.assert_allclose(other.coef_ * scale / unit, model.coef_, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(other.predict(X * scale + 5) / unit, model.predict(X), atol=0.01)


@penalized
def test_nothing_at_the_largest_penalty_everything_at_a_tiny_one(make):
    X, y = data()
    largest = make(1.0).fit(X, y).max_penalty_
    if make is not PENALIZED["AdaptiveLasso"]:
        assert make(largest * 1e-4).fit(X, y).get_support().all()
    empty = make(largest * (1 + 1e-9)).fit(X, y)
    assert not empty.get_support().any()
    assert empty.dual_gap_ == pytest.approx(0, abs=1e-7)
    np.testing.assert_allclose(empty.predict(X), y.mean())
    assert make(largest * 0.99).fit(X, y).get_support().any()


@every
def test_pure_noise_selects_little_and_says_nothing(make):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(100, 12)), rng.normal(size=100)
    assert make("plugin").fit(X, y).get_support().sum() <= 4
    assert make("cv").fit(X, y).coef_.shape == (12,)


@penalized
def test_path(make):
    X, y = data()
    model = make(0.3).fit(X, y)
    path = model.path([0.1, 0.3, 1.0])
    assert path.coefs.shape == (3, P)
    # the path comes from larger penalties, the fit from zero: the same up to the root of the gap
    np.testing.assert_allclose(path.coefs[1], model.coef_, rtol=1e-3, atol=2e-3)
    assert (path.dual_gaps <= 1e-7 * y.var()).all()
    default = model.path()
    assert default.penalties.size == 60
    assert not default.coefs[0].any()
    assert default.to_frame().shape == (60, P)
    assert model.plot_path().get_xlabel() == "penalty"
    plt.close("all")


def test_path_of_steps():
    X, y = data()
    model = ForwardBackward().fit(X, y)
    path = model.path()
    np.testing.assert_allclose(path.coefs[-1], model.coef_)
    assert path.steps == model.steps_
    assert (np.diff(path.criterion) < 0).all()
    assert model.plot_path().get_xlabel() == "step"
    _, ax = plt.subplots()
    assert model.plot_path(ax) is ax
    plt.close("all")


def test_dollar_signs_in_names_can_be_drawn():
    X, y = data()
    frame = pd.DataFrame(X, columns=[f"$\\frac{j}" for j in range(P)])
    ax = Lasso(0.3).fit(frame, y).plot_path()
    ax.figure.draw_without_rendering()
    plt.close("all")


@every
def test_clone_pickle_parameters(make):
    X, y = data()
    model = make(0.3).fit(X, y)
    assert not hasattr(clone(model), "coef_")
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    np.testing.assert_array_equal(copy.get_support(), model.get_support())
    with pytest.raises(InputError, match="Fit it again"):
        copy.path()
    assert len(pickle.dumps(model)) < X.nbytes
    parameters = model.get_params()
    assert type(model)(**parameters).get_params().keys() == parameters.keys()
    assert len(parameters) <= 7


@every
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_names_are_kept(make, kind):
    X, y = data()
    frame = kind({f"name {j}": X[:, j] for j in range(P)})
    model = make("plugin").fit(frame, y)
    assert set(model.get_feature_names_out()) >= {"name 2", "name 3", "name 8"}
    np.testing.assert_array_equal(model.coef_, make("plugin").fit(X, y).coef_)
    reordered = frame[[f"name {j}" for j in reversed(range(P))]]
    with pytest.raises(InputError, match="same order"):
        model.predict(reordered)


@penalized
def test_the_same_seed_the_same_answer(make):
    X, y = data()
    first, second = make("cv").fit(X, y), make("cv").fit(X, y)
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert first.penalty_ == second.penalty_


@every
def test_life_among_sklearns_tools(make):
    X, y = data()
    model = make("plugin")
    chosen = SelectFromModel(model, threshold=1e-10).fit(X, y)
    np.testing.assert_array_equal(chosen.get_support(), clone(model).fit(X, y).get_support())
    pipe = make_pipeline(clone(model), ForwardBackward()).fit(X, y)
    assert pipe.predict(X).shape == (N,)
    assert pipe[0].transform(X).shape == (N, pipe[0].get_support().sum())


def test_a_failed_fit_leaves_the_old_one():
    X, y = data()
    model = Lasso(0.3).fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(InputError):
        model.fit(X[:, :3] * np.nan, y)
    np.testing.assert_array_equal(model.coef_, before)


def test_more_columns_than_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 200))
    y = X[:, :2] @ [4.0, -4.0] + rng.normal(size=60)
    for make in PENALIZED.values():
        model = make("plugin", np.arange(200) // 2).fit(X, y)
        assert set(np.flatnonzero(model.get_support())) >= {0, 1}
        assert model.dual_gap_ <= 1e-7 * y.var() / 2
    assert set(np.flatnonzero(ForwardBackward("aic").fit(X, y).get_support())) >= {0, 1}
    assert ForwardBackward("aic").fit(X, y).get_support().sum() <= 30
