"""The joint model: against dense matrices, its special cases, and where it matters."""

import numpy as np
import pandas as pd
import pytest

import debinet as dn
from debinet.learners.inputs import column_moments
from debinet.learners.spectral import prepared
from debinet.learners.spectral.full import decompose
from debinet.learners.spectral.joint import fit_joint, make_joint
from debinet.learners.spectral.lowrank import decompose_features
from debinet.learners.spectral.mixed import expected_bias, fit_mixed
from debinet.learners.wide.input_map import InputMap
from debinet.learners.wide.kernels import Architecture, kernel_matrix

N = 60


class Problem:
    """Weighted columns, their kernel as a dense matrix, and the same kernel decomposed."""

    def __init__(self, kind, weighted, related=True):
        rng = np.random.default_rng(2)
        Z, w = rng.normal(size=(N, 3)), rng.uniform(0.5, 2, N) if weighted else np.ones(N)
        g = np.column_stack([np.sin(2 * Z[:, 0]), np.abs(Z[:, 1])])
        D = related * g + 0.5 * rng.normal(size=(N, 2))
        y = D @ [1.0, -0.5] + 2 * g.sum(axis=1) + 0.5 * rng.normal(size=N)
        M, root = np.column_stack([y, D]), np.sqrt(w)
        self.X = root[:, None] * column_moments(M, w).standardize(M)
        self.u = root / np.linalg.norm(root)
        if kind == "full":
            encoded = InputMap(column_moments(Z, w)).encode(Z)
            K = kernel_matrix(encoded, encoded, Architecture(1, "erf"), 1.0)
            self.A = root[:, None] * K * root
            self.spectrum = decompose(K.copy(), root, 1.0)
        else:
            F = root[:, None] * np.column_stack([np.sin(Z + k) for k in range(4)])
            self.A = F @ F.T
            F -= np.outer(self.u, self.u @ F)
            (self.spectrum,) = decompose_features(F, 12, (0.0,), self.u[:, None], 1.0)

    @property
    def contrasts(self):
        return make_joint(self.spectrum, self.spectrum.project(self.X))

    def smoothers(self):
        """`S_D` of each treatment, at the penalties that the contrasts imply."""
        P = np.eye(N) - np.outer(self.u, self.u)
        A, top = P @ self.A @ P, int(self.spectrum.w.argmax())
        share = self.contrasts.share[top]
        times = share / (1 - share) / self.spectrum.w[top]
        return [A @ np.linalg.inv(np.eye(N) / t + A) for t in times]

    def smooths(self):
        """`H = S_D D`."""
        pairs = zip(self.smoothers(), self.X[:, 1:].T, strict=True)
        return np.column_stack([S @ d for S, d in pairs])

    def treatment_noise(self):
        """Variances of the treatments' noise by restricted likelihood."""
        pairs = zip(self.smoothers(), self.X[:, 1:].T, strict=True)
        return np.array([d @ (d - S @ d) / (N - 1) for S, d in pairs])

    def prior(self, time, ratio, unknown=(0.0, 0.0)):
        """The covariance of f, in units of that of the noise.

        With `unknown` times the covariance of what is not known of each conditional mean.
        """
        H, u = self.smooths(), self.u
        tau = ratio * time * (np.trace(self.A) - u @ self.A @ u) / (H**2).sum()
        rest = sum(c * S for c, S in zip(unknown, self.smoothers(), strict=True))
        return time * self.A + tau * H @ H.T + rest

    def dense(self, time, ratio, unknown=(0.0, 0.0)):
        """Criterion by determinants of contrasts, coefficients by generalized least squares."""
        C = np.linalg.qr(np.column_stack([self.u, np.eye(N)[:, 1:]]))[0][:, 1:]
        S = C.T @ (np.eye(N) + self.prior(time, ratio, unknown)) @ C
        y, D = C.T @ self.X[:, 0], C.T @ self.X[:, 1:]
        gram = D.T @ np.linalg.solve(S, D)
        coef = np.linalg.solve(gram, D.T @ np.linalg.solve(S, y))
        e = y - D @ coef
        rss, count = e @ np.linalg.solve(S, e), N - 1 - D.shape[1]
        logarithms = np.linalg.slogdet(S)[1] + np.linalg.slogdet(gram)[1]
        value = count * np.log(rss) + logarithms + 2 * np.log1p(ratio)
        return value, coef, np.sqrt(rss / count)


def unknown_of(contrasts):
    """Factors of the covariances of what is not known of the conditional means."""
    return np.linalg.lstsq(contrasts.share, contrasts.unknown, rcond=None)[0]


every_problem = pytest.mark.parametrize(
    ("kind", "weighted"), [(k, w) for k in ("full", "low rank") for w in (False, True)]
)


@every_problem
def test_equals_dense_matrices(kind, weighted):
    made = Problem(kind, weighted)
    contrasts, time, ratio, point = made.contrasts.best()
    unknown = unknown_of(contrasts)
    assert ratio > 0.01
    assert unknown.min() > 0.01
    for factor in (1.0, 0.1, 30.0):
        for at in (ratio, 0.0, 0.03, 50.0):
            value, _, _ = made.dense(factor * time, at)
            assert made.contrasts.at(factor * time, at).value == pytest.approx(value, abs=1e-7)
            value, _, _ = made.dense(factor * time, at, unknown)
            assert contrasts.at(factor * time, at).value == pytest.approx(value, abs=1e-7)
    value, coef, noise = made.dense(time, ratio, unknown)
    found = fit_joint([made.spectrum], made.X)
    assert point.value == pytest.approx(value, abs=1e-7)
    np.testing.assert_allclose(found.coef, coef, rtol=1e-8)
    np.testing.assert_allclose(found.noise, noise, rtol=1e-8)
    np.testing.assert_allclose(found.rows.T @ made.X[:, 0], coef, rtol=1e-8)
    np.testing.assert_allclose(found.rows.T @ made.X[:, 1:], np.eye(2), atol=1e-9)
    np.testing.assert_allclose(found.rows.T @ made.u, 0, atol=1e-9)


@every_problem
def test_what_is_not_known_of_the_conditional_means(kind, weighted):
    """By the best linear prediction of rho from dense matrices, and REML noise of D."""
    made = Problem(kind, weighted)
    time, ratio = 2.0, 0.7
    contrasts = made.contrasts
    _, coef, noise = made.dense(time, ratio)
    H, u = made.smooths(), made.u
    tau = ratio * time * (np.trace(made.A) - u @ made.A @ u) / (H**2).sum()
    C = np.linalg.qr(np.column_stack([u, np.eye(N)[:, 1:]]))[0][:, 1:]
    S = C.T @ (np.eye(N) + made.prior(time, ratio)) @ C
    rho = tau * (C.T @ H).T @ np.linalg.solve(S, C.T @ (made.X[:, 0] - made.X[:, 1:] @ coef))
    point = contrasts.at(time, ratio)
    np.testing.assert_allclose(point.rho, rho, rtol=1e-7)
    expected = rho**2 * made.treatment_noise() / noise**2
    np.testing.assert_allclose(unknown_of(contrasts.informed(point)), expected, rtol=1e-6)


@every_problem
def test_the_expected_bias_is_that_of_the_prior(kind, weighted):
    made = Problem(kind, weighted)
    contrasts, time, ratio, _ = made.contrasts.best()
    found = fit_joint([made.spectrum], made.X)
    sd = np.array([2.0, 0.3])
    bias = expected_bias(found.spread, found.rows.T @ found.rows, found.noise, sd)
    rows = found.noise * found.rows / sd
    prior = made.prior(time, ratio, unknown_of(contrasts))
    np.testing.assert_allclose(bias, rows.T @ prior @ rows, rtol=1e-6, atol=1e-9)
    assert np.linalg.eigvalsh(bias).min() > -1e-15


@every_problem
@pytest.mark.parametrize("related", [True, False])
def test_no_parameters_are_better(kind, weighted, related):
    """On a grid over all of the range that is searched; penalties are found to 1e-3 at least."""
    contrasts, time, ratio, point = Problem(kind, weighted, related).contrasts.best()
    times = time * np.logspace(-5, 5, 81)
    values = [[contrasts.at(t, r).value for t in times] for r in (0.0, *np.logspace(-6, 6, 61))]
    assert np.min(values) > point.value - 1e-4
    for r in (ratio * 1.01, ratio / 1.01):
        assert contrasts.at(time, r).value >= point.value - 1e-7


def test_many_designs_have_no_better_parameters():
    """Also where the search starts far from its end."""
    for seed in range(5):
        data = dn.datasets.make_shared_functions(80, random_state=seed)
        Z = data.X.drop(columns="d1").to_numpy()
        M = np.column_stack([data.y, data.X["d1"]])
        net = dn.WideNet(activation="erf", relevance="equal", skip=1.0).prepare(Z, M)
        spectrum = net.spectra[0]
        contrasts = make_joint(
            spectrum, spectrum.project(column_moments(M, np.ones(80)).standardize(M))
        )
        contrasts, time, _, point = contrasts.best()
        values = [
            contrasts.at(t, r).value
            for t in time * np.logspace(-4, 4, 41)
            for r in np.logspace(-5, 5, 31)
        ]
        assert np.min(values) > point.value - 1e-4


@every_problem
def test_where_the_search_ends_does_not_depend_on_rounding(kind, weighted):
    """Values of the criterion have thirteen digits, its minimum by them alone only six."""
    made, rng = Problem(kind, weighted), np.random.default_rng(0)
    coefs = [
        fit_joint([made.spectrum], made.X * (1 + 1e-15 * rng.normal(size=made.X.shape))).coef
        for _ in range(6)
    ]
    np.testing.assert_allclose(coefs, [coefs[0]] * 6, rtol=1e-11)


@every_problem
def test_unrelated_functions_are_the_mixed_model(kind, weighted):
    """At a ratio of 0, and where treatments have no smooth part, the estimate is that of gls."""
    made = Problem(kind, weighted)
    contrasts = made.contrasts
    for time in (0.01, 1.0, 100.0):
        point = contrasts.at(time, 0.0)
        _, gram, moment, _ = contrasts.plain.solve(time)
        np.testing.assert_allclose(point.gram, gram, rtol=1e-10)
        np.testing.assert_allclose(point.moment, moment, rtol=1e-10)
        assert point.value == pytest.approx(contrasts.plain.criterion(time), rel=1e-12)
    X = made.X.copy()
    # treatments in the weakest directions of the kernel, or, of few, in none
    weakest = np.arange(made.spectrum.w.size) < (2 if kind == "full" else 0)
    noise = made.spectrum.residual(X[:, 1:], weakest[:, None] * 1.0)
    X[:, 1:] = noise / np.sqrt((noise**2).mean(axis=0))
    joint, plain = (fit([made.spectrum], X) for fit in (fit_joint, fit_mixed))
    np.testing.assert_allclose(joint.coef, plain.coef, rtol=1e-10)
    np.testing.assert_allclose(joint.rows, plain.rows, atol=1e-10)
    assert joint.noise == pytest.approx(plain.noise, rel=1e-10)


def rows_and_columns(n=120, seed=0):
    data = dn.datasets.make_shared_functions(n, random_state=seed)
    return data.X.drop(columns="d1").to_numpy(), data.X[["d1"]].to_numpy(), data.y.to_numpy()


NETWORKS = [
    dn.WideNet(activation="erf"),
    dn.TangentNet(width=40, random_state=0),
    dn.WideNet(relevance="equal"),
]


@pytest.mark.parametrize("net", NETWORKS, ids=str)
def test_units_of_measurement_do_not_matter(net):
    Z, D, y = rows_and_columns()
    prepared = net.prepare(Z, np.column_stack([y, D]))
    plain = prepared.gls(y, D, joint=True)
    moved = prepared.gls(1e5 * y - 7, 1e-3 * D + 2, joint=True)
    np.testing.assert_allclose(moved.coef, 1e8 * plain.coef, rtol=1e-6)
    np.testing.assert_allclose(moved.noise, 1e5 * plain.noise, rtol=1e-6)
    np.testing.assert_allclose(moved.bias, 1e16 * plain.bias, rtol=1e-5)
    # and what D explains is not a matter of the outcome
    shifted = prepared.gls(y + 3 * D[:, 0], D, joint=True)
    assert shifted.coef.shape == (1,)
    np.testing.assert_allclose(shifted.coef, plain.coef + 3, rtol=1e-5)


@pytest.mark.parametrize("net", NETWORKS, ids=str)
def test_rows_of_weight_zero_are_as_good_as_absent(net):
    Z, D, y = rows_and_columns()
    weight = np.random.default_rng(1).uniform(0.5, 2, 120)
    weight[::5] = 0
    kept, M = weight > 0, np.column_stack([y, D])
    zero = net.prepare(Z, M, weight).gls(y, D, joint=True)
    dropped = net.prepare(Z[kept], M[kept], weight[kept]).gls(y[kept], D[kept], joint=True)
    np.testing.assert_allclose(zero.coef, dropped.coef, rtol=1e-10)
    np.testing.assert_allclose(zero.rows[kept], dropped.rows, rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(zero.rows[~kept], 0)
    np.testing.assert_allclose(zero.bias, dropped.bias, rtol=1e-8)


def test_the_coefficient_does_not_depend_on_folds():
    data = dn.datasets.make_shared_functions(150, random_state=0)
    net = dn.WideNet(activation="erf")
    fits = [
        dn.PartiallyLinear(["d1"], net, method="joint", crossfit=c, random_state=0).fit(
            data.X, data.y
        )
        for c in ("loo", 5, (3, 2), None)
    ]
    for fit in fits[1:]:
        np.testing.assert_allclose(fit.coef_, fits[0].coef_, rtol=1e-12)
        for regression in fit.result_.regressions:
            influence = fits[0].result_.regressions[0].influence
            np.testing.assert_allclose(regression.influence, influence, rtol=1e-10)


def test_auto_is_the_joint_model_for_smooth_networks_only():
    data = dn.datasets.make_shared_functions(120, random_state=0)
    for learner, crossfit, method in (
        ("wide", "auto", "joint"),
        (dn.WideNet(activation="erf"), 5, "joint"),
        (dn.TangentNet(width=30), "auto", "joint"),
        (dn.TangentNet(width=30, features="units"), "auto", "structured"),
        (dn.WideNet(activation="erf", tune="gcv"), "auto", "structured"),
        (dn.WideNet(), "auto", "structured"),
        ("lasso", "auto", "structured"),
    ):
        model = dn.PartiallyLinear(["d1"], learner, crossfit=crossfit, random_state=0)
        assert model.fit(data.X, data.y).result_.provenance.method == method


def test_shared_functions_bias_the_joint_model_less():
    """Errors of `structured` are two standard errors and more here (METHODS, section 1)."""
    errors = {"joint": [], "structured": []}
    for seed in range(3):
        data = dn.datasets.make_shared_functions(500, random_state=seed)
        for method, found in errors.items():
            fit = dn.PartiallyLinear(["d1"], method=method).fit(data.X, data.y)
            found.append(abs(fit.coef_[0] - 1.0))
    assert np.mean(errors["joint"]) < np.mean(errors["structured"])


@pytest.mark.parametrize("method", ["joint", "gls"])
@pytest.mark.parametrize("weighted", [False, True])
def test_covariances_are_their_formulas(method, weighted):
    data = dn.datasets.make_smooth_nonlinear(150, random_state=0)
    rng = np.random.default_rng(0)
    weight = np.r_[np.zeros(10), rng.uniform(0.5, 2, 140)] if weighted else np.ones(150)
    firm = rng.integers(0, 20, 150)
    names = list(data.truth.index)
    model = dn.PartiallyLinear(names, dn.WideNet(activation="erf"), method=method)
    result = model.fit(
        data.X, data.y, groups=firm, sample_weight=weight if weighted else None
    ).result_
    alone = model.fit(data.X, data.y, sample_weight=weight if weighted else None).result_
    solved, q = result.regressions[0], len(names)
    n, used = int((weight > 0).sum()), weight > 0
    A, e, s2 = solved.influence[used], solved.residuals[used], solved.noise**2
    w = weight[used]
    np.testing.assert_allclose(solved.influence.T @ data.y.to_numpy(), result.estimate, rtol=1e-9)
    HC0 = A.T @ np.diag(e**2) @ A
    h = (A * solved.R_D[used]).sum(axis=1).clip(0, 1)
    # groups change the folds, hence the residuals, but not the coefficients
    np.testing.assert_allclose(alone.estimate, result.estimate, rtol=1e-12)
    expected = {
        "HC0": HC0,
        "HC1": n / (n - q) * HC0,
        "HC2": A.T @ np.diag(e**2 / (1 - h)) @ A,
        "HC3": A.T @ np.diag((e / (1 - h)) ** 2) @ A,
        "iid": s2 * A.T @ np.diag(1 / w) @ A,
    }
    for kind, by_hand in expected.items():
        np.testing.assert_allclose(result.with_vcov(kind).vcov, by_hand, rtol=1e-9)
    restored = np.copysign(np.sqrt(e**2 + s2 * h / w), e)
    for kind, terms, bias in (("cluster", A * e[:, None], 0), ("full", A * restored[:, None], 1)):
        sums = pd.DataFrame(terms).groupby(firm[used]).sum().to_numpy()
        count = len(sums)
        by_hand = count / (count - 1) * (n - 1) / (n - q) * sums.T @ sums + bias * solved.bias
        np.testing.assert_allclose(result.with_vcov(kind).vcov, by_hand, rtol=1e-9)
    e = alone.regressions[0].residuals[used]
    h = (A * alone.regressions[0].R_D[used]).sum(axis=1).clip(0, 1)
    full = A.T @ np.diag(e**2 + s2 * h / w) @ A + solved.bias
    np.testing.assert_allclose(alone.with_vcov("full").vcov, full, rtol=1e-9)
    assert np.linalg.eigvalsh(solved.bias).min() >= -1e-12 * np.abs(solved.bias).max()
    assert (np.diag(solved.bias) > 0).all()


def heavy(seed):
    """Smooth f, and five rows whose outcome lies far out."""
    rng = np.random.default_rng(seed)
    Z, v = rng.normal(size=(300, 3)), rng.normal(size=300)
    s = np.sin(Z[:, 0])
    y = s + v + s + 0.5 * rng.normal(size=300)
    y[:5] += 40.0 * rng.choice([-1.0, 1.0], size=5)
    X = pd.DataFrame(np.column_stack([s + v, Z]), columns=["d", "z1", "z2", "z3"])
    return X, y


@pytest.mark.parametrize("method", ["joint", "gls", "structured"])
def test_a_few_outliers_do_not_choose_the_penalties(method):
    X, y = heavy(0)
    clean = y.copy()
    clean[:5] = np.clip(y[:5], -4, 4)
    learner = dn.WideNet(activation="erf", relevance="equal")
    fits = [dn.PartiallyLinear(["d"], learner, method=method).fit(X, one) for one in (y, clean)]
    dof = [fit._fitted.means[0].joint.fits[0].models[0].dof_[0] for fit in fits]
    assert dof[0] < 30
    assert dof[0] == pytest.approx(dof[1], rel=0.6)


def test_without_outliers_nothing_is_cut(monkeypatch):
    X, y, _ = dn.datasets.make_shared_functions(n=150, random_state=0)
    learner = dn.WideNet(activation="erf", relevance="equal")
    first = dn.PartiallyLinear(["d1"], learner).fit(X, y).coef_
    monkeypatch.setattr(prepared, "_FAR", np.inf)
    np.testing.assert_array_equal(dn.PartiallyLinear(["d1"], learner).fit(X, y).coef_, first)
