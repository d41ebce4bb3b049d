"""With the learner "mean", everything is that of least squares with a constant in statsmodels."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

import debinet as dn

EXACT = {"rtol": 1e-8, "atol": 0}


@pytest.fixture(params=[8, 30], ids="n={}".format)
def data(request):
    rng = np.random.default_rng(request.param)
    n = request.param
    X = pd.DataFrame(rng.normal(3, 1, size=(n, 3)), columns=["d1", "d2", "z"])
    y = 2 * X["d1"] + rng.normal(size=n)
    groups = pd.DataFrame({"firm": np.arange(n) % 4, "year": rng.permutation(n) % 3})
    return X, y, groups, rng.uniform(0.2, 3.0, n)


def ours(data, weighted, **options):
    X, y, _, w = data
    fitted = dn.PartiallyLinear(["d1", "d2"], "mean", random_state=0, **options)
    return fitted.fit(X, y, sample_weight=w if weighted else None).result_


def theirs(data, weighted, **options):
    X, y, _, w = data
    design = sm.add_constant(X[["d1", "d2"]])
    return sm.WLS(y, design, weights=w if weighted else 1.0).fit(use_t=True, **options)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("crossfit", ["auto", None, 3])
@pytest.mark.parametrize("method", ["auto", "robinson"])
@pytest.mark.parametrize("kind", ["iid", "HC0", "HC1", "HC2", "HC3"])
def test_tables_are_equal(data, weighted, crossfit, method, kind):
    found = ours(data, weighted, crossfit=crossfit, method=method).with_vcov(kind)
    reference = theirs(data, weighted, cov_type="nonrobust" if kind == "iid" else kind)
    np.testing.assert_allclose(found.coef, reference.params.iloc[1:], **EXACT)
    np.testing.assert_allclose(found.vcov, reference.cov_params().iloc[1:, 1:], **EXACT)
    np.testing.assert_allclose(found.pvalue, reference.pvalues.iloc[1:], **EXACT)
    np.testing.assert_allclose(found.confint(0.9), reference.conf_int(0.1).iloc[1:], **EXACT)
    assert found.df == reference.df_resid == len(data[1]) - 3


@pytest.mark.parametrize("weighted", [False, True])
def test_clusters_are_equal(data, weighted):
    firm = data[2]["firm"]
    reference = theirs(data, weighted, cov_type="cluster", cov_kwds={"groups": firm})
    X, y, _, w = data
    own = dn.PartiallyLinear(["d1", "d2"], "mean", crossfit="loo")
    own.fit(X, y, groups=firm, sample_weight=w if weighted else None)
    later = ours(data, weighted).with_vcov("cluster", groups=firm)
    for found in (own.result_, later):
        np.testing.assert_allclose(found.vcov, reference.cov_params().iloc[1:, 1:], **EXACT)
        np.testing.assert_allclose(found.confint(), reference.conf_int().iloc[1:], **EXACT)


def test_two_way_clusters_are_equal(data):
    _, _, groups, _ = data
    if len(groups) < 30:
        pytest.skip("the two-way formula needs more groups")
    expected, *_ = cov_cluster_2groups(
        theirs(data, False), groups["firm"].to_numpy(), groups["year"].to_numpy()
    )
    found = ours(data, False).with_vcov("cluster", groups=groups)
    np.testing.assert_allclose(found.vcov, expected[1:, 1:], **EXACT)


def test_rows_of_weight_zero_do_not_count(data):
    X, y, _, w = data
    w = np.where(np.arange(len(w)) < 2, 0.0, w)
    kept = w > 0
    model = dn.PartiallyLinear(["d1"], "mean")
    whole = model.fit(X, y, sample_weight=w).result_
    part = model.fit(X[kept], y[kept], sample_weight=w[kept]).result_
    pd.testing.assert_frame_equal(whole.to_frame(), part.to_frame(), rtol=1e-9)


def test_methods_as_published_are_as_they_were(data):
    """Double machine learning has no intercept: its scores are those of the paper."""
    found = ours(data, False, crossfit=3, method="dml2")
    fit = found.regressions[0]
    reference = sm.OLS(fit.R_y, fit.R_D).fit(cov_type="HC0")
    np.testing.assert_allclose(found.vcov, reference.cov_params(), **EXACT)
    assert found.df == len(data[1]) - 2


def test_features_that_are_all_selected_are_least_squares(data):
    from sklearn.feature_selection import VarianceThreshold

    X, y, _, _ = data
    if len(X) < 30:
        pytest.skip("too few rows for a selection")
    model = dn.DebiNet(VarianceThreshold(), random_state=0).fit(X, y)
    rows = model.estimation_rows_
    reference = sm.OLS(y[rows], sm.add_constant(X.iloc[rows])).fit(cov_type="HC3", use_t=True)
    np.testing.assert_allclose(model.result_.se, reference.bse.iloc[1:], **EXACT)
