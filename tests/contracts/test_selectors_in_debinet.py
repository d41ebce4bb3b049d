"""Every selector inside DebiNet: what is refused, and selections of nothing and of everything."""

import numpy as np
import pandas as pd
import pytest

import debinet as dn
from debinet.exceptions import (
    ConstantColumnError,
    DuplicateColumnError,
    InputError,
    LengthError,
    MissingValueError,
    TooFewRowsError,
    UnknownColumnError,
)

# A selector at its usual penalty, one that selects nothing, and one that selects all it is given.
SELECTORS = {
    "lasso": (dn.Lasso, (0.1,), (1e4,), (1e-6,)),
    "adaptive Lasso": (dn.AdaptiveLasso, (0.1,), (1e4,), (1e-9,)),
    "elastic net": (dn.ElasticNet, (0.1,), (1e4,), (1e-6,)),
    "group Lasso": (dn.GroupLasso, (None, 0.1), (None, 1e4), (None, 1e-6)),
    "sparse group Lasso": (dn.SparseGroupLasso, (None, 0.1), (None, 1e4), (None, 1e-6)),
    "SLOPE": (dn.Slope, (0.1,), (1e4,), (1e-6,)),
    "stepwise": (dn.ForwardBackward, (), ("pvalue",), ("aic",)),
}
every = pytest.mark.parametrize("name", SELECTORS)


def data(n=120, p=8):
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(n, p)), columns=[f"x{j}" for j in range(p)])
    # Strong enough that AIC keeps all of them, too.
    return X, X @ np.ones(p) + 0.3 * rng.normal(size=n)


def model(name, which, **options):
    kind, *settings = SELECTORS[name]
    chosen = kind(*settings[which])
    if kind is dn.ForwardBackward and which == 1:
        chosen.set_params(entry=1e-300, removal=1e-299)
    return dn.DebiNet(chosen, random_state=0, **options)


REFUSED = {
    "missing": (lambda X, y: (X.assign(x2=X["x2"].where(X.index != 3)), y), MissingValueError),
    "infinite": (lambda X, y: (X.assign(x2=np.inf), y), MissingValueError),
    "constant": (lambda X, y: (X.assign(x2=1.0), y), ConstantColumnError),
    "duplicate": (lambda X, y: (X.assign(x2=X["x1"]), y), DuplicateColumnError),
    "lengths": (lambda X, y: (X, y[:-1]), LengthError),
    "one row": (lambda X, y: (X[:1], y[:1]), TooFewRowsError),
    "text": (lambda X, y: (X.assign(x2=[f"row {i}" for i in X.index]), y), InputError),
}


@every
@pytest.mark.parametrize("share", [0.4, None, (0.4, 2)], ids=str)
@pytest.mark.parametrize("case", REFUSED)
def test_refuses(name, share, case):
    spoil, error = REFUSED[case]
    with pytest.raises(error):
        model(name, 0, selection_share=share).fit(*spoil(*data()))


@every
@pytest.mark.parametrize("share", [0.4, None], ids=str)
def test_nothing_selected_is_an_empty_table_and_the_mean(name, share):
    X, y = data()
    fitted = model(name, 1, selection_share=share).fit(X, y)
    assert not fitted.get_support().any()
    assert fitted.result_.to_frame().empty
    np.testing.assert_allclose(fitted.predict(X), y.iloc[fitted.estimation_rows_].mean())


@every
def test_everything_selected_is_least_squares(name):
    X, y = data()
    fitted = model(name, 2).fit(X, y)
    assert fitted.get_support().all()
    rows = fitted.estimation_rows_
    design = np.column_stack([np.ones(len(rows)), X.iloc[rows]])
    ordinary = np.linalg.lstsq(design, y.iloc[rows], rcond=None)[0]
    np.testing.assert_allclose(fitted.coef_, ordinary[1:], rtol=1e-8)
    assert "ordinary least squares" in fitted.result_.summary()


@every
def test_more_selected_than_rows_allow(name):
    """72 rows select, 18 estimate, and all 20 columns matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 20))
    y = X.sum(axis=1) + 0.1 * rng.normal(size=90)
    with pytest.raises(TooFewRowsError, match="larger penalty"):
        model(name, 2, selection_share=0.8).fit(X, y)


@pytest.mark.parametrize("kind", [dn.GroupLasso, dn.SparseGroupLasso])
@pytest.mark.parametrize(
    ("groups", "error"),
    [
        ([0, 0, 1, 1], LengthError),
        ({"a": ["x0", "x1"]}, InputError),
        ({"a": ["x0", "nothing"]}, UnknownColumnError),
        ([["x0", "x1"], ["x1", "x2"]], InputError),
    ],
    ids=["too short", "not covering", "unknown", "twice"],
)
def test_groups_that_do_not_cover_the_columns(kind, groups, error):
    X, y = data()
    with pytest.raises(error):
        dn.DebiNet(kind(groups, 0.1), random_state=0).fit(X, y)
