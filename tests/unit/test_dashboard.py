"""The dashboard: a small run from the command to the page, its sums, and its losses."""

from __future__ import annotations

import math
import sys

import numpy as np
import pandas as pd
import pytest
from command_line import debinet, run

import debinet as dn
from debinet.exceptions import DataNotFoundError, OptionError
from debinet.experiments.dashboard import peers
from debinet.experiments.dashboard.alarms import alarms_line, alarms_table, count_alarms
from debinet.experiments.dashboard.designs import DESIGNS, SIZES, draw_table2
from debinet.experiments.dashboard.losses import find_losses
from debinet.experiments.dashboard.methods import DEFAULT, METHODS
from debinet.experiments.dashboard.not_run import in_words
from debinet.experiments.dashboard.overview import overview_table
from debinet.experiments.dashboard.page import make_page, write_dashboard
from debinet.experiments.dashboard.planning import plan, still_valid
from debinet.experiments.dashboard.running import run_dashboard
from debinet.experiments.dashboard.runs import tabulate_runs
from debinet.experiments.dashboard.summary import root_mean, share, summarize
from debinet.experiments.store import Record, read

SMALL = {"designs": ("sparse_linear", "table2"), "sizes": (60, 140), "runs": 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the results of a run with two methods."""
    folder = tmp_path_factory.mktemp("dashboard")
    methods = ("splines", "least-squares")
    run_dashboard(folder, **SMALL, methods=methods, command="the command", progress=False)
    return folder


# Running


def test_a_run_is_resumed_and_other_methods_add_to_it(tmp_path):
    options = ["--designs", "sparse_linear,survey", "--sizes", "60", "--out", tmp_path, "--quiet"]
    options += ["--workers", 1]
    run("dashboard", "run", "--runs", 1, "--methods", "least-squares", *options)
    first = (tmp_path / "dashboard.jsonl").read_bytes()
    assert first.count(b"\n") == 2
    both = ["--methods", "least-squares,splines", *options]
    assert run("dashboard", "run", "--runs", 2, *both).return_value == 0
    more = (tmp_path / "dashboard.jsonl").read_bytes()
    assert more.startswith(first)
    assert more.count(b"\n") == 8
    run("dashboard", "run", "--runs", 2, *both)
    assert (tmp_path / "dashboard.jsonl").read_bytes() == more
    page = tmp_path / "pages" / "dashboard.md"
    page.parent.mkdir()
    run("dashboard", "page", "--results", tmp_path, "--to", page)
    text = page.read_text()
    assert text.count("    debinet dashboard run --runs 2 --designs sparse_linear,survey") == 1
    assert "Our default was not run." in text
    assert str(tmp_path) not in text


def test_what_is_stored_for_a_coefficient(folder):
    record = next(r for r in read(folder / "dashboard.jsonl").records.values() if r.values)
    assert {"d1 coef", "d1 se", "d1 lower", "d1 upper", "d1 truth", "d1 ideal"} < set(record.values)


def test_unknown_names_are_refused(tmp_path):
    for options in ({"designs": ["wave"]}, {"methods": ["debinets"]}):
        with pytest.raises(OptionError, match="Did you mean"):
            run_dashboard(tmp_path / "new", **options)
    assert not (tmp_path / "new").exists()
    assert debinet("dashboard", "run", "--sizes", "many").returncode == 2


def test_all_methods_can_be_described_and_sizes_are_limited():
    """Cells have keys, which is where a method that cannot be stored would fail."""
    cells = list(plan().cells(1, 0))
    assert len({cell.key for cell in cells}) == len(cells)
    sizes = {(c.method.name, c.design.options["n"]) for c in cells}
    assert {n for method, n in sizes if method == DEFAULT} == set(SIZES)
    assert {n for method, n in sizes if method == "debinet-streamed"} == set(SIZES) - {250, 500}
    assert ("wide-structured", 5000) not in sizes
    assert {method for method, _ in sizes} == set(METHODS)


@pytest.mark.parametrize("name", DESIGNS)
def test_designs_have_ideal_errors(name):
    sample = DESIGNS[name].make(n=60, random_state=0)
    assert np.isfinite(sample.ideal).all()
    assert (
        list(sample.ideal.index)
        == list(sample.truth.index)
        == list(sample.X.columns)[: len(sample.truth)]
    )


def test_keys_do_not_depend_on_the_other_sizes():
    """So a stored cell is found after sizes were added."""
    chosen = {"designs": ["waves"], "methods": [DEFAULT]}
    (alone,) = plan(**chosen, sizes=[500]).cells(1, 0)
    assert alone.key in {cell.key for cell in plan(**chosen).cells(1, 0)}


def test_only_valid_records_are_used(folder):
    records = list(read(folder / "dashboard.jsonl").records.values())
    assert still_valid(records, 0) == records
    assert still_valid(records, 1) == []
    renamed = [Record(**{**vars(record), "method": "boosting"}) for record in records]
    assert still_valid(renamed, 0) == []


# Estimates


def test_least_squares_is_that_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    sample = dn.datasets.make_smooth_nonlinear(80, random_state=0)
    found = peers.fit_least_squares(sample, 0)
    fit = sm.OLS(sample.y, sm.add_constant(sample.X)).fit(cov_type="HC3", use_t=True)
    names = list(sample.truth.index)
    np.testing.assert_allclose(found.coef, fit.params[names], rtol=1e-9)
    np.testing.assert_allclose(found.se, fit.bse[names], rtol=1e-9)
    np.testing.assert_allclose(found.upper, fit.conf_int().loc[names, 1], rtol=1e-9)


def test_the_streamed_default_is_fit_stream_with_a_verdict():
    sample = dn.datasets.make_sparse_linear(1000, p=4, random_state=0)
    found = METHODS["debinet-streamed"].estimate(sample, 3)
    model = dn.PartiallyLinear(["d1", "d2"], random_state=3)
    result = model.fit_stream([sample.X.assign(y=sample.y)], outcome="y").result_
    np.testing.assert_allclose(found.coef, result.coef, rtol=1e-10)
    np.testing.assert_allclose(found.se, result.se, rtol=1e-10)
    assert ((found.lower < found.coef) & (found.coef < found.upper)).all()
    assert found.verdict == result.trust().verdict


@pytest.mark.parametrize(
    ("package", "method"), [("doubleml", "doubleml-lasso"), ("econml", "econml")]
)
def test_a_missing_package_is_a_failure_with_a_reason(tmp_path, monkeypatch, package, method):
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    options = {"designs": ["survey"], "sizes": [60], "methods": [method], "runs": 1}
    results = run_dashboard(tmp_path, **options, progress=False)
    assert "pip install 'debinet[bench]'" in results.failures[0].failure
    write_dashboard(tmp_path, tmp_path / "page.md")
    assert "pip install" in (tmp_path / "page.md").read_text()


def test_table2_has_a_few_treatments():
    X, _, truth = draw_table2(50, random_state=0)
    assert X.shape == (50, 100)
    assert list(truth) == [1.0] * 5


# Sums


def record(method, replication, coef, *, half=1.0, trust=None, design="waves, n = 100"):
    names = ("coef", "se", "lower", "upper", "truth", "ideal")
    numbers = (coef, 0.5, coef - half, coef + half, 1.0, 0.5)
    values = {f"d1 {word}": number for word, number in zip(names, numbers, strict=True)}
    values |= {} if trust is None else {"trust": trust}
    return Record("", design, method, replication, values, None, 2.0 + replication, [])


def failed(method, replication):
    return Record("", "waves, n = 100", method, replication, None, "ValueError: no", 0.1, [])


def test_sums_by_hand():
    records = [
        record("m", 0, 1.5, trust=0.0),
        record("m", 1, 3.0, trust=1.0),
        record("m", 2, 1.0, trust=0.0),
        failed("m", 3),
    ]
    row = summarize(tabulate_runs(records)).iloc[0]
    assert (row["runs"], row["failures"]) == (3, 1)
    assert row["error"] == pytest.approx(math.sqrt((1 + 16 + 0) / 3))  # in units of 0.5
    assert row["coverage"] == pytest.approx(2 / 3)
    assert row["length"] == pytest.approx(2 / (2 * 1.959964 * 0.5), rel=1e-5)
    assert row["seconds"] == 3.0
    assert row["share ok"] == pytest.approx(2 / 3)
    assert (row["coverage ok"], row["coverage look"]) == (1.0, 0.0)
    assert math.isnan(row["coverage do not trust"])


def test_a_run_misses_by_the_largest_error_of_its_treatments():
    one = record("m", 0, 1.5).values
    second = {key.replace("d1", "d2"): value for key, value in record("m", 0, -1.0).values.items()}
    both = Record("", "waves, n = 100", "m", 0, {**one, **second}, None, 1.0, [])
    runs = tabulate_runs([both, record("m", 1, 1.0), failed("m", 2)])
    assert runs["miss"].tolist()[:2] == [4.0, 0.0]  # standard errors of 0.5
    assert math.isnan(runs["miss"][2])


def test_treatments_count_equally_whatever_their_scale():
    def two(scale):
        one = record("m", 0, 1.5).values
        numbers = {key.replace("d1", "d2"): scale * value for key, value in one.items()}
        return Record("", "waves, n = 100", "m", 0, {**one, **numbers}, None, 1.0, [])

    errors = [summarize(tabulate_runs([two(scale)]))["error"][0] for scale in (1.0, 100.0)]
    assert errors == pytest.approx([1.0, 1.0])


def test_monte_carlo_errors():
    """Against the spread of the statistics themselves, over 2000 repetitions of 50 runs."""
    rng = np.random.default_rng(0)
    squares = rng.normal(size=(2000, 50)) ** 2
    found = np.array([root_mean(pd.Series(row)) for row in squares])
    # The error is a first-order approximation, and its own median is compared.
    assert np.median(found[:, 1]) == pytest.approx(found[:, 0].std(), rel=0.1)
    covered = (rng.random((2000, 50)) < 0.9).astype(float)
    found = np.array([share(pd.Series(row)) for row in covered])
    assert np.median(found[:, 1]) == pytest.approx(found[:, 0].std(), rel=0.15)
    assert share(pd.Series([1.0, 1.0]))[1] > 0


# Losses


def losses(*records):
    found = find_losses(tabulate_runs(records))
    return found["lost"].tolist(), found["best"].tolist()


def test_losses_are_in_error_or_coverage_or_failures():
    good = [record(DEFAULT, k, 1.5) for k in range(3)]
    other = [record("splines", k, 1.4) for k in range(3)]
    near = [record("splines", k, 1.46) for k in range(3)]  # 9 % less
    narrow = [record(DEFAULT, k, 1.5, half=0.1) for k in range(3)]
    assert losses(*good) == ([], [])
    assert losses(*good, *near) == ([], [])
    assert losses(*good, *other) == (["error"], ["splines"])
    assert losses(*narrow) == (["coverage"], [""])
    assert losses(*narrow, *other) == (["error, coverage"], ["splines"])
    assert losses(*good, failed(DEFAULT, 3)) == (["failures"], [""])
    assert losses(failed(DEFAULT, 0), record("splines", 0, 1.0)) == (["failures"], [""])
    assert losses(*other) == ([], [])  # our default was not run


def test_methods_are_compared_in_the_runs_they_have_in_common():
    ours = [record(DEFAULT, 0, 1.5), record(DEFAULT, 1, 1.9)]
    assert losses(*ours, record("splines", 0, 1.5)) == ([], [])
    assert losses(*ours, record("splines", 1, 1.5)) == (["error"], ["splines"])


# Verdicts and misses


def test_alarms_are_counted_on_the_designs_held_aside():
    kinks = "kinks, n = 100"
    records = [
        record(DEFAULT, 0, 1.2, trust=0.0, design=kinks),
        record(DEFAULT, 1, 1.2, trust=1.0, design=kinks),
        record(DEFAULT, 2, 1.2, trust=0.0, design=kinks),
        record(DEFAULT, 3, 3.0, trust=0.0, design=kinks),  # four standard errors
        record(DEFAULT, 4, 3.0, trust=2.0, design=kinks),
        record(DEFAULT, 5, 2.25, trust=1.0, design=kinks),  # 2.5: neither far nor near
        record(DEFAULT, 0, 3.0, trust=0.0),  # for tuning
        record("splines", 0, 3.0, trust=0.0, design=kinks),
        failed(DEFAULT, 6),
    ]
    alarms = count_alarms(tabulate_runs(records), "held aside")
    assert (alarms.ok, alarms.far, alarms.near) == (3, 2, 3)
    assert alarms.coverage == pytest.approx(2 / 3)
    assert (alarms.caught, alarms.false) == (0.5, pytest.approx(1 / 3))
    line = alarms_line(alarms, "these")
    assert "fits called ok (3) cover 0.67 ±" in line
    assert "of fits that miss by more than three standard errors (2), 0.50 are not ok" in line
    assert "of fits that miss by less than two standard errors (3), 0.33 are not ok" in line


def test_alarms_of_every_method_that_has_verdicts():
    kinks = "kinks, n = 100"
    records = [
        record(DEFAULT, 0, 1.2, trust=0.0, design=kinks),
        record("splines", 0, 3.0, trust=0.0, design=kinks),
        record("splines", 1, 3.0, trust=1.0, design=kinks),
        record("splines", 0, 3.0, trust=0.0),  # for tuning
        record("least-squares", 0, 3.0, design=kinks),
    ]
    _, _, *rows = table_cells(alarms_table(tabulate_runs(records), "held aside"))
    assert [row[0] for row in rows] == [DEFAULT, "splines"]
    assert rows[1][3:] == ["2", "0.50", "0", ""]


def test_alarms_without_misses_or_runs():
    good = tabulate_runs([record(DEFAULT, 0, 1.2, trust=0.0)])
    assert "no fit misses by more than three" in alarms_line(count_alarms(good, "tuning"), "these")
    none = count_alarms(good, "held aside")
    assert alarms_line(none, "these") == "Our default was not run on these."


# The page


def table_cells(text):
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]


def overview_of(*rows):
    names = ["design", "n", "method", "error", "coverage"]
    return table_cells(overview_table(pd.DataFrame(rows, columns=names)))


def test_the_overview_is_bold_where_a_bound_is_missed():
    head, _, waves, kinks = overview_of(
        ("kinks", 1000, DEFAULT, 1.34, 0.91),
        ("kinks", 5000, DEFAULT, 1.51, 0.89),
        ("waves", 1000, DEFAULT, 1.36, 0.89),
        ("waves", 5000, DEFAULT, 1.49, 0.87),
        ("waves", 20_000, DEFAULT, math.nan, math.nan),
        ("waves", 50_000, "splines", 9.0, 0.0),
    )
    assert head == ["design", "use", "1,000", "5,000", "20,000"]
    assert waves[1:] == ["tuning", "**1.36** / **0.89**", "1.49 / **0.87**", "**failed**"]
    assert kinks[1:] == ["held aside", "1.34 / 0.91", "**1.51** / 0.89", ""]
    assert overview_of(("waves", 500, "splines", 1.0, 0.9)) == [[]]  # our default was not run


def test_the_page_of_a_run(folder, tmp_path):
    write_dashboard(folder, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert "    the command  # debinet" in text
    assert "<span data-sortable></span>" in text
    assert text.index("## sparse_linear") < text.index("## table2") < text.index("## Failures")
    assert "For tuning" in text
    assert "more rows than columns" in text  # table 2 has 100 features
    summary = pd.read_csv(folder / "dashboard-summary.csv")
    assert len(summary) == 8
    assert summary["failures"].sum() == 2


def test_the_page_marks_losses_and_says_what_was_not_run():
    large, largest = "kinks, n = 1000", "kinks, n = 5000"
    records = [
        record(DEFAULT, 0, 1.9, half=0.1, trust=2.0, design=large),
        record("wide-structured", 0, 1.1, trust=0.0, design=large),
        record(DEFAULT, 0, 1.5, trust=0.0, design=largest),
    ]
    runs = tabulate_runs(records)
    text = make_page(runs, summarize(runs), "")
    assert text.index("## Overview") < text.index("## Losses")
    assert "On the designs that were held aside, fits called ok (1) cover 1.00" in text
    cells = table_cells(text)
    glance, loss = [row for row in cells if row[:1] == ["[kinks](#kinks)"]]
    assert glance[1:] == ["held aside", "**1.80** / **0.00**", "1.00 / 1.00"]
    assert loss[1:7] == [
        "held aside",
        "1000",
        "**error, coverage**",
        "1.80",
        "0.00",
        "wide-structured",
    ]
    (marked,) = [row for row in cells if row[-1:] == ["**loss: error, coverage**"]]
    assert marked[:2] == ["1000", "**debinet**"]
    (left_out,) = [row for row in cells if row[-1:] and row[-1].startswith("not run")]
    assert left_out[:2] == ["5000", "wide-structured"]
    assert left_out[-1] == "not run: would take about 4 minutes a run"  # 2 seconds times 5^3
    assert ["held aside", "do not trust", "0.00 ± 0.22", "1"] in cells
    lengths = {len(row) for row in cells if row[:1] in (["1000"], ["5000"])}
    assert lengths == {12}


def test_times_in_words():
    assert in_words(30.4) == "about 30 seconds a run"
    assert in_words(600.0) == "about 10 minutes a run"
    assert in_words(1e5) == "about 28 hours a run"
    assert in_words(math.nan) == "too long"


def test_a_folder_without_results(tmp_path):
    with pytest.raises(DataNotFoundError, match="debinet dashboard run"):
        write_dashboard(tmp_path, tmp_path / "page.md")
