"""The correction of Theorem 2 against its formula, brute force and cases where it is zero."""

import numpy as np
import pandas as pd
import pytest

import debinet as dn
from debinet.exceptions import CovarianceError, InputError, OptionError


def noisy(n=400, q=3, sigma2=0.4, seed=0):
    """Treatments with errors that a learner would have made: the rows are residuals already."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, q)) @ (np.eye(q) + 0.3 * np.eye(q, k=1))
    y = X @ np.array([1.0, -0.5, 2.0])[:q] + rng.normal(size=n)
    return pd.DataFrame(X + np.sqrt(sigma2) * rng.normal(size=(n, q))), y


def fit(D, y, **options):
    """Only means are partialled out."""
    model = dn.PartiallyLinear(list(range(D.shape[1])), "mean", crossfit=None, method="robinson")
    return model.fit(np.asarray(D), y, **options).result_


def test_is_the_formula_of_the_theorem():
    D, y = noisy()
    plain = fit(D, y)
    centred = (D - D.mean()).to_numpy()
    R = 0.4 * np.linalg.inv(centred.T @ centred / len(D))
    expected = np.linalg.solve(np.eye(3) - R, plain.estimate)
    corrected = plain.correct_measurement_error(0.4)
    np.testing.assert_allclose(corrected.estimate, expected, rtol=1e-12)
    each = plain.correct_measurement_error([0.4, 0.4, 0.4])
    np.testing.assert_array_equal(each.estimate, corrected.estimate)
    assert "independent" in corrected.summary()
    assert "mean squared error x0 0.4" in corrected.summary()
    assert (np.abs(corrected.estimate) > np.abs(plain.estimate)).any()


def test_covariance_is_the_infinitesimal_jackknife():
    """Derivatives of the estimate with respect to the weight of each row, by differences."""
    D, y = noisy(60)
    centred, error = (D - D.mean()).to_numpy(), np.diag([0.1, 0.2, 0.3])
    outcome = y - y.mean()

    def estimate(w):
        S = centred.T @ (w[:, None] * centred)
        return np.linalg.solve(S - w.sum() * error, centred.T @ (w * outcome))

    ones, step = np.ones(60), 1e-6
    rows = [
        (estimate(ones + step * e) - estimate(ones - step * e)) / (2 * step) for e in np.eye(60)
    ]
    expected = np.array(rows).T @ np.array(rows)
    corrected = fit(D, y).correct_measurement_error([0.1, 0.2, 0.3])
    # central differences with steps of 1e-6 are right to 1e-8 or so
    np.testing.assert_allclose(corrected.with_vcov("HC0").covariance, expected, rtol=1e-6)
    np.testing.assert_allclose(corrected.covariance, expected * 60 / 56, rtol=1e-6)
    assert corrected.vcov_type == "HC1"


def test_no_error_no_correction():
    D, y = noisy()
    plain = fit(D, y)
    same = plain.correct_measurement_error(0.0)
    np.testing.assert_allclose(same.estimate, plain.estimate, rtol=1e-12)
    np.testing.assert_allclose(same.covariance, plain.with_vcov("HC1").covariance, rtol=1e-10)


def test_clusters_weights_and_files(tmp_path):
    D, y = noisy()
    groups = np.arange(400) // 4
    clustered = fit(D, y, groups=groups).correct_measurement_error(0.3)
    assert clustered.vcov_type == "cluster"
    own = fit(D, y).correct_measurement_error(0.3).with_vcov("cluster", groups=np.arange(400))
    # one row per cluster is HC0 with the correction of clusters
    hc0 = fit(D, y).correct_measurement_error(0.3).with_vcov("HC0").covariance
    np.testing.assert_allclose(own.covariance, hc0 * 400 / 399 * 399 / 396, rtol=1e-10)
    weight = np.r_[np.zeros(50), np.ones(200), np.full(150, 2.0)]
    copies = np.repeat(np.arange(400), weight.astype(int))
    weighted = fit(D, y, sample_weight=weight).correct_measurement_error(0.3)
    repeated = fit(D.iloc[copies], y[copies]).correct_measurement_error(0.3)
    np.testing.assert_allclose(weighted.estimate, repeated.estimate, rtol=1e-10)
    clustered.save(tmp_path / "result.npz")
    loaded = dn.load(tmp_path / "result.npz")
    assert loaded.summary() == clustered.summary()
    np.testing.assert_array_equal(
        loaded.with_vcov("HC0").covariance, clustered.with_vcov("HC0").covariance
    )


def test_the_wide_network_says_how_large_its_error_is():
    data = dn.datasets.make_waves(400, random_state=0)
    model = dn.PartiallyLinear(list(data.truth.index), method="robinson").fit(data.X, data.y)
    corrected = model.result_.correct_measurement_error()
    error = np.diag(corrected.regressions[0].error)
    held = (model.result_.regressions[0].R_D ** 2).mean(axis=0)
    assert ((error > 0) & (error < held)).all()
    assert "from the learner" in corrected.summary()


def test_refuses():
    D, y = noisy()
    plain = fit(D, y)
    for sigma2 in (-1.0, np.nan, [0.1, 0.2], "much", np.inf):
        with pytest.raises(OptionError, match="sigma2"):
            plain.correct_measurement_error(sigma2)
    with pytest.raises(OptionError, match="WideNet"):
        plain.correct_measurement_error()
    with pytest.raises(InputError, match="smaller"):
        plain.correct_measurement_error(1.5)
    for kind in ("iid", "HC2", "HC3"):
        with pytest.raises(CovarianceError, match="HC1"):
            plain.correct_measurement_error(0.1).with_vcov(kind)
    data = dn.datasets.make_waves(100, random_state=0)
    structured = dn.PartiallyLinear(list(data.truth.index)).fit(data.X, data.y).result_
    with pytest.raises(OptionError, match="robinson"):
        structured.correct_measurement_error(0.1)
    with pytest.raises(OptionError, match="not corrected yet"):
        plain.correct_measurement_error(0.1).correct_measurement_error(0.1)


@pytest.mark.parametrize("learner", ["wide", dn.SplineSmoother()], ids=str)
def test_the_learners_own_error_does_not_depend_on_the_scale_of_weights(learner):
    data = dn.datasets.make_waves(300, random_state=0)
    found = [
        dn.PartiallyLinear(list(data.truth.index), learner, method="robinson")
        .fit(data.X, data.y, sample_weight=np.full(300, scale))
        .result_.correct_measurement_error()
        .estimate
        for scale in (1.0, 10.0, 0.1)
    ]
    # penalties are found again for each scale, to a tolerance of their own
    np.testing.assert_allclose(found, np.tile(found[0], (3, 1)), rtol=1e-3)
