"""Prediction intervals: equal to what refits without rows say, and stored with models."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.api as sm
from sklearn.linear_model import LassoCV, LinearRegression

import debinet as dn
from debinet.data.records import pack, unpack
from debinet.exceptions import OptionError, TooFewRowsError
from debinet.inference.conformal import Calibration, leave_out
from debinet.inference.methods import pooled

N, NEW = 60, 7


@pytest.fixture(scope="module")
def rows():
    X, y, _ = dn.datasets.make_waves(N + NEW, random_state=3)
    return X.iloc[:N], y[:N], X.iloc[N:]


def jackknife_plus(centre, residuals, level):
    """Return the bounds by the ranks of Barber et al. (2021), centre (rows, n)."""
    n = len(residuals)
    k = int(np.ceil(level * (n + 1) - 1e-9))
    up = np.sort(centre + np.abs(residuals), axis=1)[:, k - 1]
    low = np.sort(centre - np.abs(residuals), axis=1)[:, n - k]
    return low, up


def assert_bounds(frame, expected, tolerance=1e-8):
    np.testing.assert_allclose(frame["lower"], expected[0], rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(frame["upper"], expected[1], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("crossfit", ["auto", 5])
def test_least_squares_equals_refits_without_each_row_or_fold(rows, crossfit):
    X, y, new = rows
    model = dn.PartiallyLinear(["d1"], "mean", crossfit=crossfit, random_state=0).fit(X, y)
    design, there = sm.add_constant(X[["d1"]]).to_numpy(), sm.add_constant(new[["d1"]]).to_numpy()
    codes = model._fitted.folds[0]
    assert len(np.unique(codes)) == (N if crossfit == "auto" else 5)
    centre, left = np.empty((NEW, N)), np.empty(N)
    for i in range(N):
        kept = codes != codes[i]
        params = sm.OLS(y[kept], design[kept]).fit().params
        centre[:, i], left[i] = there @ params, y[i] - design[i] @ params
    assert_bounds(model.predict(new, interval=0.9), jackknife_plus(centre, left, 0.9))


def test_weighted_least_squares_equals_refits(rows):
    X, y, new = rows
    w = np.random.default_rng(0).integers(0, 4, N).astype(float)
    copies = np.repeat(np.arange(N), w.astype(int))
    model = dn.PartiallyLinear(["d1"], "mean").fit(X, y, sample_weight=w)
    design, there = sm.add_constant(X[["d1"]]).to_numpy(), sm.add_constant(new[["d1"]]).to_numpy()
    centre, left = np.empty((NEW, N)), np.empty(N)
    for i in range(N):
        kept = np.arange(N) != i
        params = sm.WLS(y[kept], design[kept], weights=w[kept]).fit().params
        centre[:, i], left[i] = there @ params, y[i] - design[i] @ params
    # A row of weight k counts as k rows, and the new row as one of average weight.
    values = np.sort(centre[:, copies] + np.abs(left[copies]), axis=1)
    rank = int(np.ceil(0.9 * w.sum() * (1 + 1 / np.count_nonzero(w)) - 1e-9))
    frame = model.predict(new, interval=0.9)
    np.testing.assert_allclose(frame["upper"], values[:, rank - 1], rtol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("output", [0, 1])
def test_row_weights_of_a_wide_network_are_those_of_its_fit_without_a_row(rows, weighted, output):
    X, y, new = rows
    Z, there = X.filter(like="z").to_numpy(), new.filter(like="z").to_numpy()
    M = np.column_stack([y, X["d1"]])
    w = np.random.default_rng(1).uniform(0.5, 2.0, N) if weighted else np.ones(N)
    net = dn.WideNet(activation="erf").fit(Z, M, sample_weight=w)
    W = net.row_weights(output, w)(there)
    np.testing.assert_allclose(W @ M[:, output], net.predict(there)[:, output], rtol=1e-7)
    np.testing.assert_allclose(W.sum(axis=1), 1.0, rtol=1e-9)
    # Kernel ridge regression without row 4, at the same penalty.
    expansion, penalty = net._predictor.parts[0], net.penalty_[output]
    skip = net.skip_[output]
    K, k = expansion.kernel(skip), expansion.kernel(skip, there)
    kept = np.arange(N) != 4
    system = np.zeros((N, N))  # of the n - 1 rows, and the intercept
    system[:-1, :-1] = K[np.ix_(kept, kept)] + np.diag(penalty / w[kept])
    system[:-1, -1] = system[-1, :-1] = 1.0
    solved = np.linalg.solve(system, np.append(M[kept, output], 0.0))
    left = M[4, output] - (K[4, kept] @ solved[:-1] + solved[-1])
    without = k[:, kept] @ solved[:-1] + solved[-1]
    shown = net.predict(there)[:, output] - W[:, 4] * left
    np.testing.assert_allclose(shown, without, rtol=1e-6, atol=1e-8)


def test_generalized_least_squares_equals_refits_at_the_same_penalty():
    """Where the learner predicts by the penalty of the mixed model, everything is exact."""
    rng = np.random.default_rng(0)
    A, mu = rng.normal(size=(20, 20)), rng.normal(size=20)
    covariance = A @ A.T + np.eye(20)
    D, y = rng.normal(size=(20, 2)), mu + rng.normal(size=20)
    inverse = np.linalg.inv(covariance)
    rows = inverse @ D @ np.linalg.inv(D.T @ inverse @ D)
    coef, diagonal = rows.T @ y, np.diag(inverse)
    held_D, held = (inverse @ D) / diagonal[:, None], inverse @ (y - D @ coef) / diagonal
    fit = pooled(held + held_D @ coef, held_D)
    fit = replace(fit, coef=coef, influence=rows, least_squares=False)
    for codes in (np.arange(20), np.arange(20) // 4):
        if codes.max() < 19:  # held out by blocks
            for b in range(5):
                i = np.flatnonzero(codes == b)
                inner = np.linalg.inv(inverse[np.ix_(i, i)])
                held_D[i] = inner @ (inverse @ D)[i]
                held[i] = inner @ (inverse @ (y - D @ coef))[i]
            fit = replace(fit, R_y=held + held_D @ coef, R_D=held_D)
        left = leave_out(fit, codes)
        for b in np.unique(codes):
            kept = codes != b
            part = np.linalg.inv(covariance[np.ix_(kept, kept)])
            other = np.linalg.solve(D[kept].T @ part @ D[kept], D[kept].T @ part @ y[kept])
            np.testing.assert_allclose(coef + left.shift[b], other, rtol=1e-8)
            pull = covariance[np.ix_(~kept, kept)] @ part
            expected = y[~kept] - D[~kept] @ other - pull @ (y[kept] - D[kept] @ other)
            np.testing.assert_allclose(left.residuals[~kept], expected, rtol=1e-8)


def test_folds_equal_their_own_models(rows):
    """CV+: models of each fold, and least squares on the residuals of the other folds."""
    X, y, new = rows
    model = dn.PartiallyLinear(
        ["d1"], LinearRegression(), crossfit=4, method="robinson", random_state=0
    ).fit(X, y)
    (fit,), (codes,), joint = (
        model.result_.regressions,
        model._fitted.folds,
        model._fitted.means[0].joint,
    )
    Z, there = X.drop(columns="d1").to_numpy(), new.drop(columns="d1").to_numpy()
    centre, left = np.empty((NEW, N)), np.empty(N)
    for b in range(4):
        inside = codes == b
        own = LinearRegression().fit(Z[~inside], np.column_stack([y, X["d1"]])[~inside])
        np.testing.assert_allclose(own.predict(there), joint.fits[b].predict(there))
        coef = sm.OLS(fit.R_y[~inside], fit.R_D[~inside]).fit().params
        m = own.predict(there)
        centre[:, inside] = (m[:, 0] + (new["d1"] - m[:, 1]) * coef[0]).to_numpy()[:, None]
        left[inside] = fit.R_y[inside] - fit.R_D[inside] @ coef
    assert_bounds(model.predict(new, interval=0.9), jackknife_plus(centre, left, 0.9))


def test_few_blocks_and_many_have_the_same_quantiles():
    rng = np.random.default_rng(0)
    size, mass, centre = rng.exponential(size=200), rng.uniform(0.1, 1.0, 200), rng.normal(size=9)
    codes = np.arange(200) % 3
    few = Calibration(centre[:, None] + np.array([[0.0, 0.1, -0.4]]), codes, size, mass, 200)
    many = Calibration(few.centre[:, codes], np.arange(200), size, mass, 200)
    for one, other in zip(few.bounds(0.9), many.bounds(0.9), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("blocks", [1, 200])
def test_quantiles_are_infinite_if_too_many_residuals_are(blocks):
    size = np.where(np.arange(200) < 30, np.inf, 1.0)
    codes = np.arange(200) % blocks
    found = Calibration(np.zeros((2, blocks)), codes, size, np.ones(200), 200)
    assert np.isinf(found.bounds(0.9)).all()
    assert np.isfinite(found.bounds(0.8)).all()


LEARNERS = {
    "wide": lambda: "wide",
    "flow": lambda: dn.WideNet(filter="flow"),
    "per output": lambda: dn.WideNet(relevance="per-output"),
    "landmarks": lambda: dn.TangentNet(width=30),
    "mean": lambda: "mean",
    "spline": lambda: "spline",
    "linear": lambda: "linear",
    "averages": dn.NadarayaWatson,
    "stack": lambda: dn.stack(["wide", LassoCV(cv=3)]),
    "lasso": lambda: "lasso",
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("method", ["auto", "robinson"])
def test_every_learner_has_intervals_also_from_files(rows, name, method, tmp_path):
    X, y, new = rows
    model = dn.PartiallyLinear(["d1"], LEARNERS[name](), method=method, random_state=0).fit(X, y)
    frame = model.predict(new, interval=0.9)
    assert list(frame.columns) == ["prediction", "lower", "upper"]
    pd.testing.assert_index_equal(frame.index, new.index)
    np.testing.assert_array_equal(frame["prediction"], model.predict(new))
    assert (frame["lower"] < frame["prediction"]).all()
    assert (frame["prediction"] < frame["upper"]).all()
    narrower = model.predict(new, interval=0.5)
    assert (narrower["upper"] < frame["upper"]).all()
    model.save(tmp_path / "model.npz")
    twin = dn.load(tmp_path / "model.npz")
    pd.testing.assert_frame_equal(twin.predict(new, interval=0.9), frame, rtol=1e-7)


@pytest.mark.parametrize("crossfit", [3, (3, 4), "loo"])
def test_groups_weights_and_repetitions(rows, crossfit):
    X, y, new = rows
    groups = np.arange(N) // 3
    weights = np.where(np.arange(N) % 10, 1.0, 0.0)
    for learner in ("wide", LinearRegression()):
        model = dn.PartiallyLinear(["d1"], learner, crossfit=crossfit, random_state=0)
        frame = model.fit(X, y, groups=groups, sample_weight=weights).predict(new, interval=0.8)
        assert np.isfinite(frame.to_numpy()).all()
        assert (frame["lower"] < frame["upper"]).all()


def test_arrays_and_polars_get_a_plain_index(rows):
    X, y, new = rows
    model = dn.PartiallyLinear(["d1"], "mean").fit(X, y)
    expected = model.predict(new, interval=0.9).reset_index(drop=True)
    pd.testing.assert_frame_equal(model.predict(pl.from_pandas(new), interval=0.9), expected)
    model = dn.PartiallyLinear([0], "mean").fit(X.to_numpy(), y)
    pd.testing.assert_frame_equal(model.predict(new.to_numpy(), interval=0.9), expected)


@pytest.mark.parametrize("penalty", [0.3, 1e6])
def test_debinet_with_selected_features_and_with_none(rows, penalty, tmp_path):
    X, y, new = rows
    model = dn.DebiNet(dn.Lasso(penalty=penalty), random_state=0).fit(X, y)
    frame = model.predict(new, interval=0.8)
    np.testing.assert_array_equal(frame["prediction"], model.predict(new))
    if penalty > 1:
        left = np.asarray(y)[model.estimation_rows_]
        others = (left.sum() - left) / (left.size - 1)
        assert_bounds(frame, jackknife_plus(np.tile(others, (NEW, 1)), left - others, 0.8))
    model.save(tmp_path / "model.npz")
    twin = dn.load(tmp_path / "model.npz")
    pd.testing.assert_frame_equal(twin.predict(new, interval=0.8), frame, rtol=1e-7)


@pytest.mark.parametrize("interval", [0, 1, 95, -0.5, "0.95", True, np.nan, [0.9]])
def test_what_is_no_level_is_refused(rows, interval):
    X, y, new = rows
    model = dn.PartiallyLinear(["d1"], "mean").fit(X, y)
    with pytest.raises(OptionError, match="interval to be a number between 0 and 1"):
        model.predict(new, interval=interval)


def test_too_few_rows_for_a_level(rows):
    X, y, new = rows
    model = dn.PartiallyLinear(["d1"], "mean").fit(X.iloc[:18], y[:18])
    with pytest.raises(TooFewRowsError, match="at least 19 rows"):
        model.predict(new, interval=0.95)
    assert np.isfinite(model.predict(new, interval=0.9).to_numpy()).all()


def test_models_that_do_not_know_held_out_rows(rows):
    X, y, new = rows
    in_sample = dn.PartiallyLinear(["d1"], LinearRegression(), crossfit=None).fit(X, y)
    with pytest.raises(OptionError, match="crossfit='auto'"):
        in_sample.predict(new, interval=0.9)
    streamed = dn.PartiallyLinear(["d1"], dn.TangentNet(width=10), random_state=0)
    streamed.fit_stream(X.assign(y=y), "y")
    with pytest.raises(OptionError, match="in memory"):
        streamed.predict(new, interval=0.9)


def test_a_file_of_an_earlier_version_says_that_it_has_no_intervals(rows):
    X, y, new = rows
    header, arrays = pack(dn.PartiallyLinear(["d1"], "mean").fit(X, y))
    for record in header["records"]:
        if record["class"] == "fitted":
            del record["parts"]["folds"]
    twin = unpack(header, arrays)
    assert np.isfinite(twin.predict(new)).all()
    with pytest.raises(OptionError, match="earlier version"):
        twin.predict(new, interval=0.9)


@pytest.mark.parametrize(
    "codes", [np.arange(5), np.full(N, -1), np.zeros(N), np.full(N, 7), "text"], ids=str
)
def test_folds_in_a_file_must_fit_its_rows(rows, codes):
    X, y, _ = rows
    model = dn.PartiallyLinear(["d1"], LinearRegression(), crossfit=3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="unexpected folds"):
        replace(model._fitted, folds=(codes,))
