"""The criteria: against direct likelihoods, dense smoothers, real refits and scikit-learn."""

import numpy as np
import pytest
from scipy.linalg import expm, null_space
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct

from debinet.learners.spectral.full import decompose
from debinet.learners.spectral.spectrum import FILTERS
from debinet.learners.spectral.tuning import CRITERIA, gcv, loo, reml, time_grid, tune

N = 30
TIMES = np.array([0.02, 0.3, 5.0])


@pytest.fixture(params=[True, False], ids=["weighted", "equal"])
def case(request):
    rng = np.random.default_rng(4)
    L = rng.normal(size=(N, 6)) * np.array([3, 2, 1, 0.5, 0.2, 0.1])
    K = L @ L.T + 0.1 * np.eye(N)
    s = np.sqrt(rng.uniform(0.2, 2, size=N)) if request.param else np.ones(N)
    M = L @ rng.normal(size=(6, 2)) + rng.normal(size=(N, 2)) / s[:, None]
    return K, s, M


def projected(K, s, M):
    spectrum = decompose(K.copy(), s, 0.0)
    return spectrum, spectrum.project(s[:, None] * M)


def covariance(K, s, time, name):
    """Marginal covariance, up to the noise variance, of the weighted targets' contrasts."""
    A = s[:, None] * K * s
    N_ = null_space(s[None, :])
    A = N_.T @ A @ N_
    return N_, np.eye(N - 1) + time * A if name == "ridge" else expm(time * A)


@pytest.mark.parametrize("name", FILTERS)
def test_reml_is_the_likelihood_of_contrasts(case, name):
    K, s, M = case
    times = TIMES if name == "ridge" else TIMES / 100  # expm must not overflow
    values = reml(*projected(K, s, M), FILTERS[name])(times[:, None])
    direct = np.empty_like(values)
    for g, time in enumerate(times):
        contrasts, C = covariance(K, s, time, name)
        for j in range(2):
            x = contrasts.T @ (s * M[:, j])
            variance = x @ np.linalg.solve(C, x) / (N - 1)
            direct[g, j] = -2 * multivariate_normal(cov=variance * C).logpdf(x)
    # the same up to a constant of N and s
    np.testing.assert_allclose(np.diff(values, axis=0), np.diff(direct, axis=0), rtol=1e-7)
    np.testing.assert_allclose(np.diff(values, axis=1), np.diff(direct, axis=1), rtol=1e-7)


def test_reml_is_the_gaussian_process_with_a_diffuse_intercept(case):
    K, _, M = case
    s = np.ones(N)
    L = np.linalg.cholesky(K)
    spectrum, part = projected(K, s, M[:, :1])
    values = reml(spectrum, part, FILTERS["ridge"])(TIMES[:, None])[:, 0]
    reference = []
    for time in TIMES:
        noise = np.sum(part.T[:, 0] ** 2 / (1 + spectrum.w * time)) / (N - 1)
        kernel = ConstantKernel(time * noise, "fixed") * DotProduct(1e4, "fixed")
        process = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(L, M[:, 0])
        # the diffuse prior contributes log(1e8 time noise): take it back
        likelihood = process.log_marginal_likelihood_value_
        reference.append(-2 * likelihood - np.log(time * noise))
    np.testing.assert_allclose(np.diff(values), np.diff(reference), atol=1e-4)


def smoother(K, s, time, name):
    """Weighted smoother matrix on the scale of the targets, by the definition."""
    A = s[:, None] * K * s
    u = s / np.linalg.norm(s)
    P = np.eye(len(s)) - np.outer(u, u)
    if name == "ridge":
        R = P @ np.linalg.inv(np.eye(len(s)) + time * P @ A @ P) @ P
    else:
        R = P @ expm(-time * P @ A @ P) @ P
    return np.eye(len(s)) - R / s[:, None] * s


def prediction(K, s, M, time, name, train, test):
    """Fit on `train` from scratch and predict `test`."""
    k, t = K[np.ix_(train, train)], s[train]
    A = t[:, None] * k * t
    u = t / np.linalg.norm(t)
    P = np.eye(len(t)) - np.outer(u, u)
    x = t[:, None] * M[train]
    if name == "ridge":
        dual = P @ np.linalg.solve(P @ A @ P + np.eye(len(t)) / time, P @ x)
    else:
        w, E = np.linalg.eigh(P @ A @ P)
        dual = P @ E @ ((-np.expm1(-time * w) / np.where(w == 0, 1, w))[:, None] * (E.T @ P @ x))
    dual = t[:, None] * dual
    intercept = np.average(M[train] - k @ dual, axis=0, weights=t**2)
    return intercept + K[np.ix_(test, train)] @ dual


@pytest.mark.parametrize("name", FILTERS)
def test_gcv_is_its_definition(case, name):
    K, s, M = case
    values = gcv(*projected(K, s, M), FILTERS[name])(TIMES[:, None])
    for g, time in enumerate(TIMES):
        S = smoother(K, s, time, name)
        rss = ((s[:, None] * (M - S @ M)) ** 2).sum(axis=0)
        np.testing.assert_allclose(values[g], N * rss / np.trace(np.eye(N) - S) ** 2, rtol=1e-8)


@pytest.mark.parametrize("name", FILTERS)
def test_loo_is_the_error_of_real_refits(case, name):
    K, s, M = case
    values = loo(*projected(K, s, M), FILTERS[name])(TIMES[:, None])
    for g, time in enumerate(TIMES):
        rows = np.arange(N)
        error = np.vstack(
            [
                s[i] * (M[i] - prediction(K, s, M, time, name, rows[rows != i], [i]))
                for i in range(N)
            ]
        )
        np.testing.assert_allclose(values[g], (error**2).mean(axis=0), rtol=1e-8)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", FILTERS)
def test_tuning_finds_the_minimum(case, criterion, name):
    spectrum, part = projected(*case)
    value = CRITERIA[criterion](spectrum, part, FILTERS[name])
    tuned = tune(value, time_grid(spectrum.w))
    for j in range(2):
        assert tuned.time[j] > 0.0
        centre, end = np.log(tuned.time[j]), np.log(tuned.grid[-1])
        reference = minimize_scalar(
            lambda x, j=j: value(np.full((1, 2), np.exp(x)))[0, j],
            bounds=(centre - 0.3, min(centre + 0.3, end)),
            method="bounded",
        )
        # a minimum is flat: 1e-5 in log time is about 1e-10 in the value
        assert tuned.value[j] <= reference.fun + 1e-8 * abs(reference.fun)
    assert np.all(tuned.value <= tuned.curve.min(axis=0))


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("name", FILTERS)
def test_no_time_and_all_time_are_finite_or_bad(case, criterion, name):
    spectrum, part = projected(*case)
    value = CRITERIA[criterion](spectrum, part, FILTERS[name])(time_grid(spectrum.w)[:, None])
    assert not np.isnan(value).any()
    assert np.isfinite(value[0]).all()
    np.testing.assert_allclose(value[0], value[1], rtol=2e-3)  # a thousandth of a degree of freedom


def test_pure_noise_gets_the_mean_and_no_noise_gets_everything():
    rng = np.random.default_rng(8)
    L = rng.normal(size=(200, 3))
    spectrum = decompose(L @ L.T, np.ones(200), 0.0)
    # a direction in which nothing happens: REML's best signal variance is exactly 0
    flat = spectrum.project(spectrum.V @ np.ones((199, 1)))
    value = reml(spectrum, flat, FILTERS["ridge"])
    assert tune(value, time_grid(spectrum.w)).time[0] == 0.0
    exact = spectrum.project(L @ rng.normal(size=(3, 1)))
    grid = time_grid(spectrum.w)
    tuned = tune(reml(spectrum, exact, FILTERS["ridge"]), grid)
    assert tuned.time[0] == pytest.approx(grid[-1], rel=0.1)
