"""The desparsified Lasso against its definition, its limits, and what it refuses."""

import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import Lasso, LassoCV, LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from debinet import exceptions
from debinet.desparsified import compiling, penalties
from debinet.desparsified.dense import solve_dense
from debinet.desparsified.gram import gram_matrix, shuffled_folds, training_gram
from debinet.desparsified.kernels import largest_correlation, regress_columns
from debinet.desparsified.lasso import fit_lasso, scaled_lasso
from debinet.desparsified.nodewise import project
from debinet.learners.progress import Progress
from debinet.models import debiased_lasso
from debinet.models.debiased_lasso import DebiasedLasso
from debinet.selection.problem import read_problem


def autoregressive(n, p, seed=0, correlation=0.5, active=3):
    """Columns of very different scales and means, none centred."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    y = 3 + X[:, :active].sum(axis=1) + rng.normal(size=n)
    return X * np.geomspace(0.01, 100, p) + np.linspace(-5, 5, p), y


def textbook(X, y, penalty, nodewise):
    """Van de Geer et al. (2014), column by column, with scikit-learn's Lasso."""
    scale = X.std(axis=0)
    S, centred = (X - X.mean(axis=0)) / scale, y - y.mean()
    tight = {"fit_intercept": False, "tol": 1e-14, "max_iter": 1_000_000}
    t = Lasso(penalty, **tight).fit(S, centred).coef_
    e = centred - S @ t
    coef, rows = np.empty(len(scale)), np.empty(S.shape)
    for j in range(len(scale)):
        others = np.delete(S, j, axis=1)
        z = S[:, j] - others @ Lasso(nodewise, **tight).fit(others, S[:, j]).coef_
        rows[:, j] = z / (z @ S[:, j])
        coef[j] = t[j] + rows[:, j] @ e
    return coef / scale, rows / scale, e, t / scale


@pytest.mark.parametrize(("n", "p"), [(60, 90), (60, 20), (40, 40)])
@pytest.mark.parametrize("nodewise", [0.3, 0.1])
def test_estimates_and_covariances_equal_the_definition(n, p, nodewise):
    """To 1e-6 of the standard error; scikit-learn stops at a relative duality gap of 1e-14."""
    X, y = autoregressive(n, p)
    model = DebiasedLasso(0.2, nodewise, projection="exact", noise=1.5).fit(X, y)
    coef, A, e, t = textbook(X, y, 0.2, nodewise)
    se = 1.5 * np.sqrt((A**2).sum(axis=0))
    np.testing.assert_allclose((model.coef_ - coef) / se, 0, atol=1e-6)
    np.testing.assert_allclose(model.lasso_coef_ * X.std(axis=0), t * X.std(axis=0), atol=1e-6)
    np.testing.assert_allclose(model.result_.se, se, rtol=1e-6)
    np.testing.assert_allclose(
        model.result_.covariance / np.outer(se, se), 1.5**2 * A.T @ A / np.outer(se, se), atol=1e-6
    )
    robust = model.result_.with_vcov("full")
    np.testing.assert_allclose(robust.se, np.sqrt((A**2 * e[:, None] ** 2).sum(axis=0)), rtol=1e-5)
    again = robust.with_vcov("iid")
    np.testing.assert_array_equal(again.covariance, model.result_.covariance)
    assert (again.df, again.n) == (n, n)


@pytest.mark.parametrize("penalty", [0.3, 0.05, 0.005])
@pytest.mark.parametrize(("n", "p", "correlation"), [(50, 80, 0.5), (80, 30, 0.95), (30, 60, 0.99)])
def test_nodewise_solutions_are_optimal(n, p, correlation, penalty):
    """The inner product of a column's residual with the others is at most the penalty."""
    design = read_problem(*autoregressive(n, p, correlation=correlation))
    gram = gram_matrix(design)
    found = project(design, gram, np.full(p, penalty), "exact", 1)
    assert found.done.all()
    left = found.influence / found.precision[:, None]
    inner = left @ design.X / n
    np.fill_diagonal(inner, 0.0)
    assert np.abs(inner).max() <= penalty + 1e-8  # ten times the solver's tolerance
    # Each column in use is met with equality.
    assert ((np.abs(inner) >= penalty - 1e-8).sum(axis=1) >= found.sizes).all()


def test_tiny_penalties_give_least_squares():
    X, y = autoregressive(100, 10)
    ordinary = LinearRegression().fit(X, y)
    model = DebiasedLasso(1e-7, 1e-7).fit(X, y)
    np.testing.assert_allclose(model.coef_, ordinary.coef_, rtol=1e-5)
    np.testing.assert_allclose(model.predict(X), ordinary.predict(X), rtol=1e-5)


def test_nothing_and_everything_selected():
    X, y = autoregressive(60, 20)
    nothing = DebiasedLasso(1e3, 0.3).fit(X, y)
    assert not nothing.lasso_coef_.any()
    np.testing.assert_allclose(nothing.predict(X), y.mean())
    everything = DebiasedLasso(1e-6, 0.3).fit(X, y)
    assert everything.lasso_coef_.all()
    for model in (nothing, everything):
        assert np.isfinite(model.result_.to_frame()).all(axis=None)


def test_one_column_is_simple_regression():
    X, y = autoregressive(60, 1, active=1)
    model = DebiasedLasso().fit(X, y)
    np.testing.assert_allclose(model.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-8)


def test_the_scaled_lasso_is_a_fixed_point():
    design = read_problem(*autoregressive(80, 120))
    gram = gram_matrix(design)
    factor = penalties.quantile(80, 120)
    assert factor < penalties.universal(80, 120)
    fit = scaled_lasso(design, gram, factor)
    assert fit.penalty == pytest.approx(factor * np.sqrt(np.mean(fit.residuals**2)), rel=1e-6)
    again = fit_lasso(design, gram, fit.penalty)
    np.testing.assert_allclose(again.coef, fit.coef, atol=1e-8)
    assert fit.sigma == pytest.approx(np.sqrt(80 / (79 - fit.size)) * fit.penalty / factor)


def test_the_quantile_penalty_solves_its_equation():
    from scipy import stats

    n, p = 200, 300
    length = penalties.quantile(n, p) * np.sqrt(n / 2)
    k = p * stats.norm.sf(length)
    assert k == pytest.approx(length**4 + 2 * length**2, rel=1e-6)


def test_training_grams_are_those_of_the_training_rows():
    design = read_problem(*autoregressive(30, 8))
    gram = gram_matrix(design)
    for fold in shuffled_folds(30, np.random.default_rng(0)):
        rows = design.X[fold.train(30)].T
        training, mean = training_gram(design.X, gram, fold)
        np.testing.assert_allclose(mean, rows.mean(axis=1), atol=1e-12)
        np.testing.assert_allclose(training, np.cov(rows, bias=True), atol=1e-12)


def test_the_cross_validated_penalty_is_near_lassocvs():
    """Folds differ, so grids of penalties 8 % apart agree within a factor of two."""
    X, y = autoregressive(150, 60)
    S = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = DebiasedLasso(random_state=0).fit(X, y).penalty_
    assert 0.5 < ours / LassoCV(cv=5).fit(S, y).alpha_ < 2


@pytest.mark.parametrize("rule", ["universal", "cv", "quantile", 0.2])
def test_nodewise_rules(rule):
    X, y = autoregressive(60, 30)
    exact = DebiasedLasso(0.2, rule, projection="exact", random_state=0).fit(X, y)
    relaxed = DebiasedLasso(0.2, rule, projection="relaxed", random_state=0).fit(X, y)
    assert (relaxed.nodewise_penalty_ <= exact.nodewise_penalty_).all()
    assert (relaxed.nodewise_penalty_ < exact.nodewise_penalty_).any()
    growth = (relaxed.result_.se / exact.result_.se) ** 2
    assert (growth <= 1.25 + 1e-8).all()


@pytest.mark.parametrize("rule", ["cv", "universal", "scaled", 0.3])
def test_results_do_not_depend_on_workers_or_repetition(rule):
    X, y = autoregressive(60, 100)
    one, two = (DebiasedLasso(rule, random_state=0, n_jobs=k).fit(X, y) for k in (1, 3))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.result_.covariance, two.result_.covariance)
    np.testing.assert_array_equal(one.bootstrap(50).pivots, two.bootstrap(50).pivots)


def test_units_do_not_matter():
    X, y = autoregressive(60, 80)
    one = DebiasedLasso(random_state=0).fit(X, y).result_
    two = DebiasedLasso(random_state=0).fit(1e3 * X - 7, 10 * y + 1).result_
    np.testing.assert_allclose(two.coef, one.coef / 100, rtol=1e-6)
    np.testing.assert_allclose(two.se, one.se / 100, rtol=1e-6)


def test_names_are_kept_and_columns_must_match():
    X, y = autoregressive(60, 5)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = DebiasedLasso(random_state=0).fit(frame, pd.Series(y, name="price"))
    assert list(model.result_.coef.index) == list("abcde")
    assert "price" in model.result_.summary()
    with pytest.raises(exceptions.InputError, match="columns of fit"):
        model.predict(frame[list("edcba")])
    with pytest.raises(exceptions.ColumnTypeError):
        DebiasedLasso().fit(frame.assign(a="text"), y)


def test_joint_intervals_with_more_columns_than_rows():
    """The rank of the covariance is below its size; the draws come from a root of that rank."""
    X, y = autoregressive(60, 500)
    result = DebiasedLasso("universal", random_state=0).fit(X, y).result_
    joint, single = result.confint(joint=True), result.confint()
    reach = (joint["upper"] - joint["lower"]) / (single["upper"] - single["lower"])
    # Between one coefficient and Bonferroni for all.
    from scipy import stats

    bonferroni = stats.t.isf(0.025 / 500, result.df) / stats.t.isf(0.025, result.df)
    assert 1 < reach.iloc[0] < 1.02 * bonferroni
    adjusted = result.adjust("romano-wolf")
    assert (adjusted >= result.pvalue - 0.01).all()


def test_a_pivoted_root_draws_as_the_eigendecomposition_does():
    """Two samples of 20,000 draws: quantiles agree to a few per cent."""
    from debinet.inference import simultaneous

    A = np.random.default_rng(0).normal(size=(80, 120))
    covariance = A.T @ A
    plain = simultaneous.critical_value(covariance, 50.0, 0.95, 0)
    pivoted = simultaneous.critical_value(covariance, 50.0, 0.95, 0, many=10)
    assert pivoted != plain
    assert pivoted == pytest.approx(plain, rel=0.02)
    assert simultaneous._root(covariance, many=10).shape == (120, 80)
    # A matrix that is no covariance has no such root and uses the eigendecomposition.
    bent = covariance - 0.2 * np.diag(np.diag(covariance))
    assert simultaneous._root(bent, many=10).dtype == np.float64


def test_clusters_and_covariances_that_do_not_exist():
    X, y = autoregressive(60, 80)
    result = DebiasedLasso(0.2, 0.3).fit(X, y).result_
    clustered = result.with_vcov("full", groups=np.arange(60) // 3)
    assert clustered.df == 19
    assert (clustered.se > 0).all()
    for kind in ("HC0", "HC3", "cluster"):
        with pytest.raises(exceptions.CovarianceError, match="full"):
            result.with_vcov(kind)


def test_bootstrap_intervals_are_those_of_their_pivots():
    X, y = autoregressive(60, 80)
    model = DebiasedLasso(0.2, random_state=0).fit(X, y)
    for kind in ("wild", "residual"):
        found = model.bootstrap(100, kind)
        np.testing.assert_allclose(found.coef, model.coef_, rtol=1e-8)
        low, high = np.quantile(found.pivots[:, 4], [0.05, 0.95])
        bounds = found.confint(0.9).iloc[4]
        assert bounds["upper"] == pytest.approx(found.estimate[4] - low * found.error[4])
        assert bounds["lower"] == pytest.approx(found.estimate[4] - high * found.error[4])
        joint = found.confint(0.9, joint=True)
        assert ((joint["upper"] - joint["lower"]) >= 0).all()
        assert (found.adjusted_pvalue >= found.pvalue).all()
        assert found.adjusted_pvalue.iloc[0] < 0.05
        with pytest.raises(ValueError, match="read-only"):
            found.pivots[0, 0] = 1
    other = model.bootstrap(100, random_state=5)
    assert not np.array_equal(other.pivots, model.bootstrap(100).pivots)


def test_one_bootstrap_replication_by_hand():
    """A refit of scikit-learn's Lasso on the drawn data gives the same pivot, to 1e-6."""
    from debinet._random import named_generator

    X, y = autoregressive(60, 80)
    model = DebiasedLasso(0.2, 0.3, projection="exact", random_state=0).fit(X, y)
    scale = X.std(axis=0)
    S = (X - X.mean(axis=0)) / scale
    coef, A, e, t = textbook(X, y, 0.2, 0.3)
    drawn = named_generator(0, "bootstrap", "residual").integers(60, size=(20, 60))[3]
    y_star = S @ (t * scale) + e[drawn]
    again, _, u, t_star = textbook(X, y_star, 0.2, 0.3)
    sigma = np.sqrt(u @ u / (60 - 1 - np.count_nonzero(t_star)))
    pivot = (again - t) / (sigma * np.sqrt((A**2).sum(axis=0)))
    found = model.bootstrap(20, "residual")
    np.testing.assert_allclose(found.pivots[3], pivot, atol=1e-6)
    np.testing.assert_allclose(found.estimate * scale, coef * scale, atol=1e-6)


DATA = autoregressive(30, 4)


def changed(value, where=(0, 0)):
    X = DATA[0].copy()
    X[where] = value
    return X


REFUSED = {
    "missing": (changed(np.nan), DATA[1], exceptions.MissingValueError),
    "infinite": (changed(np.inf), DATA[1], exceptions.MissingValueError),
    "constant": (changed(1.0, np.s_[:, 2]), DATA[1], exceptions.ConstantColumnError),
    "duplicate": (DATA[0][:, [0, 1, 1]], DATA[1], exceptions.DuplicateColumnError),
    "same column in other units": (
        np.column_stack([DATA[0], -2 * DATA[0][:, 1] + 3]),
        DATA[1],
        exceptions.CollinearError,
    ),
    "length": (DATA[0], DATA[1][:-1], exceptions.LengthError),
    "one row": (DATA[0][:1], DATA[1][:1], exceptions.TooFewRowsError),
    "text": (DATA[0].astype(str), DATA[1], exceptions.ColumnTypeError),
    "constant outcome": (DATA[0], np.ones(30), exceptions.ConstantColumnError),
    "no outcome": (DATA[0], None, exceptions.InputError),
    "empty": (DATA[0][:0], DATA[1][:0], exceptions.EmptyInputError),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_data_are_refused(case):
    X, y, error = REFUSED[case]
    with pytest.raises(error):
        DebiasedLasso().fit(X, y)


@pytest.mark.parametrize(
    "options",
    [
        {"penalty": "best"},
        {"penalty": -1.0},
        {"penalty": True},
        {"penalty": None},
        {"nodewise": 0},
        {"nodewise": float("nan")},
        {"nodewise": "best"},
        {"projection": "loose"},
        {"projection": None},
        {"noise": "known"},
        {"noise": 0.0},
        {"n_jobs": 0},
        {"n_jobs": "all"},
        {"random_state": -1},
    ],
)
def test_bad_options_are_refused(options):
    with pytest.raises(exceptions.OptionError):
        DebiasedLasso(**options).fit(*DATA)


def test_bad_bootstrap_options_are_refused():
    model = DebiasedLasso().fit(*DATA)
    for options in ({"kind": "pairs"}, {"replications": 5}, {"replications": 100.0}):
        with pytest.raises(exceptions.OptionError):
            model.bootstrap(**options)
    with pytest.raises(exceptions.OptionError):
        model.bootstrap(20).confint(level=95)


def test_a_column_that_the_others_determine_is_named():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    X = np.column_stack([X, X.sum(axis=1)])
    with pytest.raises(exceptions.CollinearError, match="x0"):
        DebiasedLasso(0.1, 1e-9, noise=1.0).fit(X, X[:, 0] + rng.normal(size=50))
    assert np.isfinite(DebiasedLasso().fit(X, rng.normal(size=50)).coef_).all()


def test_too_little_memory_is_said_before_it_is_taken(monkeypatch):
    monkeypatch.setattr("debinet.data.free_memory.bytes_available", lambda: 10_000)
    with pytest.raises(exceptions.MemoryLimitError, match="fewer columns"):
        DebiasedLasso().fit(*autoregressive(60, 80))


def test_a_failed_fit_leaves_the_old_one():
    model = DebiasedLasso(random_state=0).fit(*DATA)
    before = model.result_
    with pytest.raises(exceptions.MissingValueError):
        model.fit(changed(np.nan), DATA[1])
    assert model.result_ is before
    assert not hasattr(clone(model), "result_")


def test_it_compiles_where_nothing_can_be_cached():
    """With no folder for machine code, the loops are compiled in memory."""
    code = (
        "import numba.core.caching as caching\n"
        "caching.CacheImpl._locator_classes = []\n"
        "import numpy as np\n"
        "from debinet.solvers.compiled import compiled\n"
        "print(compiled(lambda a: a + 1)(1))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "2"


@parametrize_with_checks([DebiasedLasso(random_state=0), DebiasedLasso("universal", "universal")])
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("penalty", [1e-4, 5e-3, 2e-2])
@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_the_dense_start_is_what_coordinate_descent_finds(penalty, correlation):
    """Few coefficients are zero: from the inverse Gram matrix, and without it."""
    design = read_problem(*autoregressive(100, 50, correlation=correlation))
    gram = gram_matrix(design)
    each = np.full(50, penalty)
    dense = project(design, gram, each, "exact", 1, small=np.inf)
    descent = project(design, gram, each, "exact", 1, small=0.0)
    # Both meet the optimality conditions to 1e-8; the inverse magnifies that by its size.
    np.testing.assert_allclose(dense.influence, descent.influence, atol=1e-6)
    np.testing.assert_array_equal(dense.sizes, descent.sizes)
    coef = np.zeros(50)
    if penalty < 1e-3:
        assert solve_dense(np.linalg.inv(gram), 7, penalty, coef)
        inner = gram[7] - gram @ coef
        used = np.flatnonzero(coef)
        np.testing.assert_allclose(inner[used], penalty * np.sign(coef[used]), atol=1e-9)


def test_long_work_shows_how_far_it_is(capsys, monkeypatch):
    X, y = autoregressive(40, 60)
    monkeypatch.setattr(debiased_lasso, "Progress", partial(Progress, delay=0.0))
    plain = DebiasedLasso(nodewise="cv", random_state=0, n_jobs=2).fit(X, y)
    assert capsys.readouterr().err == ""
    shown = DebiasedLasso(nodewise="cv", random_state=0, n_jobs=2, verbose=True).fit(X, y)
    shown.bootstrap(20)
    text = capsys.readouterr().err
    for what in ("Nodewise regressions: ", "Nodewise penalty by cross-validation: ", "Bootstrap: "):
        assert what in text
    pd.testing.assert_frame_equal(shown.result_.to_frame(), plain.result_.to_frame())


def test_compiling_is_announced_even_if_not_verbose(capsys):
    compiling.compile_loops.__wrapped__(delay=0.0)
    assert "DebiasedLasso compiles its loops, once on this machine" in capsys.readouterr().err


def test_compiled_loops_are_those_that_a_fit_uses():
    compiling.compile_loops()
    before = {loop: list(loop.signatures) for loop in (regress_columns, largest_correlation)}
    X, y = autoregressive(40, 60)
    DebiasedLasso(random_state=0).fit(X, y)
    assert before == {loop: list(loop.signatures) for loop in before}
