"""`debinet fit` and `debinet trust`: from files to tables, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from click import UsageError
from command_line import assert_printed, run

import debinet as dn
from debinet.data.safe_formula import require_safe_formula
from debinet.exceptions import (
    DebiNetError,
    EmptyInputError,
    FileFormatError,
    FormulaError,
    MissingValueError,
    OptionError,
    UnknownColumnError,
)


@pytest.fixture(scope="module")
def wages(tmp_path_factory):
    X, y, _ = dn.datasets.make_sparse_linear(120, 4, random_state=0)
    rng = np.random.default_rng(0)
    frame = X.assign(lwage=y, firm=rng.integers(0, 20, 120), weight=rng.uniform(0.5, 2, 120))
    frame["region"] = rng.choice(["north", "south"], 120)
    path = tmp_path_factory.mktemp("data") / "wages.csv"
    frame.to_csv(path, index=False)
    return path


COLUMNS = ("--outcome", "lwage", "--treatments", "d1,d2", "--controls", "z1,z2,z3,z4")


def test_the_same_as_in_python(wages):
    frame = pd.read_csv(wages)
    model = dn.PartiallyLinear(["d1", "d2"], random_state=0)
    model.fit(frame[["d1", "d2", "z1", "z2", "z3", "z4"]], frame["lwage"])
    found = run("fit", wages, *COLUMNS, "--json")
    assert_printed(found, model.result_, 1e-12)
    content = json.loads(found.output)
    assert content["trust"]["verdict"] in {"ok", "look"}
    assert content["rows"] == 120
    by_formula = run("fit", wages, "--formula", "lwage ~ d1 + d2 | z1 + z2 + z3 + z4", "--json")
    assert_printed(by_formula, model.result_, 1e-12)


def test_no_selector_is_loaded_for_given_treatments(wages, tmp_path):
    """Nor for the report and the saved model; a fresh process, since tests load everything."""
    outputs = ("--report", tmp_path / "r.html", "--save", tmp_path / "m.npz", "--quiet")
    arguments = ["debinet", "fit", *map(str, (wages, *COLUMNS, *outputs))]
    code = (
        f"import sys; sys.argv = {arguments!r}; from debinet.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as ended: assert not ended.code\n"
        "print([name for name in sys.modules if name.startswith('debinet.selection')])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_controls_are_all_other_columns(wages):
    frame = pd.read_csv(wages)
    model = dn.PartiallyLinear(["d1"], random_state=3)
    model.fit(
        frame.drop(columns=["lwage", "weight"]), frame["lwage"], sample_weight=frame["weight"]
    )
    found = run(
        *("fit", wages, "--outcome", "lwage", "--treatments", "d1", "--weights", "weight"),
        *("--seed", 3, "--json"),
    )
    assert_printed(found, model.result_, 1e-12)


def test_clusters_and_other_covariances(wages):
    clustered = json.loads(run("fit", wages, *COLUMNS, "--vcov", "cluster:firm", "--json").output)
    assert "cluster" in clustered["covariance"] or clustered["covariance"] == "full"
    frame = pd.read_csv(wages)
    model = dn.PartiallyLinear(["d1", "d2"], random_state=0)
    X = frame[["d1", "d2", "z1", "z2", "z3", "z4"]]
    model.fit(X, frame["lwage"], groups=frame["firm"])
    assert clustered["coefficients"][0]["se"] == pytest.approx(model.result_.se.iloc[0])
    robust = json.loads(run("fit", wages, *COLUMNS, "--vcov", "HC1", "--json").output)
    assert robust["covariance"] == "HC1"


def test_selection(wages):
    found = json.loads(
        run(
            *("fit", wages, "--outcome", "lwage", "--select", "lasso"),
            *("--controls", "d1,d2,z1,z2,z3,z4", "--json"),
        ).output
    )
    assert found["model"] == "DebiNet"
    assert {"d1"} <= {row["term"] for row in found["coefficients"]}


def test_a_group_selector_takes_the_columns_of_a_category_together(tmp_path):
    rng = np.random.default_rng(0)
    area = pd.get_dummies(pd.Series(rng.choice(list("abc"), 200), name="area"), dtype=float)
    frame = area.add_prefix("area_").assign(z=rng.normal(size=200), w=rng.normal(size=200))
    frame["y"] = 2 * frame["area_a"] - 2 * frame["area_b"] + rng.normal(size=200)
    frame.drop(columns="area_c").to_csv(tmp_path / "areas.csv", index=False)
    options = ("--outcome", "y", "--select", "group_lasso", "--json")
    found = json.loads(run("fit", tmp_path / "areas.csv", *options).output)
    assert {"area_a", "area_b"} <= {row["term"] for row in found["coefficients"]}


@pytest.mark.parametrize("learner", ["spline", "forest", "lasso", "linear", "boosting", "mean"])
def test_every_learner(wages, learner):
    found = run("fit", wages, *COLUMNS, "--learner", learner, "--crossfit", "2", "--json")
    assert len(json.loads(found.output)["coefficients"]) == 2


@pytest.mark.parametrize(
    ("text", "kind", "repetitions"),
    [("3x2", "folds", 2), ("loo", "leave-one-out", 1), ("none", "none", 1)],
)
def test_crossfit(wages, text, kind, repetitions):
    found = run("fit", wages, *COLUMNS, "--learner", "linear", "--crossfit", text, "--json")
    done = json.loads(found.output)["provenance"]["cross_fitting"]
    assert (done["kind"], done["repetitions"]) == (kind, repetitions)


@pytest.mark.parametrize("ending", ["tsv", "csv.gz", "parquet", "feather", "dta", "xlsx"])
def test_files(wages, tmp_path, ending):
    frame = pd.read_csv(wages).drop(columns="region")
    path = tmp_path / f"wages.{ending}"
    write = {
        "tsv": lambda: frame.to_csv(path, sep="\t", index=False),
        "csv.gz": lambda: frame.to_csv(path, index=False),
        "parquet": lambda: frame.to_parquet(path),
        "feather": lambda: frame.to_feather(path),
        "xlsx": lambda: frame.to_excel(path, index=False),
        "dta": lambda: frame.to_stata(path, write_index=False),
    }
    write[ending]()
    text = run("fit", path, *COLUMNS, "--json").output
    assert json.loads(text)["rows"] == 120


def test_outputs(wages, tmp_path):
    paths = [tmp_path / f"table.{ending}" for ending in ("csv", "md", "tex", "html")]
    tables = [argument for path in paths for argument in ("--table", path)]
    report, saved = tmp_path / "report.html", tmp_path / "result.npz"
    extras = ("--report", report, "--save", saved, "--quiet")
    assert run("fit", wages, *COLUMNS, *tables, *extras).output == ""
    assert pd.read_csv(paths[0], index_col="term").index.to_list() == ["d1", "d2"]
    assert "\\begin{tabular}" in paths[2].read_text()
    page = report.read_text()
    assert "<img alt=" in page
    assert "Can it be trusted?" in page
    assert dn.load(saved).result_.names == ("d1", "d2")
    before = {path: path.read_bytes() for path in [*paths, report, saved]}
    with pytest.raises(OptionError, match="--force"):
        run("fit", wages, *COLUMNS, *tables, *extras)
    assert {path: path.read_bytes() for path in before} == before
    run("fit", wages, *COLUMNS, *tables, *extras, "--force", "--level", 0.5)
    assert paths[0].read_bytes() != before[paths[0]]
    assert sorted(tmp_path.iterdir()) == sorted(before)


def test_trust_of_a_saved_result(wages, tmp_path):
    saved = tmp_path / "result.npz"
    run("fit", wages, *COLUMNS, "--save", saved, "--quiet")
    found = run("trust", saved)
    assert found.output.startswith("Verdict:")
    assert found.return_value == 0
    assert len(json.loads(run("trust", saved, "--json").output)["checks"]) == 14
    forest = ("--learner", "forest", "--crossfit", "none", "--seed", 1, "--force")
    run("fit", wages, *COLUMNS, "--save", saved, "--quiet", *forest)
    assert run("trust", saved).return_value == 1


def test_the_summary_says_what_to_look_at(wages):
    in_sample = ("--learner", "forest", "--crossfit", "none", "--seed", 1)
    found = run("fit", wages, *COLUMNS, *in_sample)
    assert "Trust: do not trust" in found.output
    assert "-> " in found.output


def test_missing_values(wages, tmp_path):
    frame = pd.read_csv(wages)
    frame.loc[[3, 5], "z2"] = np.nan
    frame.loc[7, "region"] = None
    path = tmp_path / "missing.csv"
    frame.to_csv(path, index=False)
    with pytest.raises(MissingValueError, match=r"z2 \(2\)"):
        run("fit", path, *COLUMNS)
    found = run("fit", path, *COLUMNS, "--drop-missing")
    assert "2 rows with missing values were left out" in found.output


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        (("--outcome", "lwgae", "--treatments", "d1"), UnknownColumnError, "mean 'lwage'"),
        (("--outcome", "lwage", "--treatments", "d1,dd2"), UnknownColumnError, "mean 'd2'"),
        (("--outcome", "lwage", "--treatments", "firma"), UnknownColumnError, "mean 'firm'"),
        ((*COLUMNS, "--vcov", "cluster:frim"), UnknownColumnError, "mean 'firm'"),
        ((*COLUMNS, "--vcov", "cluster"), UsageError, "cluster:firm"),
        ((*COLUMNS, "--vcov", "HC7"), DebiNetError, "HC7"),
        ((*COLUMNS, "--vcov", "HC1:firm"), UsageError, "takes no columns"),
        ((*COLUMNS, "--crossfit", "five"), UsageError, "5x3"),
        ((*COLUMNS, "--table", "table.doc"), OptionError, "end in"),
        ((*COLUMNS, "--save", "no/such/folder.npz"), OptionError, "folders that exist"),
        (("--outcome", "lwage"), UsageError, "--treatments or --select"),
        (("--treatments", "d1"), UsageError, "--outcome"),
        ((*COLUMNS, "--select", "lasso"), UsageError, "either"),
        ((*COLUMNS, "--formula", "lwage ~ d1 | z1"), UsageError, "--formula replaces"),
        (("--formula", "lwage ~ d1 | z9"), UnknownColumnError, "z9"),
        (("--formula", "lwage ~ d1"), FormulaError, "needs one"),
        ((*COLUMNS[:4], "--controls", "d1"), DebiNetError, "."),
    ],
)
def test_what_is_refused(wages, arguments, error, match):
    with pytest.raises(error, match=match):
        run("fit", wages, *arguments)


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("empty.csv", b"", EmptyInputError),
        ("head.csv", b"lwage,d1,d2,z1,z2,z3,z4\n", EmptyInputError),
        ("bad.parquet", b"not parquet", FileFormatError),
        ("bad.dta", b"not stata", FileFormatError),
        ("bad.csv", b"\xff\xfe\x00\x00", DebiNetError),
        ("data.doc", b"1", FileFormatError),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, content, error):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(error):
        run("fit", path, *COLUMNS)


# Untrusted formulas

KNOWN = {"y", "d", "z", "T", "my column", "__import__('os').getcwd()"}
HOSTILE = [
    "y ~ d | __import__('os').system('touch pwned')",
    "y ~ d | {__import__('os').getcwd()}",
    "y ~ d | z.__class__",
    "y ~ d | z.T",
    "y ~ d | (z).T",
    "y ~ d | eval('1')",
    "y ~ d | exec(z)",
    "y ~ d | I(z.T)",
    "y ~ d | open(z)",
    "y ~ d | C(z, contr.treatment)",
    "y ~ d | z[0]",
    "y ~ d | z; import os",
    'y ~ d | C(z, "a")',
    "y ~ d | z ** 50",
    "y ~ d | (z + d) ^ 12",
    "y ~ d | z ** z",
    "y ~ d | lambda: z",
    "y ~ d | z @ z",
    "y ~ d | `z` . T",
    "y ~ d | ..",
    "y ~ d\n| z\x00",
    "y ~ d | print",
]


@pytest.mark.parametrize("formula", HOSTILE)
def test_hostile_formulas(formula):
    with pytest.raises((FormulaError, UnknownColumnError)):
        require_safe_formula(formula, KNOWN)


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ d | z",
        "log(y) ~ d + d:z | C(z) + poly(z, 3) + bs(T, df=4) - 1",
        "y ~ d | .",
        "y ~ d | `my column` + (z + T) ** 2",
        "y ~ d | `__import__('os').getcwd()`",
        "y~d|z*T",
    ],
)
def test_harmless_formulas(formula):
    require_safe_formula(formula, KNOWN)


def test_a_hostile_column_name_is_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y, _ = dn.datasets.make_sparse_linear(80, 3, random_state=0)
    name = "__import__('pathlib').Path('pwned').touch()"
    frame = X.rename(columns={"z1": name}).assign(y=y)
    frame.to_csv("data.csv", index=False)
    run("fit", "data.csv", "--outcome", "y", "--treatments", "d1", "--quiet")
    with suppress(DebiNetError):
        run("fit", "data.csv", "--formula", f"y ~ d1 | z2 + `{name}`", "--quiet")
    assert not (tmp_path / "pwned").exists()


# --- several models ---


def test_several_models_in_one_call(wages, tmp_path):
    frame = pd.read_csv(wages)
    found = run("fit", wages, *COLUMNS, "--compare", "lasso, robinson,mean", "--json")
    content = json.loads(found.output)
    assert [(row["treatment"], row["model"]) for row in content["models"]] == [
        (treatment, model) for treatment in ("d1", "d2") for model in ("lasso", "robinson", "mean")
    ]
    alone = dn.PartiallyLinear(["d1", "d2"], "lasso", random_state=0)
    alone.fit(frame[["d1", "d2", "z1", "z2", "z3", "z4"]], frame["lwage"])
    assert content["models"][0]["coef"] == pytest.approx(alone.coef_[0], rel=1e-12)
    assert [row["treatment"] for row in content["agreement"]] == ["d1", "d2", "all"]
    tables = [tmp_path / f"t.{ending}" for ending in ("csv", "md", "tex", "html")]
    options = [part for path in tables for part in ("--table", path)]
    printed = run("fit", wages, *COLUMNS, "--compare", "lasso,mean", *options, "--level", "0.9")
    assert "Comparison of models of lwage" in printed.output
    assert "90 %" in printed.output
    for path in tables:
        assert "lasso" in path.read_text()
    assert pd.read_csv(tables[0])["coef"].notna().all()
    quiet = run("fit", wages, *COLUMNS, "--compare", "mean", "--quiet")
    assert quiet.output == ""


def test_a_model_that_fails_is_a_row_and_the_exit_code(wages):
    clusters = ("--vcov", "cluster:region")
    found = run("fit", wages, *COLUMNS, *clusters, "--compare", "lasso,mean", "--json")
    rows = json.loads(found.output)["models"]
    assert [row["trust"] == "failed" for row in rows] == [True, False] * 2
    assert "FoldError" in rows[0]["reason"]
    assert found.return_value == 1


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--compare", "lasso,forrest"), UsageError),
        (("--compare", ","), UsageError),
        (("--compare", "lasso", "--save", "x.npz"), UsageError),
        (("--compare", "lasso", "--report", "x.html"), UsageError),
        (("--compare", "lasso", "--vcov", "HC1"), UsageError),
        (("--compare", "lasso", "--joint"), UsageError),
        (("--compare", "lasso", "--select", "lasso"), UsageError),
    ],
)
def test_what_a_comparison_cannot_do(arguments, error, wages, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error):
        run("fit", wages, *COLUMNS, *arguments)
