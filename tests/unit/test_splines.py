"""Additive splines against P-splines written out, real refits, and their limits."""

import numpy as np
import pytest
from sklearn.preprocessing import SplineTransformer
from sklearn.utils.estimator_checks import check_estimator

import debinet as dn
from debinet.data.folds import k_folds, leave_one_out
from debinet.exceptions import InputError, OptionError


def data(n=150, p=3, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, p)) * np.geomspace(0.1, 10, p) + 5
    S = (Z - 5) / np.geomspace(0.1, 10, p)
    M = np.column_stack([np.sin(2 * S[:, 0]) + S[:, 1], 100 * S[:, -1] ** 2])
    return Z, M + rng.normal(size=(n, 2)) * [0.3, 30]


def by_hand(fitted, Z, M, j, train, new, weight=None):
    """Ridge regression on the features of all rows, with an intercept, for output j."""
    F = fitted._predictor.parts[0].feature_map(Z)
    F = F * np.r_[np.ones(F.shape[1] - Z.shape[1]), np.full(Z.shape[1], fitted.skip_[j] ** 0.5)]
    w = np.ones(len(Z)) if weight is None else weight
    X = np.column_stack([np.ones(len(Z)), F])
    ridge = np.diag(np.r_[0.0, np.full(F.shape[1], fitted.penalty_[j])])
    inside = X[train]
    left = inside.T @ (w[train, None] * inside) + ridge
    coef = np.linalg.solve(left, inside.T @ (w[train] * M[train, j]))
    return X[new] @ coef


def test_is_the_p_spline_of_eilers_and_marx():
    """One feature: B-splines, second differences penalized, the line next to free."""
    rng = np.random.default_rng(1)
    # Several rows at either end, so that none is beyond the knots.
    z = np.r_[[-2.0] * 3, rng.uniform(-2, 2, size=200), [2.0] * 3]
    y = np.sin(2 * z) + 0.3 * rng.normal(size=206)
    fitted = dn.SplineSmoother(12, skip=1e5).fit(z[:, None], y)
    curves = fitted._predictor.parts[0].feature_map
    standard = (z - z.mean()) / z.std()
    knots = np.linspace(*np.quantile(standard, [0.005, 0.995]), 12)[:, None]
    B = SplineTransformer(knots=knots, degree=3, extrapolation="constant").fit_transform(
        standard[:, None]
    )
    D = np.diff(np.eye(14), n=2, axis=0)
    penalty = fitted.penalty_[0] / curves.scale[0] ** 2
    expected = B @ np.linalg.solve(B.T @ B + penalty * D.T @ D, B.T @ y)
    # the line is penalized by 1e-5 of the curve, which moves it by 1.5e-8
    np.testing.assert_allclose(fitted.predict(z[:, None]), expected, atol=1e-6)


@pytest.mark.parametrize("tune", ["reml", "gcv"])
@pytest.mark.parametrize("n", [150, 25])
def test_predictions_and_held_out_predictions_are_those_of_refits(tune, n):
    """With more rows than features, and fewer."""
    Z, M = data(n)
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2, size=n)
    prepared = dn.SplineSmoother(tune=tune).prepare(Z, M, weight)
    everything = np.arange(n)
    for folds in (k_folds(n, 5, rng), leave_one_out(n)):
        found = prepared.hold_out(M, folds)
        held, smoother = found.predictions, found.models[0]
        for j in range(2):
            whole = by_hand(smoother, Z, M, j, everything, everything, weight)
            scale = M[:, j].std()
            np.testing.assert_allclose(smoother.predict(Z)[:, j], whole, atol=1e-8 * scale)
            for fold in folds:
                expected = by_hand(smoother, Z, M, j, fold.train(n), fold.test, weight)
                np.testing.assert_allclose(held[fold.test, j], expected, atol=1e-7 * scale)


def test_curves_end_in_straight_lines():
    Z, M = data()
    smoother = dn.SplineSmoother().fit(Z, M)
    far = np.array([[9.0, 5, 5], [10.0, 5, 5], [11.0, 5, 5]])
    np.testing.assert_allclose(np.diff(smoother.predict(far), n=2, axis=0), 0, atol=1e-6)


def test_lines_are_learned_as_lines():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 30))
    M = np.column_stack([Z[:, 0] - Z[:, 1], Z[:, 2]]) + 0.5 * rng.normal(size=(200, 2))
    smoother = dn.SplineSmoother().fit(Z, M)
    np.testing.assert_array_equal(smoother.skip_, 100.0)
    new = rng.normal(size=(500, 30))
    error = (smoother.predict(new)[:, 0] - new[:, 0] + new[:, 1]) ** 2
    assert error.mean() < 0.06  # 30 coefficients cost 0.25 * 30 / 200 = 0.04


def test_nothing_to_learn_is_the_mean():
    rng = np.random.default_rng(2)
    Z, y = rng.normal(size=(300, 2)), rng.normal(size=300)
    smoother = dn.SplineSmoother().fit(Z, y)
    assert smoother.dof_[0] < 6
    assert np.var(smoother.predict(Z)) < 0.02 * np.var(y)


def test_columns_of_two_values_and_constants():
    rng = np.random.default_rng(0)
    n = 120
    rare = np.zeros(n)
    rare[:1] = 1.0
    Z = np.column_stack([rng.integers(0, 2, n), rare, np.ones(n), rng.normal(size=n)]).astype(float)
    y = Z[:, 0] + Z[:, 3] ** 2 + 0.1 * rng.normal(size=n)
    smoother = dn.SplineSmoother().fit(Z, y)
    np.testing.assert_array_equal(
        smoother._predictor.parts[0].feature_map.scale[:3], 0
    )  # lines only
    assert np.mean((smoother.predict(Z) - y) ** 2) < 0.05
    assert np.isfinite(smoother.predict(Z + 3)).all()


def test_an_outlier_does_not_take_the_knots():
    Z, M = data(300)
    y = M[:, 0].copy()
    far = Z.copy()
    far[0, 0] += 20 * Z[:, 0].std()
    found = [dn.SplineSmoother().fit(X, y).predict(X)[1:] for X in (Z, far)]
    assert np.mean((found[0] - found[1]) ** 2) < 0.05 * np.var(y)


def test_additive_designs_are_where_it_wins():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(600, 6))
    y = np.sin(3 * Z).sum(axis=1) + rng.normal(size=600)
    truth = np.sin(3 * Z[400:]).sum(axis=1)
    errors = [
        np.mean((learner.fit(Z[:400], y[:400]).predict(Z[400:]) - truth) ** 2)
        for learner in (dn.SplineSmoother(), dn.WideNet())
    ]
    assert errors[0] < errors[1] / 3


def test_in_a_partially_linear_model():
    data = dn.datasets.make_ccddhnr2018(500, random_state=0)
    result = dn.PartiallyLinear(["d1"], dn.SplineSmoother()).fit(data.X, data.y).result_
    assert result.vcov_type == "full"
    lower, upper = result.confint().iloc[0]
    assert lower < 0.5
    assert upper > 0.5


@pytest.mark.parametrize(
    "options",
    [{"knots": 2}, {"knots": 5.5}, {"degree": 0}, {"tune": "loo"}, {"skip": -1}],
    ids=str,
)
def test_bad_options_are_refused(options):
    with pytest.raises(OptionError):
        dn.SplineSmoother(**options).fit(*data())


def test_bad_data_are_refused():
    Z, M = data()
    with pytest.raises(InputError):
        dn.SplineSmoother().fit(np.where(Z[3, 1] == Z, np.nan, Z), M)
    with pytest.raises(InputError, match="features"):
        dn.SplineSmoother().fit(Z, M).predict(Z[:, :2])


def test_check_estimator():
    reasons = {
        "check_fit_score_takes_y": "the second argument of fit is M, several targets",
        "check_sample_weight_equivalence_on_dense_data": "weights are precisions, not repetitions",
        "check_sample_weight_equivalence_on_sparse_data": "weights are precisions, not repetitions",
    }
    results = check_estimator(
        dn.SplineSmoother(), expected_failed_checks=reasons, on_fail=None, on_skip=None
    )
    failed = [r["check_name"] for r in results if r["status"] == "failed"]
    assert failed == []
