"""The paper's tables and figures: their rows exist, and each is the method it is named after."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from matplotlib import pyplot as plt
from sklearn.linear_model import Lasso as ScikitLasso

import debinet as dn
from debinet.exceptions import OptionError
from debinet.experiments.paper import published
from debinet.experiments.paper.intervals import draw_intervals, figure3
from debinet.experiments.paper.plm_rows import wide_kernel
from debinet.experiments.paper.reproduce import NAMES, Running, read_names, reproduce
from debinet.experiments.paper.table1 import table1, table4, table4_inputs
from debinet.experiments.paper.table2 import (
    METHODS,
    draw_penalized,
    kernel_post_lasso,
    table2,
)
from debinet.experiments.paper.table3 import CONTROLS, draw_boxes, table3
from debinet.experiments.paper.table5 import table5
from debinet.experiments.results import Results
from debinet.experiments.running import run_experiment
from debinet.experiments.store import Record

TABLES = [table1, table2, table3, table4, table4_inputs, table5]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("quick", [True, False])
def test_every_printed_row_is_run(table, quick):
    comparison = table(quick=quick)
    designs = {design.name for design in comparison.experiment.designs}
    methods = {method.name for method in comparison.experiment.methods}
    columns = {metric.name for metric in comparison.metrics}
    for (design, method), figures in comparison.published.items():
        assert design in {"", *designs}
        assert method in methods
        assert set(figures) <= columns
    assert set(comparison.against.values()) <= {method for _, method in comparison.published}
    own = methods - {method for _, method in comparison.published}
    assert any("WideNet" in name or "reference levels" in name for name in own)


def test_printed_figures():
    """Spot checks against the paper's text."""
    assert published.TABLE_1["", "PLM-NN"]["error"].value == 1.59e-5
    assert published.TABLE_2["A", "DebiNet"]["error"] == published.Published("0.421", 0.418)
    assert published.TABLE_2["C", "OLS"]["test"] == published.Published("2.625", 0.313)
    assert published.TABLE_3["", "PLM-NW"]["sd"].value == 0.351
    assert published.TABLE_4["", "DML DT"]["error"].value == 240e-5
    assert published.TABLE_5["", "MLP"]["auc"].value == 0.77
    assert "coverage" not in published.TABLE_2["A", "Lasso"]


@pytest.fixture(scope="module")
def penalized():
    return draw_penalized(0.5, n=120, new=40, p=40, k=10, random_state=3)


def row(name):
    return next(method.run for method in METHODS if method.name == name)


def test_ols_and_ols_post_lasso_are_those_of_statsmodels(penalized):
    sample, penalty = penalized
    selected = ScikitLasso(penalty, tol=1e-10).fit(sample.X, sample.y).coef_ != 0
    for name, columns in (
        ("OLS", sample.X.columns),
        ("OLS post-Lasso", sample.X.columns[selected]),
    ):
        fit = sm.OLS(sample.y, sm.add_constant(sample.X[columns])).fit()
        truth, bounds = sample.truth[columns], fit.conf_int().loc[columns]
        figures = row(name)(penalized, 0)
        assert figures["coefficients"] == len(columns)
        assert np.isclose(figures["error"], ((fit.params[columns] - truth) ** 2).mean(), rtol=1e-8)
        assert np.isclose(figures["train"], (fit.resid**2).mean(), rtol=1e-8)
        assert np.isclose(figures["width"], (bounds[1] - bounds[0]).mean(), rtol=1e-8)
        assert figures["coverage"] == ((bounds[0] <= truth) & (truth <= bounds[1])).mean()
        new = fit.predict(sm.add_constant(sample.X_new[columns]))
        assert np.isclose(figures["test"], ((new - sample.y_new) ** 2).mean(), rtol=1e-8)


def test_the_kernel_is_scikit_learns(penalized):
    """Robinson's estimate with `rbf_kernel` at its default of one over the number of features."""
    from sklearn.metrics.pairwise import rbf_kernel

    sample, penalty = penalized
    selected = dn.Lasso(penalty, standardize=False).fit(sample.X, sample.y).get_support()
    D, Z = sample.X.loc[:, selected].to_numpy(), sample.X.loc[:, ~selected].to_numpy()
    K = rbf_kernel((Z - Z.mean(axis=0)) / Z.std(axis=0))
    K /= K.sum(axis=1, keepdims=True)
    R_D, R_y = D - K @ D, sample.y - K @ sample.y
    coef = np.linalg.lstsq(R_D, R_y, rcond=None)[0]
    truth = sample.truth.to_numpy()[selected]
    assert np.isclose(
        kernel_post_lasso(penalized, 0)["error"], ((coef - truth) ** 2).mean(), rtol=1e-6
    )
    assert wide_kernel(8).bandwidth == 2.0


def test_the_lasso_row_is_over_what_it_selects(penalized):
    sample, penalty = penalized
    coef = pd.Series(ScikitLasso(penalty).fit(sample.X, sample.y).coef_, sample.X.columns)
    active = coef[coef != 0]
    figures = row("Lasso")(penalized, 0)
    assert figures["error"] == ((active - sample.truth[active.index]) ** 2).mean()
    assert "coverage" not in figures


def test_the_debiased_row_predicts_with_debiased_coefficients(penalized):
    sample, penalty = penalized
    model = dn.DebiasedLasso(penalty, noise=1.0, random_state=0).fit(sample.X, sample.y)
    figures = row("debiased Lasso")(penalized, 0)
    assert figures["coefficients"] == (model.lasso_coef_ != 0).sum()
    predicted = (sample.X_new - sample.X.mean()) @ model.coef_ + sample.y.mean()
    assert np.isclose(figures["test"], ((predicted - sample.y_new) ** 2).mean())


@pytest.mark.parametrize("inputs", ["folded", "dropped", "truncated", "half-normal", "uniform"])
def test_table_4_is_the_papers_formula(inputs):
    X, y, truth = dn.datasets.make_table4(4000, inputs=inputs, random_state=0)
    T = X.filter(like="z").to_numpy().T
    assert np.isfinite(X.to_numpy()).all()
    m_D = np.sin(T[0]) + np.log(T[1] + 1) + 1 / (1 + T[2]) + np.maximum(0, T[3]) + T[4] ** 2
    f = np.cosh(T[0]) + T[1] + T[2] * T[3]
    # Standard normal noise: the standard deviation of 4000 is off by 0.05 once in 10^5.
    assert abs(np.std(X["d1"] - m_D) - 1) < 0.05
    assert abs(np.std(y - X["d1"] - f) - 1) < 0.05
    assert truth.to_dict() == {"d1": 1.0}


def test_table_4_knows_its_inputs():
    with pytest.raises(OptionError, match="folded"):
        dn.datasets.make_table4(10, inputs="normal")


def test_households_are_drawn_without_replacement(tmp_path, monkeypatch):
    from debinet.experiments.paper import table3 as module

    frame = pd.DataFrame(
        np.arange(50.0 * 11).reshape(50, 11), columns=["net_tfa", "inc", *CONTROLS]
    ).assign(nifa=0.0)
    monkeypatch.setattr(module, "fetch_401k", lambda: frame)
    drawn = module.draw_households(20, random_state=1)
    assert drawn["net_tfa"].is_unique
    assert list(drawn.columns) == ["net_tfa", "inc", *CONTROLS]
    pd.testing.assert_frame_equal(drawn, module.draw_households(20, random_state=1))
    assert not drawn.equals(module.draw_households(20, random_state=2))


# Figures


def test_figure_3_draws_every_interval():
    drawing = figure3(quick=True)
    names = [method.name for method in drawing.experiment.methods]
    values = {f"x{j} {what}": v for j in range(3) for what, v in _bounds(j)}
    records = [
        Record("", design.name, name, 0, None if name == "DebiNet" else values, None, 0.0, [])
        for design in drawing.experiment.designs
        for name in names
    ]
    figure = draw_intervals(Results(drawing.experiment, tuple(records)))
    axes = figure.axes
    assert len(axes) == 4
    lines = [sum(len(c.get_segments()) for c in _lines(ax)) for ax in axes]
    assert lines == [9, 6, 15, 15]
    labels = [text.get_text() for text in axes[0].get_xticklabels()]
    assert any("failed" in label for label in labels)
    assert any("0.67 cover" in label for label in labels)
    plt.close(figure)


def _bounds(j):
    return [("coef", 1.0 + j), ("lower", 0.5 + j * 0.4), ("upper", 1.5 + j)]


def _lines(ax):
    from matplotlib.collections import LineCollection

    return [c for c in ax.collections if isinstance(c, LineCollection)]


def test_figure_4_has_a_box_per_method_and_the_papers_means():
    comparison = table3(quick=True)
    rng = np.random.default_rng(0)
    records = [
        Record("", "d", method.name, k, {"coef": rng.normal(), "se": 1.0}, None, 0.0, [])
        for method in comparison.experiment.methods
        for k in range(5)
    ]
    figure = draw_boxes(Results(comparison.experiment, tuple(records)))
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == [method.name for method in comparison.experiment.methods][::-1]
    marks = next(line for line in figure.axes[0].lines if line.get_label() == "paper's mean")
    assert sorted(marks.get_xdata()) == [0.590, 0.805, 0.809, 0.887, 0.912]
    plt.close(figure)


# The whole


def test_names():
    assert read_names(("figure2", "table1", "table1")) == ("table1", "figure2")
    assert read_names(("all",)) == NAMES
    with pytest.raises(OptionError, match="tabel"):
        read_names(("tabel",))
    with pytest.raises(OptionError, match="none"):
        read_names(())


@pytest.mark.parametrize("name", ["all", "tabel1"])
def test_one_at_a_time(tmp_path, name):
    with pytest.raises(OptionError, match="table1"):
        reproduce(name, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_figure_of_which_everything_failed(tmp_path, monkeypatch):
    monkeypatch.setattr("debinet.learners.torch_extra.find_spec", lambda name: None)
    done = reproduce("figure6", tmp_path, Running(quick=True, progress=False))
    assert done.failures == 3
    assert done.files == ()
    assert "pip install" in done.text


def test_a_figure_is_written_twice_the_same(tmp_path):
    pytest.importorskip("torch")
    for folder in ("one", "two"):
        running = Running(quick=True, runs=3, progress=False)  # of what has several
        done = reproduce("figure5", tmp_path / folder, running)
        assert done.failures == 0
        assert [file.suffix for file in done.files] == [".png", ".svg"]
    one, two = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        for name in ("one", "two")
    )
    assert set(one) == {
        *("figure5-quick.jsonl", "figure5-quick.png", "figure5-quick.svg"),
        *("figure5-quick-results.csv", "figure5-quick-seconds.csv"),
    }
    assert one["figure5-quick.jsonl"].count(b"\n") == 1
    same = set(one) - {"figure5-quick.jsonl", "figure5-quick-seconds.csv"}
    assert all(one[name] == two[name] for name in same)


def test_a_part_of_the_quick_reproduction(tmp_path, monkeypatch):
    """All rows of a table, with fewer data: the same with one and with two workers."""
    pytest.importorskip("torch")
    plan = table4_inputs(quick=True)
    (design,) = plan.experiment.designs
    few = replace(design, options={**design.options, "n": 300, "new": 300})
    few = replace(plan, experiment=replace(plan.experiment, designs=(few,)))
    monkeypatch.setattr("debinet.experiments.paper.table1.table4_inputs", lambda quick: few)
    for workers in (1, 2):
        running = Running(quick=True, runs=1, workers=workers, progress=False)
        done = reproduce("table4_inputs", tmp_path / str(workers), running)
        assert done.failures == 0
        assert "## Table 4" in done.text
    for ending in (".csv", ".md", "-results.csv"):
        one, two = (tmp_path / k / f"table4_inputs-quick{ending}" for k in "12")
        assert one.read_bytes() == two.read_bytes()


def test_table_2_runs_all_its_rows_on_small_settings(tmp_path):
    pytest.importorskip("torch")
    plan = table2(quick=True).experiment
    small = {"n": 100, "new": 30, "p": 60, "k": 10, "penalty": 0.5}
    designs = tuple(replace(design, options=small) for design in plan.designs[2:3])
    methods = tuple(replace(method, designs=None) for method in plan.methods)
    results = run_experiment(
        replace(plan, designs=designs, methods=methods, runs=1), tmp_path, progress=False
    )
    assert [record.failure for record in results.records] == [None] * len(methods)
