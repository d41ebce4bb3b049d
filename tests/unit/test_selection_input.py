"""Selectors refuse what they cannot use, by name, and take every documented form of input."""

import sys
import types

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model

from debinet.exceptions import (
    CollinearError,
    ColumnTypeError,
    ConstantColumnError,
    DuplicateColumnError,
    InputError,
    LengthError,
    MissingValueError,
    OptionError,
    TooFewRowsError,
    UnknownColumnError,
)
from debinet.selection.adaptive_lasso import AdaptiveLasso
from debinet.selection.elastic_net import ElasticNet
from debinet.selection.forward_backward import ForwardBackward
from debinet.selection.group_lasso import GroupLasso
from debinet.selection.groups import make_groups
from debinet.selection.lasso import Lasso
from debinet.selection.selector import NotConvergedWarning
from debinet.selection.slope import Slope
from debinet.selection.sparse_group_lasso import SparseGroupLasso
from debinet.selection.stepwise import Stepper

SELECTORS = [
    Lasso(0.1),
    AdaptiveLasso(0.1),
    ElasticNet(0.1),
    GroupLasso(None, 0.1),
    SparseGroupLasso(None, 0.1),
    Slope(0.1),
    ForwardBackward(),
]
every = pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)


def data(n=40, p=6):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, 2 * X[:, 0] + rng.normal(size=n)


def put(X, j, value):
    X = X.copy()
    X[:, j] = value
    return X


REFUSED = {
    "nan": (lambda X, y: (np.where(X[3, 1] == X, np.nan, X), y), MissingValueError, "x1"),
    "infinity": (lambda X, y: (np.where(X[3, 1] == X, np.inf, X), y), MissingValueError, "x1"),
    "nan in y": (lambda X, y: (X, np.where(y == y[2], np.nan, y)), MissingValueError, "row 2"),
    "short y": (lambda X, y: (X, y[:-1]), LengthError, "39"),
    "text": (
        lambda X, y: (pd.DataFrame(X).rename(columns=str).assign(colour="red"), y),
        ColumnTypeError,
        "colour",
    ),
    "constant": (lambda X, y: (put(X, 4, 1.0), y), ConstantColumnError, "x4"),
    "constant y": (lambda X, y: (X, np.ones_like(y)), ConstantColumnError, "y"),
    "duplicate": (lambda X, y: (put(X, 4, X[:, 2]), y), DuplicateColumnError, "'x2' and 'x4'"),
    "one row": (lambda X, y: (X[:1], y[:1]), TooFewRowsError, "1 sample"),
    "no columns": (lambda X, y: (X[:, :0], y), InputError, "0 feature"),
    "no y": (lambda X, y: (X, None), InputError, "requires y"),
}


@every
@pytest.mark.parametrize(("spoil", "error", "says"), REFUSED.values(), ids=REFUSED.keys())
def test_bad_data_are_refused(selector, spoil, error, says):
    with pytest.raises(error, match=says):
        selector.fit(*spoil(*data()))


OPTIONS = {
    "negative": (Lasso(-1.0), "positive number"),
    "mean": (Lasso(0), "positive number"),
    "nan": (Lasso(np.nan), "positive number"),
    "word": (Slope("best"), "'cv'"),
    "true": (GroupLasso(None, True), "positive number"),
    "none": (ElasticNet(None), "positive number"),
    "ratio of 0": (ElasticNet(0.1, l1_ratio=0), "l1_ratio"),
    "ratio above 1": (SparseGroupLasso(None, 0.1, l1_ratio=1.2), "l1_ratio"),
    "ratio nan": (SparseGroupLasso(None, 0.1, l1_ratio=np.nan), "l1_ratio"),
    "q of 1": (Slope(0.1, q=1), "between 0 and 1"),
    "q of 0": (Slope(0.1, q=0), "q to be"),
    "solver": (Slope(0.1, solver="fast"), "solver"),
    "initial": (AdaptiveLasso(0.1, initial="ridge"), "initial"),
    "exponent": (AdaptiveLasso(0.1, exponent=-1), "exponent"),
    "criterion": (ForwardBackward("cp"), "criterion"),
    "thresholds": (ForwardBackward("pvalue", entry=0.1, removal=0.05), "removal"),
    "max_features": (ForwardBackward(max_features=0), "max_features"),
    "standardize": (Lasso(0.1, standardize="yes"), "standardize"),
    "tol": (Lasso(0.1, tol=0), "tol"),
    "seed": (Lasso("cv", random_state=-1), "random_state"),
}


@pytest.mark.parametrize(("selector", "says"), OPTIONS.values(), ids=OPTIONS.keys())
def test_bad_options_are_refused(selector, says):
    with pytest.raises(OptionError, match=says):
        selector.fit(*data())


GROUPS = {
    "too few labels": ([0, 0, 1], LengthError, "6"),
    "missing label": ([0, 0, 1, 1, None, 2], MissingValueError, "column 4"),
    "one text": ("aabbcc", InputError, "labels"),
    "a number": (3, InputError, "labels"),
    "not covered": ([[0, 1], [2, 3]], InputError, "x4"),
    "overlap": ([[0, 1, 2], [2, 3, 4, 5]], InputError, "'x2' in groups 0 and 1"),
    "empty": ([[0, 1, 2, 3, 4, 5], []], InputError, "group 1"),
    "unknown": ([[0, 1, 2], ["x3", "x4", "z"]], UnknownColumnError, "'z'"),
    "outside": ([[0, 1, 2], [3, 4, 6]], UnknownColumnError, "6"),
    "unhashable": ([[0], [1], [2], 3, 4, 5], InputError, "labels"),
}


@pytest.mark.parametrize(("groups", "error", "says"), GROUPS.values(), ids=GROUPS.keys())
def test_bad_groups_are_refused(groups, error, says):
    for selector in (GroupLasso(groups, 0.1), SparseGroupLasso(groups, 0.1)):
        with pytest.raises(error, match=says):
            selector.fit(*data())


@pytest.mark.parametrize(
    "groups",
    [
        ["b", "b", "a", "a", "a", "c"],
        np.array([7, 7, 3, 3, 3, 1]),
        pd.Series(["b", "b", "a", "a", "a", "c"]),
        [[0, 1], [2, 3, 4], [5]],
        [["x0", "x1"], ["x2", 3, "x4"], ["x5"]],
        {"first": [0, 1], "second": (2, 3, 4), "third": {5}},
        [range(2), range(2, 5), [5]],
    ],
)
def test_forms_of_groups(groups):
    read = make_groups(groups, [f"x{j}" for j in range(6)])
    np.testing.assert_array_equal(read.codes, [0, 0, 1, 1, 1, 2])
    np.testing.assert_allclose(read.weights, np.sqrt([2, 3, 1]))
    fitted = GroupLasso(groups, 0.1).fit(*data())
    assert fitted.get_support()[:2].all()


def test_group_weights():
    X, y = data()
    labels = [0, 0, 1, 1, 2, 2]
    kept = GroupLasso(labels, 0.3, group_weights=[1, 1e-6, 1]).fit(X, y)
    assert kept.get_support()[2:4].all()
    for weights, error in (([1, 1], LengthError), ([1, 1, -1], InputError), (["a"], InputError)):
        with pytest.raises(error, match="weight"):
            GroupLasso(labels, 0.3, group_weights=weights).fit(X, y)


def test_weights_of_slope():
    X, y = data()
    lasso = Lasso(0.2, tol=1e-12).fit(X, y)
    slope = Slope(0.2, weights=np.ones(6), tol=1e-12).fit(X, y)
    np.testing.assert_allclose(slope.coef_, lasso.coef_, atol=1e-5)
    for weights, error in (
        (np.ones(5), LengthError),
        (np.arange(6.0), InputError),
        (np.zeros(6), InputError),
        (-np.ones(6), InputError),
        ("abcdef", InputError),
    ):
        with pytest.raises(error, match="weights"):
            Slope(0.2, weights=weights).fit(X, y)


def test_adaptive_lasso_with_equal_weights_is_the_lasso():
    X, y = data()
    lasso = Lasso(0.2, tol=1e-12, standardize=False).fit(X, y)
    adaptive = AdaptiveLasso(0.2, initial=np.ones(6), tol=1e-12, standardize=False).fit(X, y)
    np.testing.assert_allclose(adaptive.coef_, lasso.coef_, atol=1e-6)


def test_adaptive_lasso_is_a_lasso_on_scaled_columns():
    X, y = data()
    first = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean())[0]
    weights = 1 / np.abs(first) ** 2
    peer = sklearn.linear_model.Lasso(0.05, tol=1e-12).fit(X / weights, y)
    options = {"exponent": 2, "standardize": False, "tol": 1e-12}
    ours = AdaptiveLasso(0.05, initial="ols", **options).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_ / weights, atol=1e-6)
    given = AdaptiveLasso(0.05, initial=first, **options).fit(X, y)
    np.testing.assert_allclose(given.coef_, ours.coef_, atol=1e-8)
    out = np.where(np.arange(6) == 0, 0.0, first)
    assert not AdaptiveLasso(1e-4, initial=out).fit(X, y).get_support()[0]
    nothing = AdaptiveLasso("cv", initial=np.zeros(6), random_state=0).fit(X, y)
    assert not nothing.get_support().any()


def test_first_estimates_that_cannot_be_used():
    X, y = data()
    with pytest.raises(CollinearError, match="initial='lasso'"):
        AdaptiveLasso(0.1, initial="ols").fit(X[:5], y[:5])
    for initial, error in ((np.ones(5), LengthError), ([np.nan] * 6, InputError)):
        with pytest.raises(error, match="initial"):
            AdaptiveLasso(0.1, initial=initial).fit(X, y)


def test_stepwise_by_refitting_every_model():
    """The same selection as least squares refitted for every candidate."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(50, 8)) + rng.normal(size=(50, 1))
    y = X[:, :4] @ [1, -1, 0.5, 0.3] + rng.normal(size=50)

    def bic(columns):
        design = np.column_stack([np.ones(50), X[:, sorted(columns)]])
        r = y - design @ np.linalg.lstsq(design, y)[0]
        return 50 * np.log(r @ r / 50) + np.log(50) * len(columns)

    chosen: set[int] = set()
    while True:
        candidates = [chosen | {j} for j in range(8) if j not in chosen]
        best = min(candidates, key=bic, default=chosen)
        if bic(best) >= bic(chosen):
            break
        (newest,) = best - chosen
        chosen = best
        while len(chosen) > 1:
            smaller = min((chosen - {j} for j in chosen - {newest}), key=bic)
            if bic(smaller) >= bic(chosen):
                break
            chosen = smaller
    model = ForwardBackward("bic").fit(X, y)
    assert set(np.flatnonzero(model.get_support())) == chosen
    assert model.path().criterion[-1] == pytest.approx(bic(chosen))


def test_stepper_keeps_its_books_when_columns_leave():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 7)), rng.normal(size=30)
    used, fresh = Stepper(X, y), Stepper(X, y)
    for j in (4, 1, 6, 2):
        used.enter(j)
    used.leave(1)
    used.leave(0)
    for j in (6, 2):
        fresh.enter(j)
    assert used.selected == fresh.selected
    np.testing.assert_allclose(used.gains(), fresh.gains(), atol=1e-10)
    np.testing.assert_allclose(used.losses(), fresh.losses(), atol=1e-10)
    np.testing.assert_allclose(used.coef(), fresh.coef(), atol=1e-12)
    used.leave(0)
    used.leave(0)
    np.testing.assert_allclose(used.gains(), Stepper(X, y).gains(), atol=1e-10)


def test_determined_columns_never_enter_stepwise():
    X, y = data()
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    model = ForwardBackward("pvalue", entry=1.0, removal=1.0).fit(X, y)
    assert model.get_support().sum() == 6
    exact = ForwardBackward("aic").fit(X, X[:, 0] - 2 * X[:, 3])
    np.testing.assert_allclose(exact.coef_[[0, 3]], [1, -2])
    assert exact.get_support().sum() == 2


def test_max_features_bounds_the_steps():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 50)), rng.normal(size=30)
    assert ForwardBackward("aic").fit(X, y).get_support().sum() <= 15
    assert ForwardBackward("aic", max_features=2).fit(X, y).get_support().sum() <= 2


def test_solvers_that_run_out_of_steps_say_so(monkeypatch):
    monkeypatch.setattr("debinet.selection.absolute_norm.SWEEPS", (1, 1))
    monkeypatch.setattr("debinet.selection.proximal.MAX_STEPS", 1)
    monkeypatch.setattr("debinet.selection.working_set.ROUNDS", 1)
    X, y = data()
    for selector in (Lasso(0.01), ElasticNet(0.01), GroupLasso(None, 0.01), Slope(0.01)):
        with pytest.warns(NotConvergedWarning, match="duality gap"):
            selector.fit(X, y)
        assert selector.dual_gap_ > 1e-7 * y.var() / 2


def test_penalties_of_a_path_are_checked():
    model = Lasso(0.1).fit(*data())
    for penalties in ([], [-1.0], [np.nan], ["a"], [[0.1]]):
        with pytest.raises(OptionError, match="penalt"):
            model.path(penalties)


def fake_sortedl1(right):
    """A package of that name: the library's solver behind its interface, or a wrong solution."""

    class Peer:
        def __init__(self, lam, alpha, fit_intercept, tol):
            self.options = {"weights": lam, "standardize": False, "tol": tol}
            self.level = alpha

        def fit(self, X, y):
            self.coef_ = Slope(self.level, **self.options).fit(X, y).coef_ * right
            return self

    module = types.ModuleType("sortedl1")
    module.Slope = Peer
    module.__spec__ = types.SimpleNamespace(name="sortedl1")
    return module


def test_back_end_of_slope(monkeypatch):
    X, y = data()
    own = Slope(0.1).fit(X, y)
    monkeypatch.setitem(sys.modules, "sortedl1", fake_sortedl1(1.0))
    for solver in ("sortedl1", "auto"):
        np.testing.assert_allclose(Slope(0.1, solver=solver).fit(X, y).coef_, own.coef_, atol=1e-3)
    monkeypatch.setitem(sys.modules, "sortedl1", fake_sortedl1(0.9))
    np.testing.assert_allclose(Slope(0.1, solver="auto").fit(X, y).coef_, own.coef_, atol=1e-3)
    with pytest.warns(NotConvergedWarning, match="duality gap"):
        Slope(0.1, solver="sortedl1").fit(X, y)


def test_back_end_that_is_not_installed(monkeypatch):
    X, y = data()
    monkeypatch.setattr("debinet.selection.slope.find_spec", lambda _: None)
    with pytest.raises(OptionError, match="slope"):
        Slope(0.1, solver="sortedl1").fit(X, y)
    np.testing.assert_array_equal(
        Slope(0.1, solver="auto").fit(X, y).coef_, Slope(0.1).fit(X, y).coef_
    )
