"""Aggregation over random splits: against the formula written out, and its limits."""

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import debinet as dn
from debinet.exceptions import OptionError, SplitsError
from debinet.inference.multisplit import LEAST_QUANTILE, MultiSplit, aggregate
from debinet.models.storing import load_any_result


def written_out(p, least=LEAST_QUANTILE):
    """Meinshausen, Meier and Buehlmann (2009), equations 2.2 and 2.3, on a fine grid."""
    grid = np.linspace(least, 1, 4001)
    quantiles = np.quantile(p, grid, method="inverted_cdf") / grid
    return min(1.0, (1 - np.log(least)) * min(1.0, quantiles.min()))


@pytest.mark.parametrize("splits", [20, 33, 50])
def test_is_the_published_aggregation(splits):
    rng = np.random.default_rng(splits)
    for _ in range(20):
        p = rng.uniform(size=splits) ** rng.uniform(1, 8)
        ours, formula = aggregate(p[:, None])[0], written_out(p)
        # the grid of the formula is finite, so it can only be larger, and by little
        assert ours <= formula + 1e-12
        assert ours == pytest.approx(formula, rel=5e-3)


def test_one_split_is_itself_and_uniform_p_values_stay_large():
    np.testing.assert_allclose(aggregate(np.array([[0.03, 0.5]])), [0.03, 0.5])
    null = np.random.default_rng(0).uniform(size=(50, 2000))
    # P(p <= 0.05) is at most 0.05; 2000 draws leave 0.065 with probability below 0.001
    assert (aggregate(null) <= 0.05).mean() < 0.065


def make(coef, se, df=200.0):
    coef = np.array(coef, dtype=float)
    names = tuple(f"x{j}" for j in range(coef.shape[1]))
    return MultiSplit(names, coef, np.where(np.isfinite(coef), se, np.nan), np.full(len(coef), df))


def test_frequencies_medians_and_never_selected():
    several = make([[1.0, np.nan, np.nan], [3.0, 2.0, np.nan]], 1.0)
    assert several.frequency.to_dict() == {"x0": 1.0, "x1": 0.5, "x2": 0.0}
    assert several.coef["x0"] == 2.0
    assert np.isnan(several.coef["x2"])
    assert several.pvalue["x2"] == 1.0
    assert list(several.to_frame().index) == ["x0", "x1"]
    assert np.isinf(several.confint().loc["x2"]).all()


def test_intervals_are_the_values_not_rejected():
    rng = np.random.default_rng(1)
    coef = 1 + 0.1 * rng.normal(size=(40, 3))
    coef[rng.uniform(size=coef.shape) < 0.3] = np.nan
    several = make(coef, 0.2)
    bounds = several.confint(0.9)
    for j in range(3):
        for side, step in (("lower", -1e-6), ("upper", 1e-6)):
            at = bounds[side].iloc[j]
            values = []
            for theta in (at - step, at + step):
                t = np.abs(coef[:, j] - theta) / 0.2
                p = np.where(np.isfinite(t), 2 * stats.t.sf(t, 200.0), 1.0)
                values.append(aggregate(p[:, None])[0])
            assert values[0] >= 0.1 - 1e-4 > values[1] - 2e-4
    assert (bounds["lower"] < several.coef).all()


def test_multiplicity_counts_what_each_split_selected():
    one = make([[3.0, np.nan]] * 4, 1.0)
    two = make([[3.0, 0.0]] * 4, 1.0)
    assert two.pvalue["x0"] == pytest.approx(2 * one.pvalue["x0"])


def test_splits_that_selected_nothing_are_no_evidence():
    several = make([[np.nan, np.nan]] * 10 + [[0.1, np.nan]] * 10, 1.0)
    assert several.pvalue.to_dict() == {"x0": 1.0, "x1": 1.0}


# --- DebiNet with several splits ---


@pytest.fixture(scope="module")
def several():
    data = dn.datasets.make_table2(n=160, p=60, k=3, random_state=1)
    X = data.X.rename(columns={"x1": "<b>"})
    options = {"selection_share": (0.4, 6), "random_state": 0}
    return X, data.y, dn.DebiNet(dn.Lasso(0.4), "lasso", **options).fit(X, data.y)


def test_the_aggregate_is_the_result(several):
    _, _, model = several
    result, splits = model.result_, model.splits_
    pd.testing.assert_frame_equal(result.to_frame(0.9), splits.to_frame(0.9))
    assert list(result.names) == list(splits.to_frame().index)
    for name in ("frequency", "coef", "pvalue"):
        pd.testing.assert_series_equal(getattr(result, name), splits.to_frame()[name])
    pd.testing.assert_frame_equal(result.confint(0.9), splits.to_frame(0.9)[["lower", "upper"]])
    pd.testing.assert_frame_equal(result.conf_int(0.1), result.confint(0.9))
    pd.testing.assert_series_equal(result.params, result.coef)
    pd.testing.assert_series_equal(result.pvalues, result.pvalue)
    assert result.nobs == result.n == result.first.n == len(model.estimation_rows_)


def test_the_summary_says_that_it_is_an_aggregate(several, tmp_path):
    _, _, model = several
    text = model.summary(0.9)
    assert text.startswith("DebiNet of y, aggregate of 6 splits\n")
    for part in ("64 select and 96 estimate", "of 60 features ever", "90 %", "frequency"):
        assert part in text
    assert "covariance" not in text
    assert "aggregate of 6 splits" in model._repr_html_()
    assert "<b>" not in model._repr_html_()
    model.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    for part in ("aggregate of 6 splits", "frequency", "<h2>Residuals", "several splits"):
        assert part in page
    assert model.trust().checks[1:] == model.result_.first.trust().checks
    assert "at least half of the 6 splits" in model.trust().checks[0].finding


def test_notes_are_those_of_the_first_split(several):
    X, y, _ = several
    nothing = dn.DebiNet(dn.Lasso(100.0), "mean", selection_share=(0.4, 2), random_state=0)
    result = nothing.fit(X, y).result_
    assert result.to_frame().empty
    assert "Note: in the first split, nothing was selected" in result.summary()
    result.plot()
    plt.close("all")


def test_what_only_one_split_has_says_where_it_is(several):
    result = several[2].result_
    for name in ("se", "vcov", "wald_test", "with_vcov", "adjust", "resid", "regressions"):
        with pytest.raises(SplitsError, match=rf"result_\.first\.{name}"):
            getattr(result, name)
        assert not hasattr(result, name)
    with pytest.raises(OptionError, match="joint"):
        result.summary(joint=True)
    with pytest.raises(OptionError, match="level"):
        result.confint(95)


def test_the_aggregate_can_be_drawn_saved_and_copied(several, tmp_path):
    X, _, model = several
    result = model.result_
    ax = result.plot()
    assert [label.get_text() for label in ax.get_yticklabels()] == list(result.names)
    assert np.isfinite(ax.get_xlim()).all()
    plt.close("all")
    model.save(tmp_path / "model.npz")
    result.save(tmp_path / "result.npz")
    for twin in (dn.load(tmp_path / "model.npz").result_, dn.load(tmp_path / "result.npz")):
        assert twin.summary() == result.summary()
        assert str(twin.trust()) == str(result.trust())
    for path in ("model.npz", "result.npz"):
        assert str(load_any_result(tmp_path / path).trust()) == str(result.trust())
    assert pickle.loads(pickle.dumps(result)).summary() == result.summary()
    np.testing.assert_array_equal(dn.load(tmp_path / "model.npz").predict(X), model.predict(X))
