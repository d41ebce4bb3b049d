"""One list of learners, one list of properties: a new learner is one line here."""

from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.feature_selection import SelectFromModel, SelectKBest, f_regression
from sklearn.linear_model import LassoCV, LinearRegression, Ridge
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.svm import SVR

import debinet as dn
from debinet.learners.closed_form import ClosedForm
from debinet.learners.mean import MeanLearner
from debinet.protocols import HeldOut

LEARNERS = [
    "mean",
    "wide",
    "linear",
    LinearRegression(),
    Ridge(),
    LassoCV(alphas=10),
    make_pipeline(StandardScaler(), SplineTransformer(), Ridge()),
    KNeighborsRegressor(),
    SVR(),
    MultiOutputRegressor(SVR()),
    RandomForestRegressor(10),
    GradientBoostingRegressor(n_estimators=10),
    dn.WideNet(train="first"),
    dn.TangentNet(width=100),
    dn.SplineSmoother(),
    dn.LassoLearner(),
    dn.NadarayaWatson(),
    dn.LocalLinear(),
    dn.stack([LinearRegression(), dn.SplineSmoother()]),
    dn.Columns(LinearRegression(), Ridge()),
]
if find_spec("torch") is not None:
    LEARNERS.append(dn.Net(20, epochs=5))


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_every_learner_passes_the_checks(learner):
    assert len(dn.testing.check_learner(learner)) == 7


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_every_learner_gives_finite_intervals_that_a_seed_repeats(small, learner):
    X, y = small
    first, second = (
        dn.PartiallyLinear(["d1", "d2"], learner, random_state=0).fit(X, y).result_
        for _ in range(2)
    )
    assert np.isfinite(first.to_frame()).all(axis=None)
    np.testing.assert_array_equal(first.to_frame(), second.to_frame())


@pytest.mark.parametrize(
    "selector",
    [SelectKBest(f_regression, k=2), SelectFromModel(LassoCV(alphas=10))],
    ids=lambda s: type(s).__name__,
)
def test_selectors_of_scikit_learn_pass_the_checks(selector):
    assert len(dn.testing.check_selector(selector)) == 5


class Base:
    def fit(self, Z, M):
        self.mean = np.mean(M, axis=0)
        return self

    def predict(self, Z):
        return np.tile(self.mean, (len(Z), 1))


class ReturnsNothing(Base):
    def fit(self, Z, M):
        super().fit(Z, M)


class ChangesInputs(Base):
    def fit(self, Z, M):
        Z[0] = 0
        return super().fit(Z, M)


class ChangesTargets(Base):
    def fit(self, Z, M):
        super().fit(Z, M)
        M[0] = 0
        return self


class ForgetsOutputs(Base):
    def predict(self, Z):
        return np.zeros((len(Z), 1)) if np.size(self.mean) > 1 else np.zeros((len(Z), 3))


class Random(Base):
    def predict(self, Z):
        return np.random.default_rng().normal(size=(len(Z), len(self.mean)))


class SeesItself(MeanLearner):
    def prepare(self, Z, M, weights=None):
        return ClosedForm(lambda M, folds: HeldOut(0.9 * M, (self.fit(Z, M),)))


class Stale(DummyRegressor):
    def fit(self, X, y, sample_weight=None):
        self.strategy = "median"
        return super().fit(X, y, sample_weight)


def test_a_plain_class_with_fit_and_predict_is_a_learner():
    assert len(dn.testing.check_learner(Base())) == 7


@pytest.mark.parametrize(
    ("learner", "text"),
    [
        (ReturnsNothing(), "return self"),
        (ChangesInputs(), "changed Z"),
        (ForgetsOutputs(), "shape"),
        (Random(), "same seed"),
        (SeesItself(), "rows are not held out"),
        (Stale(), "constructor parameters"),
        (ChangesTargets(), "changed M"),
    ],
)
def test_broken_learners_are_caught(learner, text):
    with pytest.raises(AssertionError, match=text):
        dn.testing.check_learner(learner)


class Selects:
    def __init__(self, support):
        self.support = support

    def fit(self, X, y):
        return self

    def get_support(self):
        return self.support


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (Selects(np.arange(3)), "bool mask"),
        (Selects(np.ones(5, dtype=bool)), "shape"),
        (Selects(np.zeros(8, dtype=bool)), "not selected"),
        (Selects(np.arange(8) == 0), "not selected"),
        (LinearRegression(), "get_support"),
    ],
)
def test_broken_selectors_are_caught(selector, text):
    with pytest.raises(AssertionError, match=text):
        dn.testing.check_selector(selector)
