"""Effects in every row: against brute force, refits, Monte Carlo, and scikit-learn's processes."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import DotProduct, WhiteKernel

import debinet as dn
from debinet.exceptions import InputError, OptionError, UnknownColumnError
from debinet.inference.chi2_mixture import mixture_pvalue
from debinet.inference.effect_surface import _left_out, fit_surface, score_test

# A variance at which a prior says nothing, and small enough for differences to keep digits.
FLAT = 1e5


def columns(n=60, r=4, q=2, seed=0):
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(n, r))
    phi -= phi.mean(axis=0)
    R_D = rng.normal(size=(n, q))
    R_y = R_D @ np.ones(q) + R_D[:, 0] * (phi @ rng.normal(size=r)) + rng.normal(size=n)
    return R_y, R_D, phi, rng


@pytest.mark.parametrize("weights", [np.ones(6), 0.5 ** np.arange(8), np.array([1.0])])
@pytest.mark.parametrize("level", [0.5, 0.1, 0.01])
def test_mixture_of_chi_squared_variables_against_draws(weights, level):
    """Equal weights are exact; others within Monte Carlo error and 3 % of the level."""
    draws = np.random.default_rng(0).chisquare(1, size=(200_000, weights.size)) @ weights
    found = mixture_pvalue(float(np.quantile(draws, 1 - level)), weights)
    assert abs(found - level) < 0.03 * level + 4 * np.sqrt(level / 200_000)
    exact = stats.chi2.sf(7.0, 6)
    np.testing.assert_allclose(mixture_pvalue(7.0, np.ones(6)), exact, rtol=1e-10)


def test_the_surface_is_a_bayesian_regression_with_each_row_left_out():
    R_y, R_D, phi, rng = columns()
    w = rng.uniform(0.5, 2.0, size=60)
    found = fit_surface(R_y, R_D, 0, phi, w)
    size = (w @ (phi**2).sum(axis=1)) / w.sum()
    prior = found.variance / size
    for i in (0, 17, 59):
        used = np.arange(60) != i
        K = prior * np.outer(R_D[:, 0], R_D[:, 0]) * (phi @ phi.T) + FLAT * (R_D @ R_D.T)
        V = K + np.diag(found.noise / w)
        cross = prior * (phi[i] @ phi.T) * R_D[:, 0] + FLAT * R_D[:, 0]
        inverse = np.linalg.inv(V[np.ix_(used, used)])
        np.testing.assert_allclose(found.mean[i], cross[used] @ inverse @ R_y[used], rtol=1e-4)
        own = prior * phi[i] @ phi[i] + FLAT
        variance = own - cross[used] @ inverse @ cross[used]
        np.testing.assert_allclose(found.se[i] ** 2, variance, rtol=1e-3)


def test_the_size_of_the_effect_maximizes_the_likelihood_of_scikit_learns_process():
    """Without a constant to project out: D is orthogonal to the products by construction."""
    rng = np.random.default_rng(3)
    phi = rng.normal(size=(200, 1))
    phi -= phi.mean(axis=0)
    R_D = np.ones((200, 1))
    y = 1.0 + 0.7 * phi[:, 0] + rng.normal(size=200)
    found = fit_surface(y, R_D, 0, phi, np.ones(200))
    kernel = DotProduct(1e-8, "fixed") * 1.0 + WhiteKernel(1.0)
    peer = GaussianProcessRegressor(kernel, n_restarts_optimizer=3, random_state=0)
    peer.fit(phi, y - y.mean())
    scale = peer.kernel_.k1.k2.constant_value * (phi**2).mean()
    # Maximum likelihood, where ours is restricted: they differ by a share of about 1/n.
    np.testing.assert_allclose(found.noise, peer.kernel_.k2.noise_level, rtol=0.02)
    np.testing.assert_allclose(found.variance, scale, rtol=0.02)


def test_leaving_out_is_refitting():
    R_y, R_D, phi, _ = columns()
    both = np.hstack([R_D, R_D[:, [0]] * phi])
    own = np.hstack([np.ones((60, 1)), np.zeros((60, 1)), phi])
    penalty = np.array([0.0, 0.0, 3.0, 3.0, 3.0, 3.0])
    found = _left_out(R_y, both, own, penalty, noise=1.0, variance=1.0)
    for i in (0, 30):
        used = np.arange(60) != i
        G = np.linalg.inv(both[used].T @ both[used] + np.diag(penalty))
        np.testing.assert_allclose(found.mean[i], own[i] @ G @ both[used].T @ R_y[used])
        np.testing.assert_allclose(found.se[i] ** 2, own[i] @ G @ own[i])


def test_the_score_is_the_quadratic_form_and_noise_is_uniform():
    rng = np.random.default_rng(0)
    phi = rng.normal(size=(300, 20)) * 0.8 ** np.arange(20)
    phi -= phi.mean(axis=0)
    R_D = rng.normal(size=(300, 1))
    pvalues = []
    for _ in range(400):
        y = R_D[:, 0] + rng.normal(size=300) * (1 + 0.5 * np.abs(phi[:, 0]))
        e = y - R_D[:, 0] * (R_D[:, 0] @ y) / (R_D[:, 0] @ R_D[:, 0])
        pvalues.append(score_test(e, R_D, 0, phi, np.ones(300)))
    # A uniform p-value fails this with probability 0.001.
    assert stats.kstest(pvalues, "uniform").pvalue > 0.001
    rejected = np.mean(np.array(pvalues) < 0.05)
    low, high = stats.binom.ppf([0.0005, 0.9995], 400, 0.05) / 400
    assert low <= rejected <= high


def design(n=400, varying=1.0, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3))
    d = Z[:, 0] + rng.normal(size=n)
    y = d * (1 + varying * np.sin(1.5 * Z[:, 0])) + Z[:, 1] + rng.normal(size=n)
    return pd.DataFrame(np.column_stack([d, Z]), columns=["d", "a", "b", "c"]), y


def test_an_effect_that_varies_is_found_and_calibrated(tmp_path):
    X, y = design()
    model = dn.PartiallyLinear("d", random_state=0).fit(X, y)
    effects = model.individual_effects()
    truth = 1 + np.sin(1.5 * X["a"])
    assert effects.score_pvalue < 1e-4
    assert np.sqrt(np.mean((effects.to_frame()["effect"] - truth) ** 2)) < 0.5 * truth.std()
    interval = effects.calibration().confint(0.999)
    assert ((interval["lower"] < 1) & (interval["upper"] > 1)).all()
    effects.save(tmp_path / "effects.npz")
    assert dn.load(tmp_path / "effects.npz").summary() == effects.summary()
    assert len(effects.plot().lines) == 3
    model.save(tmp_path / "model.npz")
    loaded = dn.load(tmp_path / "model.npz")
    with pytest.raises(InputError, match="files of models"):
        loaded.individual_effects()
    again = loaded.individual_effects(X=X, y=y)
    pd.testing.assert_frame_equal(again.to_frame(), effects.to_frame())


def test_one_effect_for_all_is_nearly_constant():
    X, y = design(varying=0.0)
    effects = dn.PartiallyLinear("d", random_state=0).fit(X, y).individual_effects()
    assert effects.score_pvalue > 0.01
    assert effects.to_frame()["effect"].std() < 0.15
    assert "score test" in effects.summary()


def test_several_treatments_are_named_and_clusters_count():
    X, y = design()
    groups = np.arange(400) // 4
    model = dn.PartiallyLinear(["d", "c"], "linear", random_state=0).fit(X, y, groups=groups)
    with pytest.raises(OptionError, match="one of 2 treatments"):
        model.individual_effects()
    with pytest.raises(UnknownColumnError, match="names of treatments"):
        model.individual_effects("a")
    effects = model.individual_effects("d")
    assert effects.calibration().vcov_type == "cluster"
    assert effects.score_pvalue < 1e-3
    assert model.individual_effects("c").score_pvalue > 1e-3
