"""Huber's M-estimator as the last stage, against statsmodels, brute force and an outlier."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from sklearn.linear_model import LinearRegression

import debinet as dn
from debinet.exceptions import CovarianceError, InputError, OptionError
from debinet.inference.huber import huberize
from debinet.inference.methods import pooled


def heavy(n=200, q=2, seed=0):
    rng = np.random.default_rng(seed)
    R_D = rng.normal(size=(n, q)) * [1.0, 20.0][:q]
    R_y = R_D @ [1.0, -0.1][:q] + rng.standard_t(2, size=n)
    return R_y, R_D, rng


def fit(seed=0, n=150, **options):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 2))
    d = Z[:, 0] + rng.normal(size=n)
    y = 0.5 * d + Z[:, 1] + rng.standard_t(3, size=n)
    return d, Z, y, dn.PartiallyLinear([0], LinearRegression(), random_state=0, **options)


@pytest.mark.parametrize("c", [0.8, 1.345, 3.0])
def test_coefficients_and_scale_are_those_of_statsmodels(c):
    R_y, R_D, _ = heavy()
    found = huberize(pooled(R_y, R_D), c)
    peer = sm.RLM(R_y, R_D, M=sm.robust.norms.HuberT(c)).fit(tol=1e-12, maxiter=5000, conv="coefs")
    np.testing.assert_allclose(found.coef, peer.params, rtol=1e-6)
    np.testing.assert_allclose(found.clip, c * peer.scale, rtol=1e-6)


def test_the_sandwich_is_near_the_covariance_of_statsmodels_where_variances_are_equal():
    """H1 assumes errors that do not depend on D; 20,000 rows differ by about 2 %."""
    rng = np.random.default_rng(0)
    R_D = rng.normal(size=(20_000, 2))
    R_y = rng.standard_t(3, size=20_000)
    found = huberize(pooled(R_y, R_D), 1.345).covariance("HC0", None)
    peer = sm.RLM(R_y, R_D).fit()
    np.testing.assert_allclose(np.sqrt(np.diag(found)), peer.bse, rtol=0.02)


@pytest.mark.parametrize("weighted", [False, True])
def test_covariances_are_derivatives_by_the_weight_of_each_row(weighted):
    """By Newton steps at a fixed scale: the infinitesimal jackknife."""
    R_y, R_D, rng = heavy(60)
    w = rng.uniform(0.5, 2.0, size=60) if weighted else np.ones(60)
    groups = rng.integers(12, size=60)
    found = huberize(pooled(R_y, R_D, w if weighted else None), 1.345)

    def solve(w):
        coef = found.coef
        for _ in range(20):
            e = R_y - R_D @ coef
            inside = w * (np.abs(e) <= found.clip)
            psi = R_D.T @ (w * np.clip(e, -found.clip, found.clip))
            coef = coef + np.linalg.solve(R_D.T @ (inside[:, None] * R_D), psi)
        return coef

    step = 1e-6
    rows = np.array(
        [
            w[i] * (solve(w + step * e) - solve(w - step * e)) / (2 * step)
            for i, e in enumerate(np.eye(60))
        ]
    )
    np.testing.assert_allclose(found.covariance("HC0", None), rows.T @ rows, rtol=1e-5)
    sums = np.array([rows[groups == g].sum(axis=0) for g in np.unique(groups)])
    count = len(sums)
    expected = count / (count - 1) * 59 / 58 * sums.T @ sums
    np.testing.assert_allclose(found.covariance("cluster", groups[:, None]), expected, rtol=1e-5)


def test_whole_weights_are_repeated_rows():
    R_y, R_D, rng = heavy(40)
    times = rng.integers(0, 4, size=40)
    weighted = huberize(pooled(R_y, R_D, times.astype(float)), 1.345)
    repeated = huberize(pooled(np.repeat(R_y, times), np.repeat(R_D, times, axis=0)), 1.345)
    np.testing.assert_allclose(weighted.coef, repeated.coef, rtol=1e-7)
    np.testing.assert_allclose(weighted.clip, repeated.clip, rtol=1e-7)


def test_a_large_c_is_least_squares():
    d, Z, y, model = fit(method="dml2")
    result = model.fit(np.column_stack([d, Z]), y).result_
    robust = result.huber(1e6)
    np.testing.assert_allclose(robust.estimate, result.estimate, rtol=1e-10)
    np.testing.assert_allclose(robust.covariance, result.with_vcov("HC1").covariance, rtol=1e-8)


def test_one_outlier_moves_least_squares_and_not_huber():
    rng = np.random.default_rng(1)
    n = 200
    Z = rng.normal(size=(n, 2))
    d = Z[:, 0] + rng.normal(size=n)
    X, y = np.column_stack([d, Z]), 0.5 * d + Z[:, 1] + rng.normal(size=n)
    contaminated = y.copy()
    contaminated[np.argmax(d - Z[:, 0])] += 50
    model = dn.PartiallyLinear([0], LinearRegression(), crossfit=5, random_state=0)
    clean, moved = (model.fit(X, outcome).result_ for outcome in (y, contaminated))
    width = float(np.diff(clean.confint()).item())
    assert abs(moved.estimate[0] - clean.estimate[0]) > width
    assert abs(moved.huber().estimate[0] - clean.huber().estimate[0]) < width / 4


def test_repetitions_clusters_summary_and_files(tmp_path):
    d, Z, y, model = fit(crossfit=(3, 3))
    groups = np.arange(len(y)) % 30
    result = model.fit(np.column_stack([d, Z]), y, groups=groups).result_
    robust = result.huber()
    assert robust.vcov_type == "cluster"
    assert len(robust.regressions) == 3
    assert "Huber's M-estimator, c = 1.345" in robust.summary()
    assert robust.huber(2.0).notes == robust.notes
    robust.save(tmp_path / "result.npz")
    twin = dn.load(tmp_path / "result.npz")
    assert twin.summary() == robust.summary()
    np.testing.assert_array_equal(twin.with_vcov("HC0").covariance, robust.with_vcov("HC0").vcov)
    assert result.huber().trust().verdict in {"ok", "look", "do not trust"}


def test_refusals():
    d, Z, y, model = fit(method="dml2")
    X = np.column_stack([d, Z])
    result = model.fit(X, y).result_
    for c in (0, -1.0, "large", np.inf):
        with pytest.raises(OptionError, match="c to be"):
            result.huber(c)
    for kind in ("iid", "HC2", "HC3"):
        with pytest.raises(CovarianceError, match="Huber"):
            result.huber().with_vcov(kind)
    with pytest.raises(OptionError, match="corrected"):
        result.correct_measurement_error(0.01).huber()
    with pytest.raises(OptionError, match="Huber"):
        result.huber().correct_measurement_error(0.01)
    for method, learner in (("gls", "wide"), ("iv-type", LinearRegression())):
        other = dn.PartiallyLinear([0], learner, method=method, random_state=0).fit(X, y).result_
        with pytest.raises(OptionError, match=method):
            other.huber()


def test_residuals_of_zero_have_no_scale():
    _, R_D, _ = heavy(20, 1)
    with pytest.raises(InputError, match="scale"):
        huberize(pooled(np.zeros(20), R_D), 1.345)


def test_streamed_results_are_refused():
    d, Z, y, _ = fit(n=300)
    frame = pd.DataFrame({"d": d, "z1": Z[:, 0], "z2": Z[:, 1], "y": y})
    model = dn.PartiallyLinear(["d"], dn.TangentNet(width=20), random_state=0)
    streamed = model.fit_stream(frame, outcome="y").result_
    with pytest.raises(CovarianceError, match="streamed"):
        streamed.huber()
