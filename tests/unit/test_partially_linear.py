"""The model: methods, folds, groups, weights, prediction, summary."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LassoCV, LinearRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold

import debinet as dn
from debinet.exceptions import (
    CollinearError,
    EmptyInputError,
    FoldError,
    InputError,
    LearnerError,
    OptionError,
)


def model_of(learner=None, **options):
    options = {"random_state": 0, **options}
    return dn.PartiallyLinear(
        ["d1", "d2"], LinearRegression() if learner is None else learner, **options
    )


def test_dml1_is_the_mean_over_folds(small):
    X, y = small
    folds = list(KFold(3).split(X))
    model = model_of(Ridge(), crossfit=KFold(3), method="dml1").fit(X, y)
    solved = model.result_.regressions[0]
    by_hand = [
        np.linalg.lstsq(solved.R_D[test], solved.R_y[test], rcond=None)[0] for _, test in folds
    ]
    np.testing.assert_allclose(model.coef_, np.mean(by_hand, axis=0))


def test_structured_by_hand(small):
    """Two rounds of: learn g from y - D b, use e + R_D b as R_y, solve."""
    X, y = small
    folds = list(KFold(4).split(X))
    D, Z = X[["d1", "d2"]].to_numpy(), X[["z1", "z2", "z3"]].to_numpy()

    def heldout(target):
        predictions = np.empty_like(target)
        for train, test in folds:
            predictions[test] = Ridge(50.0).fit(Z[train], target[train]).predict(Z[test])
        return predictions

    R_D = D - heldout(D)
    b = np.linalg.lstsq(R_D, y - heldout(y.to_numpy()), rcond=None)[0]
    for _ in range(2):
        target = y.to_numpy() - D @ b
        b = np.linalg.lstsq(R_D, target - heldout(target) + R_D @ b, rcond=None)[0]
    model = model_of(Ridge(50.0), crossfit=KFold(4)).fit(X, y)
    np.testing.assert_allclose(model.coef_, b, rtol=1e-10)


def test_structured_helps_where_the_treatment_explains_much(small):
    """With D b of variance 2500, learning E(y|Z) directly costs much of the precision."""
    errors = {"structured": [], "robinson": []}
    for seed in range(8):
        X, y, truth = dn.datasets.make_sparse_linear(
            n=150, effects=(50.0, -50.0), random_state=seed
        )
        for method, found in errors.items():
            forest = RandomForestRegressor(10, random_state=0)
            model = dn.PartiallyLinear(
                ["d1", "d2"], forest, crossfit=3, method=method, random_state=0
            ).fit(X, y)
            found.append(((model.coef_ - truth.to_numpy()) ** 2).mean())
    assert np.mean(errors["structured"]) < np.mean(errors["robinson"])


@pytest.mark.parametrize("method", ["structured", "robinson", "dml1", "dml2", "iv-type"])
@pytest.mark.parametrize("crossfit", [4, (3, 2), KFold(5)])
def test_prediction_is_the_linear_part_and_the_nuisance(small, method, crossfit):
    X, y = small
    model = model_of(Ridge(), method=method, crossfit=crossfit).fit(X, y)
    linear = X[["d1", "d2"]].to_numpy() @ model.coef_
    np.testing.assert_allclose(model.predict(X), linear + model.nuisance(X))
    assert model.score(X, y) > 0.5


def test_defaults_of_the_covariance(small):
    X, y = small
    assert model_of().fit(X, y).result_.vcov_type == "HC3"
    assert model_of(method="dml2").fit(X, y).result_.vcov_type == "HC0"
    assert model_of().fit(X, y, groups=np.arange(60) % 20).result_.vcov_type == "cluster"


def test_two_way_groups_from_fit_to_covariance(small):
    X, y = small
    groups = pd.DataFrame({"a": np.arange(60) // 6, "b": np.arange(60) % 6})
    model = model_of(crossfit=3).fit(X, y, groups=groups)
    assert model.result_.vcov_type == "cluster"
    assert model.result_.df == 5
    assert "both groupings" in model.result_.provenance.cross_fitting.label
    with_splitter = model_of(crossfit=GroupKFold(3))
    with pytest.raises(FoldError, match="never split"):
        with_splitter.fit(X, y, groups=groups)


def test_the_same_seed_gives_the_same_result_and_none_can_be_repeated(small):
    X, y = small
    first = model_of(RandomForestRegressor(5), random_state=None).fit(X, y).result_
    again = model_of(RandomForestRegressor(5), random_state=first.seed).fit(X, y).result_
    pd.testing.assert_frame_equal(first.to_frame(), again.to_frame())
    generator = model_of(RandomForestRegressor(5), random_state=np.random.default_rng(0)).fit(X, y)
    assert np.isfinite(generator.coef_).all()


def test_workers_change_nothing(small):
    X, y = small
    one, two = (model_of(RandomForestRegressor(5), n_jobs=j).fit(X, y).result_ for j in (1, 2))
    pd.testing.assert_frame_equal(one.to_frame(), two.to_frame(), check_exact=True)


def test_repetitions_reduce_to_the_median(small):
    X, y = small
    result = model_of(LassoCV(alphas=10), crossfit=(4, 3)).fit(X, y).result_
    coefs = np.stack([regression.coef for regression in result.regressions])
    np.testing.assert_allclose(result.coef, np.median(coefs, axis=0))
    assert result.provenance.cross_fitting.repetitions == 3
    assert "3 times" in result.summary()
    assert np.isfinite(result.with_vcov("HC1").se).all()


def test_fit_changes_no_input_and_no_parameter(small):
    X, y = small
    before = X.copy()
    learner = RandomForestRegressor(3)
    model = model_of(learner).fit(X, y)
    pd.testing.assert_frame_equal(X, before)
    assert model.learner is learner
    assert not hasattr(learner, "estimators_")
    assert learner.random_state is None


def test_the_summary_warns_of_in_sample_residuals(small):
    assert "in-sample" in model_of(crossfit=None).fit(*small).result_.summary()
    assert "in-sample" not in model_of().fit(*small).result_.summary()


def test_categories_are_noted_and_predicted(small):
    X, y = small
    X = X.assign(region=np.resize(["n", "s", "w"], 60))
    model = model_of().fit(X, y)
    assert "one-hot" in model.result_.summary()
    assert model.predict(X.iloc[:5]).shape == (5,)


def test_a_treatment_that_the_controls_determine_is_named(small):
    X, y = small
    X = X.assign(d2=X["z1"] + 2 * X["z2"])
    with pytest.raises(CollinearError, match="'d2'"):
        model_of().fit(X, y)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"method": "best"}, OptionError),
        ({"method": "dml2", "crossfit": None}, OptionError),
        ({"method": "dml1", "crossfit": "loo"}, FoldError),
        ({"crossfit": "some"}, OptionError),
        ({"random_state": -1}, OptionError),
        ({"random_state": "a"}, OptionError),
        ({"learner": "deep"}, OptionError),
        ({"learner": LinearRegression}, LearnerError),
    ],
)
def test_bad_options_are_refused_in_fit(small, options, error):
    with pytest.raises(error):
        model_of(**options).fit(*small)


def test_predict_needs_fit_and_the_same_columns(small):
    X, y = small
    with pytest.raises(NotFittedError):
        model_of().predict(X)
    model = model_of().fit(X, y)
    with pytest.raises(InputError, match="feature names"):
        model.predict(X[["d2", "d1", "z1", "z2", "z3"]])
    for wrong in (X[["d1", "d2"]], X.assign(more=1.0)):
        with pytest.raises(InputError, match="columns of fit"):
            model.predict(wrong)
    nameless = model_of().set_params(treatments=[0]).fit(X.to_numpy(), y)
    with pytest.raises(InputError, match="columns of fit"):
        nameless.predict(X.to_numpy()[:, :3])
    with pytest.raises(InputError, match="NaN"):
        model.predict(X.assign(z1=np.nan))


def test_a_failed_fit_leaves_the_old_result(small):
    X, y = small
    model = model_of().fit(X, y)
    before = model.result_
    with pytest.raises(InputError):
        model.fit(X.assign(z1=np.nan), y)
    assert model.result_ is before
    model.predict(X)


def test_controls_are_asked_for_by_learners_that_use_them(small):
    X, y = small
    with pytest.raises(EmptyInputError, match="beside the treatments"):
        model_of(Ridge()).fit(X[["d1", "d2"]], y)
    assert model_of("mean").fit(X[["d1", "d2"]], y).result_.n == len(y)


def test_method_is_a_parameter_and_score_is_r_squared(small):
    model = model_of(method="dml2").fit(*small)
    assert model.get_params()["method"] == "dml2"
    assert clone(model).get_params()["method"] == "dml2"
    assert 0 < model.score(*small) <= 1
    assert "method='dml2'" in repr(model)
    assert model.set_params(method="dml1").get_params()["method"] == "dml1"


@pytest.mark.parametrize("convert", ["polars", "arrow"])
def test_frames_of_other_libraries(small, convert):
    import polars as pl
    import pyarrow as pa

    X, y = small
    frame = pl.from_pandas(X) if convert == "polars" else pa.Table.from_pandas(X)
    model = model_of().fit(frame, pl.from_pandas(y))
    np.testing.assert_allclose(model.coef_, model_of().fit(X, y).coef_)
    np.testing.assert_allclose(model.predict(frame), model_of().fit(X, y).predict(X))
    assert model.result_.outcome == "y"


def test_integer_labels_are_labels_and_their_order_matters(small):
    X, y = small
    relabelled = X.set_axis([2, 1, 0, 3, 4], axis=1)
    model = dn.PartiallyLinear([0], LinearRegression(), random_state=0).fit(relabelled, y)
    expected = dn.PartiallyLinear(["z1"], LinearRegression(), random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_)
    with pytest.raises(InputError, match="same order"):
        model.predict(relabelled[[0, 1, 2, 3, 4]])


def test_labels_of_other_kinds(small):
    X, y = small
    tuples = X.set_axis(pd.MultiIndex.from_product([["a"], X.columns]), axis=1)
    model = dn.PartiallyLinear([("a", "d1")], LinearRegression(), random_state=0).fit(tuples, y)
    assert len(model.coef_) == 1
    mixed = X.set_axis(["d1", 5, "z1", 7.5, "z3"], axis=1)
    with pytest.raises(InputError):
        dn.PartiallyLinear(["nothing"], LinearRegression()).fit(mixed, y)
    with pytest.raises(OptionError):
        dn.PartiallyLinear({"d1", "d2"}, LinearRegression()).fit(X, y)


def test_splitters_see_the_data_and_are_seeded(small):
    X, y = small
    seen = []

    class Looks(KFold):
        def split(self, X, y=None, groups=None):
            seen.append((X.copy(), y.copy()))
            return super().split(X, y, groups)

    model_of(crossfit=Looks(3)).fit(X, y)
    np.testing.assert_array_equal(seen[0][0], X)
    np.testing.assert_array_equal(seen[0][1], y)
    open_splitter = KFold(4, shuffle=True)
    first, second = (model_of(Ridge(), crossfit=open_splitter).fit(X, y).coef_ for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert open_splitter.random_state is None


def test_many_rows_take_random_features_and_the_summary_says_so(small, monkeypatch):
    from debinet.learners import named

    X, y = small
    exact = dn.PartiallyLinear(["d1"], random_state=0).fit(X, y).result_
    assert exact.provenance.learner == "WideNet"
    assert "random features" not in exact.summary()
    monkeypatch.setattr(named, "_EQUAL_EXACT", 59)
    model = dn.PartiallyLinear(["d1"], random_state=0).fit(X, y)
    assert model.result_.provenance.learner == "TangentNet"
    assert "random features" in model.result_.summary()
    assert model.result_.provenance.cross_fitting.kind == "leave-one-out"
    insisted = dn.PartiallyLinear(["d1"], dn.WideNet(), random_state=0).fit(X, y).result_
    assert insisted.provenance.learner == "WideNet"


def test_dml1_of_the_default_learner_uses_folds(small):
    X, y = small
    model = dn.PartiallyLinear(["d1"], method="dml1", random_state=0).fit(X, y)
    assert model.result_.provenance.cross_fitting.folds == 5


def test_rows_and_clusters_of_no_weight_do_not_count(small):
    X, y = small
    groups = np.arange(60) // 5
    weights = (groups < 6).astype(float)
    whole = model_of(crossfit=None).fit(X, y, groups=groups, sample_weight=weights).result_
    part = model_of(crossfit=None).fit(X[:30], y[:30], groups=groups[:30]).result_
    assert whole.df == part.df == 5
    assert whole.n == 30
    np.testing.assert_allclose(whole.vcov, part.vcov)
    with pytest.raises(InputError, match="rows"):
        model_of().fit(X, y, sample_weight=(np.arange(60) < 3).astype(float))


def test_learners_that_fail_at_any_point_are_named(small):
    class Fails(Ridge):
        def predict(self, X):
            raise RuntimeError("no prediction")

    class Text(Ridge):
        def predict(self, X):
            return ["a"] * len(X)

    class NoCopy:
        def fit(self, Z, M):
            return self

        def predict(self, Z):
            return np.zeros((len(Z), 3))

        def __deepcopy__(self, memo):
            raise TypeError("cannot copy")

    for learner in (Fails(), Text(), NoCopy()):
        with pytest.raises(LearnerError):
            model_of(learner).fit(*small)


@pytest.mark.parametrize("n_jobs", [0, "a", 1.5])
def test_impossible_numbers_of_jobs(small, n_jobs):
    with pytest.raises(OptionError, match="n_jobs"):
        model_of(n_jobs=n_jobs).fit(*small)


def test_multitask_learners_see_standardized_outputs(small):
    from sklearn.linear_model import MultiTaskLasso

    X, y = small
    plain = model_of(MultiTaskLasso(0.1)).fit(X, y).coef_
    scaled = model_of(MultiTaskLasso(0.1)).fit(X, 1024 * y).coef_
    np.testing.assert_allclose(scaled / 1024, plain, rtol=1e-8)


def test_weights_reach_ensembles_that_take_any_argument(small):
    from sklearn.ensemble import VotingRegressor

    X, y = small
    vote = VotingRegressor([("a", Ridge()), ("b", LinearRegression())])
    weighted = model_of(vote).fit(X, y, sample_weight=np.linspace(0.1, 3, 60)).coef_
    assert not np.allclose(weighted, model_of(vote).fit(X, y).coef_)


def test_the_mean_as_an_object_needs_no_controls_either(small):
    X, y = small
    named, given = (
        dn.PartiallyLinear(["d1", "d2"], learner, crossfit=None).fit(X[["d1", "d2"]], y).coef_
        for learner in ("mean", dn.MeanLearner())
    )
    np.testing.assert_array_equal(named, given)
