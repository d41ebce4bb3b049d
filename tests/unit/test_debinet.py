"""DebiNet: the rows it uses, special selections, and the notes on them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel, SelectKBest, f_regression
from sklearn.linear_model import Lasso, LassoCV, LinearRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import debinet as dn
from debinet.data.rowsplit import read_plan, split_rows
from debinet.exceptions import (
    ConstantColumnError,
    DuplicateColumnError,
    InputError,
    LengthError,
    MissingValueError,
    OptionError,
    SelectorError,
    TooFewRowsError,
)


def picks(penalty):
    return SelectFromModel(Lasso(penalty), threshold=1e-12)


class Chosen:
    """Selects the columns of these names, whatever the data."""

    def __init__(self, *names):
        self.names = names

    def fit(self, X, y):
        self.support = np.isin(X.columns, self.names)
        self.rows = len(X)
        return self

    def get_support(self):
        return self.support


@pytest.fixture(scope="module")
def sample():
    data = dn.datasets.make_table2(n=160, p=60, k=3, random_state=1)
    return data.X, data.y


def test_is_partially_linear_on_the_rows_not_used_for_selection(sample):
    X, y = sample
    model = dn.DebiNet(picks(0.4), random_state=0).fit(X, y)
    assert len(model.selection_rows_) == 64
    assert len(model.estimation_rows_) == 96
    assert not set(model.selection_rows_) & set(model.estimation_rows_)
    chosen = picks(0.4).fit(X.iloc[model.selection_rows_], y.iloc[model.selection_rows_])
    np.testing.assert_array_equal(model.get_support(), chosen.get_support())
    rows = model.estimation_rows_
    direct = dn.PartiallyLinear(list(X.columns[chosen.get_support()])).fit(
        X.iloc[rows], y.iloc[rows]
    )
    pd.testing.assert_frame_equal(model.result_.to_frame(), direct.result_.to_frame())
    np.testing.assert_array_equal(model.predict(X), direct.predict(X))
    np.testing.assert_array_equal(model.nuisance(X), direct.nuisance(X))
    np.testing.assert_array_equal(model.get_support(indices=True)[:3], [0, 1, 2])


def test_the_same_rows_twice_is_said(sample):
    X, y = sample
    model = dn.DebiNet(picks(0.4), selection_share=None, random_state=0).fit(X, y)
    assert len(model.estimation_rows_) == len(X)
    assert "selected on the rows they are estimated on" in model.result_.summary()
    apart = dn.DebiNet(picks(0.4), random_state=0).fit(X, y)
    assert "64 other rows: 4 of 60 features" in apart.result_.summary()
    assert "coefficients of the selected features in the full model" in apart.result_.summary()


def test_nothing_selected_is_an_answer(sample, tmp_path):
    X, y = sample
    model = dn.DebiNet(picks(1e3), random_state=0).fit(X, y)
    assert not model.get_support().any()
    result = model.result_
    assert result.to_frame().empty
    assert result.confint(joint=True).empty
    assert result.adjust("romano-wolf").empty
    assert "nothing was selected" in result.summary()
    mean = y.iloc[model.estimation_rows_].mean()
    np.testing.assert_allclose(model.predict(X), mean)
    np.testing.assert_allclose(model.nuisance(X[:3]), mean)
    result.save(tmp_path / "empty.npz")
    assert dn.load(tmp_path / "empty.npz").summary() == result.summary()
    with pytest.raises(InputError, match="coefficient"):
        result.wald_test()


def test_everything_selected_is_least_squares(sample):
    X, y = sample
    few = X.iloc[:, :5]
    model = dn.DebiNet(SelectKBest(f_regression, k="all"), random_state=0).fit(few, y)
    rows = model.estimation_rows_
    ols = LinearRegression().fit(few.iloc[rows], y.iloc[rows])
    np.testing.assert_allclose(model.coef_, ols.coef_, rtol=1e-10)
    np.testing.assert_allclose(model.predict(few), ols.predict(few), rtol=1e-10)
    assert "ordinary least squares" in model.result_.summary()


def test_too_many_selected_names_the_remedy():
    data = dn.datasets.make_table2(n=40, p=60, k=3, random_state=1)
    with pytest.raises(TooFewRowsError, match="larger penalty"):
        dn.DebiNet(SelectKBest(f_regression, k=30), random_state=0).fit(data.X, data.y)


@pytest.mark.parametrize("learner", ["mean", Ridge(), "wide"], ids=str)
def test_any_learner_and_any_selector(sample, learner):
    X, y = sample
    pipeline = SelectFromModel(LassoCV(alphas=10, max_iter=20_000))
    model = dn.DebiNet(pipeline, learner, random_state=0).fit(X, y)
    assert model.get_support()[:3].all()
    assert np.isfinite(model.result_.to_frame()).all(axis=None)


def test_repeated_splits_give_frequencies_and_do_not_depend_on_workers(sample):
    X, y = sample
    one, two = (
        dn.DebiNet(picks(0.4), selection_share=(0.4, 6), n_jobs=jobs, random_state=0).fit(X, y)
        for jobs in (None, 2)
    )
    pd.testing.assert_frame_equal(one.splits_.to_frame(), two.splits_.to_frame())
    assert one.splits_.splits == 6
    assert (one.splits_.frequency[["x0", "x1", "x2"]] == 1).all()
    assert (one.splits_.pvalue[["x0", "x1", "x2"]] < 1e-6).all()
    assert one.splits_.pvalue["x40"] == 1
    single = dn.DebiNet(picks(0.4), random_state=0).fit(X, y)
    pd.testing.assert_frame_equal(one.result_.first.to_frame(), single.result_.to_frame())
    assert single.splits_ is None


def test_groups_stay_whole():
    groups = np.repeat(np.arange(20), 5)[:, None]
    split = split_rows(read_plan(0.4), 100, groups, np.random.default_rng(0))
    assert not set(groups[split.selection, 0]) & set(groups[split.estimation, 0])
    assert 30 <= split.selection.size <= 50


def test_groups_weights_and_text_columns(sample):
    X, y = sample
    rng = np.random.default_rng(0)
    X = X.iloc[:, :8].assign(region=rng.choice(["n", "s", "w"], len(X)))
    groups = np.arange(len(X)) // 4
    weights = rng.uniform(1, 2, len(X))
    scaled = SelectFromModel(Lasso(0.4), threshold=1e-12)
    with pytest.raises(SelectorError, match="sample_weight"):
        dn.DebiNet(Chosen("x0"), random_state=0).fit(X, y, sample_weight=weights)
    model = dn.DebiNet(scaled, random_state=0).fit(X, y, groups=groups)
    assert set(groups[model.selection_rows_]) & set(groups[model.estimation_rows_]) == set()
    assert model.get_support().shape == (9,)
    assert not model.get_support()[8]
    assert "clustered" in model.result_.summary()
    assert model.predict(X).shape == (len(X),)


def test_columns_that_do_nothing_in_a_part_of_the_rows_are_left_out_and_named(sample):
    X, y = sample
    X = X.iloc[:, :6].copy()
    probe = dn.DebiNet(Chosen("x0"), random_state=0).fit(X, y)
    X.loc[X.index[probe.selection_rows_], "x4"] = 1.0  # constant where features are selected
    X.loc[X.index[probe.estimation_rows_], "x5"] = 2.0  # and where they are estimated
    model = dn.DebiNet(Chosen("x0", "x4", "x5"), random_state=0).fit(X, y)
    assert list(model.result_.names) == ["x0"]
    assert "rows of selection, so left out there: 'x4'" in model.result_.summary()
    assert "rows of estimation, so left out there: 'x5'" in model.result_.summary()
    assert np.isfinite(model.predict(X)).all()


def _broken(kind):
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.normal(size=(40, 4)), columns=list("abcd")), rng.normal(size=40)
    if kind == "missing":
        X.iloc[3, 1] = np.nan
    elif kind == "infinite":
        y[2] = np.inf
    elif kind == "constant":
        X["a"] = 1.0
    elif kind == "duplicate":
        X["d"] = X["a"]
    elif kind == "length":
        y = y[:-1]
    elif kind == "one row":
        X, y = X[:1], y[:1]
    elif kind == "five rows":
        X, y = X[:5], y[:5]
    return X, y


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("missing", MissingValueError),
        ("infinite", MissingValueError),
        ("constant", ConstantColumnError),
        ("duplicate", DuplicateColumnError),
        ("length", LengthError),
        ("one row", InputError),
        ("five rows", TooFewRowsError),
    ],
)
def test_bad_data_is_refused(kind, error):
    with pytest.raises(error):
        dn.DebiNet(picks(0.1), random_state=0).fit(*_broken(kind))


@pytest.mark.parametrize(
    "share", [0, 1, 1.5, -0.1, "half", (0.4, 0), (0.4, 2.5), (0.4, 2, 1), True]
)
def test_bad_shares_are_refused(share, sample):
    with pytest.raises(OptionError, match="selection_share"):
        dn.DebiNet(picks(0.1), selection_share=share).fit(*sample)


@pytest.mark.parametrize("selector", ["ridge", 3, Lasso(), SelectKBest])
def test_what_is_not_a_selector_is_refused(selector, sample):
    with pytest.raises(OptionError, match="selector"):
        dn.DebiNet(selector).fit(*sample)


def test_selectors_that_fail_are_named(sample):
    class Failing(Chosen):
        def fit(self, X, y):
            raise RuntimeError("no luck")

    class Short(Chosen):
        def get_support(self):
            return np.ones(2, dtype=bool)

    for selector, text in ((Failing(), "no luck"), (Short(), "shape")):
        with pytest.raises(SelectorError, match=text):
            dn.DebiNet(selector).fit(*sample)


def test_a_failed_fit_leaves_the_old_one_whole(sample):
    X, y = sample
    model = dn.DebiNet(picks(0.4), random_state=0).fit(X, y)
    before = model.result_.summary()
    with pytest.raises(MissingValueError):
        model.fit(X.assign(x0=np.nan), y)
    assert model.result_.summary() == before


def test_lives_in_scikit_learn(sample):
    X, y = sample
    model = dn.DebiNet(picks(0.4), random_state=0)
    assert clone(model).get_params()["selection_share"] == 0.4
    fitted = pickle.loads(pickle.dumps(clone(model).fit(X, y)))
    np.testing.assert_array_equal(fitted.predict(X), clone(model).fit(X, y).predict(X))
    assert cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=3).min() > 0.5
    with pytest.raises(InputError, match="columns"):
        fitted.predict(X.iloc[:, :5])


GROUPS = np.arange(60) // 5
SELECTORS = [
    "lasso",
    "adaptive_lasso",
    "elastic_net",
    "slope",
    "forward_backward",
    dn.GroupLasso(GROUPS),
    dn.SparseGroupLasso(GROUPS),
]


@pytest.mark.parametrize(
    "selector", SELECTORS, ids=lambda s: s if isinstance(s, str) else str(s)[:6]
)
def test_every_selector_of_the_library_finds_what_acts(sample, selector):
    X, y = sample
    model = dn.DebiNet(selector, random_state=0).fit(X, y)
    assert model.get_support()[:3].all()
    assert np.abs(model.result_.coef[["x0", "x1", "x2"]] - 1).max() < 0.5


def test_columns_in_another_order_are_refused(sample):
    polars = pytest.importorskip("polars")
    X, y = sample
    frame = polars.DataFrame({name: X[name].to_numpy() for name in X.columns[:6]})
    model = dn.DebiNet(picks(0.4), random_state=0).fit(frame, y)
    with pytest.raises(InputError, match="same order"):
        model.predict(frame[:, ::-1])


@pytest.mark.parametrize("options", [{"method": "best"}, {"n_jobs": 0}])
def test_bad_options_are_refused_even_if_nothing_is_selected(sample, options):
    X, y = sample
    with pytest.raises(OptionError):
        dn.DebiNet(dn.Lasso(penalty=1e6), selection_share=(0.4, 2), **options).fit(X, y)


def test_the_result_and_what_predicts_have_one_seed(sample):
    model = dn.DebiNet(picks(0.4), random_state=5).fit(*sample)
    assert model.result_ is model._estimated.fitted.result
    assert model.result_.seed == 5
