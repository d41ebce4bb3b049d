"""`debinet fit` on files of others: which columns, how they are written, and where results go."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click import UsageError
from command_line import assert_printed, debinet, run

import debinet as dn
from debinet.data.examples import EXAMPLES, make_wages
from debinet.exceptions import (
    ColumnTypeError,
    FileFormatError,
    OptionError,
    OutcomeColumnError,
    UnknownColumnError,
)
from debinet.report.spreadsheet import plain_cells

QUICK = ("--learner", "linear")
EDUC = ("--outcome", "lwage", "--treatments", "educ", *QUICK)


@pytest.fixture(scope="module")
def wages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("example")
    run("example", "wages.csv", "--out", folder)
    return folder / "wages.csv"


# The example


def test_the_example_is_the_same_every_time(wages, tmp_path):
    found = run("example", "wages.csv", "--out", tmp_path)
    assert (tmp_path / "wages.csv").read_bytes() == wages.read_bytes()
    assert "600 rows, columns person, lwage, educ" in found.output
    pd.testing.assert_frame_equal(pd.read_csv(wages), make_wages())
    with pytest.raises(OptionError, match="--force"):
        run("example", "wages.csv", "--out", tmp_path)
    for name, read in (("wages.parquet", pd.read_parquet), ("wages.xlsx", pd.read_excel)):
        run("example", name, "--out", tmp_path)
        pd.testing.assert_frame_equal(read(tmp_path / name), make_wages(), check_dtype=False)
    run("example", "wages.csv", "--out", tmp_path, "--force")


def test_the_examples_of_the_command_are_those_there_are():
    from debinet.cli.example import EXAMPLES as NAMES

    assert tuple(EXAMPLES) == NAMES


def test_the_effects_of_the_example_are_found(wages):
    """All four within three standard errors: a false alarm in 1 of 100 such tables."""
    treatments = ("--treatments", "educ,union,training", "--ref", "training=none")
    found = run("fit", wages, "--outcome", "lwage", *treatments, "--exclude", "person", "--json")
    rows = {row["term"]: row for row in json.loads(found.output)["coefficients"]}
    truth = {"educ": 0.08, "union": 0.10, "training[short]": 0.05, "training[long]": 0.12}
    assert set(rows) == set(truth)
    for term, effect in truth.items():
        assert abs(rows[term]["coef"] - effect) < 3 * rows[term]["se"], term


@pytest.mark.parametrize("command", ["fit", "predict", "trust", "example"])
def test_lines_of_help_can_be_copied(command, tmp_path, monkeypatch):
    import re
    import shlex

    monkeypatch.chdir(tmp_path)
    run("example", "wages.csv")
    run("example", "wages.parquet")
    lines = re.findall(r"^ +(debinet (?:fit|predict|trust) .*)$", run(command, "-h").output, re.M)
    assert lines
    for line in lines:
        words = shlex.split(line)[1:]
        ended = debinet(*words)
        assert ended.returncode == 0, ended.stderr


# Columns


def test_excluded_columns_are_not_used(wages):
    frame = pd.read_csv(wages)
    X = frame.drop(columns=["lwage", "person", "firm"])
    model = dn.PartiallyLinear(["educ"], "linear", random_state=0).fit(X, frame["lwage"])
    found = run("fit", wages, *EDUC, "--exclude", "person, firm", "--json")
    assert_printed(found, model.result_, 1e-12)
    content = json.loads(found.output)
    assert content["provenance"]["control_columns"] == [c for c in X.columns if c != "educ"]
    by_formula = run(
        "fit", wages, "--formula", "lwage ~ educ | .", "--exclude", "person,firm", "--json", *QUICK
    )
    assert len(json.loads(by_formula.output)["provenance"]["control_columns"]) == 9
    clustered = ("--vcov", "cluster:firm", "--exclude", "person,firm")
    assert "clusters       60" in run("fit", wages, *EDUC, *clustered).output


def test_excluded_columns_of_a_selection(wages):
    select = ("--outcome", "lwage", "--select", "lasso", *QUICK, "--json")
    found = json.loads(run("fit", wages, *select, "--exclude", "person,educ").output)
    assert found["provenance"]["selection"]["offered"] == 5
    assert all(row["term"] != "educ" for row in found["coefficients"])


def test_excluded_columns_of_a_stream(wages, tmp_path):
    frame = pd.read_csv(wages).drop(columns="training")
    frame.to_parquet(tmp_path / "wages.parquet")
    stream = ("--stream", "--outcome", "lwage", "--treatments", "educ", "--width", 20, "--json")
    found = run("fit", tmp_path / "wages.parquet", *stream, "--exclude", "person,firm")
    known = ["union", "exper", "tenure", "female", "region"]
    assert json.loads(found.output)["provenance"]["control_columns"] == known
    for bad, error in (("persn", UnknownColumnError), ("educ", UsageError)):
        with pytest.raises(error):
            run("fit", tmp_path / "wages.parquet", *stream, "--exclude", bad)
    with pytest.raises(UsageError, match="--sep cannot"):
        run("fit", tmp_path / "wages.parquet", *stream, "--sep", ";")
    with pytest.raises(UsageError, match="--ref cannot"):
        run("fit", tmp_path / "wages.parquet", *stream, "--ref", "region=west")


def test_notes_name_what_was_not_excluded(wages):
    output = run("fit", wages, *EDUC, "--vcov", "cluster:firm").output
    assert "'person' looks like a row number" in output
    controls = ("--controls", "exper,firm", "--vcov", "cluster:firm")
    assert "'firm' is the variable of the clusters" in run("fit", wages, *EDUC, *controls).output


def test_references(wages):
    columns = ("--outcome", "lwage", "--treatments", "training,region", *QUICK, "--json")
    terms = [
        [row["term"] for row in json.loads(run("fit", wages, *arguments).output)["coefficients"]]
        for arguments in (
            columns,
            (*columns, "--ref", "training=none", "--ref", "region=west"),
            (
                "--formula",
                "lwage ~ C(training) | exper",
                "--ref",
                "training=short",
                *QUICK,
                "--json",
            ),
            ("--outcome", "lwage", "--treatments", "female", "--ref", "female=1", *QUICK, "--json"),
        )
    ]
    assert terms[0][:2] == ["training[none]", "training[short]"]
    assert terms[1] == [
        "training[long]",
        "training[short]",
        "region[east]",
        "region[north]",
        "region[south]",
    ]
    assert terms[2] == ["C(training)[T.long]", "C(training)[T.none]"]
    assert terms[3] == ["female[0]"]


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ((*EDUC, "--exclude", "persn"), UnknownColumnError, "mean 'person'"),
        ((*EDUC, "--exclude", "educ"), UsageError, "used by another option"),
        ((*EDUC, "--exclude", "lwage"), UsageError, "used by another option"),
        ((*EDUC, "--exclude", "firm", "--controls", "exper"), UsageError, "names all controls"),
        ((*EDUC, "--ref", "training"), UsageError, "COLUMN=LEVEL"),
        ((*EDUC, "--ref", "educ=1", "--ref", "educ=2"), UsageError, "another reference"),
        ((*EDUC, "--ref", "training=none"), OptionError, "ref for treatments"),
        (("--outcome", "lwage", "--select", "lasso", "--ref", "a=b"), UsageError, "--ref is for"),
        (
            ("--outcome", "lwage", "--treatments", "training", "--ref", "training=nothing"),
            OptionError,
            "'long', 'none', 'short'",
        ),
        (("--formula", "lwage ~ educ | exper", "--exclude", "exper"), UnknownColumnError, "exper"),
        (("--formula", "lwage ~ educ | exper", "--ref", "x=1"), UnknownColumnError, "'x'"),
        ((*EDUC[:2], "--treatments", "lwage"), OutcomeColumnError, "'lwage'"),
        ((*EDUC, "--controls", "exper,lwage"), OutcomeColumnError, "'lwage'"),
        ((*EDUC, "--crossfit", "²"), UsageError, "5x3"),
        ((*EDUC, "--crossfit", "5x²"), UsageError, "5x3"),
        ((*EDUC, "--crossfit", "5x"), UsageError, "5x3"),
    ],
)
def test_what_is_refused(wages, arguments, error, match):
    with pytest.raises(error, match=match):
        run("fit", wages, *arguments)


def test_numbers_of_rows_of_the_dashboard_are_digits():
    ended = debinet("dashboard", "run", "--sizes", "2²")
    assert ended.returncode == 2
    assert "numbers of rows" in ended.stderr


# Files


def test_a_German_file_is_read_and_noted(wages, tmp_path):
    frame = pd.read_csv(wages).drop(columns="person")
    frame.to_csv(tmp_path / "german.csv", sep=";", decimal=",", index=False)
    known = run("fit", wages, *EDUC, "--exclude", "person", "--json").output
    found = run("fit", tmp_path / "german.csv", *EDUC, "--json").output
    assert json.loads(found)["coefficients"] == json.loads(known)["coefficients"]
    assert json.loads(found)["notes"][:2] == [
        "german.csv was read with columns separated by ';'",
        "german.csv was read with decimal commas",
    ]
    given = ("--sep", ";", "--decimal", ",", "--encoding", "latin-1")
    quiet = run("fit", tmp_path / "german.csv", *EDUC, *given, "--json").output
    assert json.loads(quiet)["notes"] == json.loads(known)["notes"]


@pytest.mark.parametrize("name", ["wages.dat", "wages.csv"])
def test_white_space(wages, tmp_path, name):
    frame = pd.read_csv(wages).drop(columns=["person"])
    (tmp_path / name).write_text(frame.to_string(index=False))
    found = run("fit", tmp_path / name, *EDUC, "--json").output
    assert json.loads(found)["provenance"]["controls"] == 12  # as in the comma-separated file


def test_thousands_are_refused_where_they_are_used(wages, tmp_path):
    frame = pd.read_csv(wages)
    frame["income"] = np.exp(frame["lwage"]).mul(1000).map("{:,.0f}".format)
    frame.to_csv(tmp_path / "income.csv", index=False)
    with pytest.raises(ColumnTypeError, match=r"'income'.*comma may separate"):
        run("fit", tmp_path / "income.csv", *EDUC)
    with pytest.raises(ColumnTypeError, match=r"in y, .*comma may separate"):
        run("fit", tmp_path / "income.csv", "--outcome", "income", "--treatments", "educ")
    run("fit", tmp_path / "income.csv", *EDUC, "--exclude", "income")


def test_a_comma_at_the_end_of_rows_shifts_nothing(wages, tmp_path):
    head, rows = wages.read_text().split("\n", 1)
    (tmp_path / "ends.csv").write_text(head + "\n" + rows.replace("\n", ",\n"))
    with pytest.raises(FileFormatError, match="11 in line 2"):
        run("fit", tmp_path / "ends.csv", *EDUC)


def test_predict_reads_what_fit_reads(wages, tmp_path):
    frame = pd.read_csv(wages)
    saved = tmp_path / "model.npz"
    run("fit", wages, *EDUC, "--exclude", "person", "--save", saved, "--quiet")
    known = run("predict", saved, wages).output
    frame.to_csv(tmp_path / "new.csv", sep=";", decimal=",", index=False)
    assert run("predict", saved, tmp_path / "new.csv").output == known
    frame.to_csv(tmp_path / "new.txt", sep="#", index=False, encoding="utf-16-le")
    given = ("--sep", "#", "--encoding", "utf-16-le")
    assert run("predict", saved, tmp_path / "new.txt", *given).output == known
    with pd.ExcelWriter(tmp_path / "new.xlsx") as book:
        frame[:3].to_excel(book, sheet_name="other", index=False)
        frame.to_excel(book, sheet_name="all", index=False)
    assert run("predict", saved, tmp_path / "new.xlsx", "--sheet", "all").output == known


# Outputs


def test_tables_as_xlsx(wages, tmp_path):
    options = ("--exclude", "person", "--quiet")
    tables = ("--table", tmp_path / "table.xlsx", "--table", tmp_path / "table.csv")
    run("fit", wages, *EDUC, *options, *tables, "--save", tmp_path / "model.npz")
    sheet = pd.read_excel(tmp_path / "table.xlsx", index_col="term")
    pd.testing.assert_frame_equal(sheet, pd.read_csv(tmp_path / "table.csv", index_col="term"))
    run(
        "predict", tmp_path / "model.npz", wages, "--out", tmp_path / "new.xlsx", "--keep", "region"
    )
    predicted = pd.read_excel(tmp_path / "new.xlsx")
    assert list(predicted.columns) == ["region", "prediction"]
    assert len(predicted) == 600


@pytest.mark.parametrize(
    "outputs",
    [
        ("--save", "x", "--report", "x"),
        ("--save", "x.csv", "--table", "x.csv"),
        ("--table", "x.csv", "--table", "./x.csv"),
        ("--table", "wages.csv", "--force"),
        ("--report", "link.html", "--save", "x.html"),
    ],
)
def test_outputs_have_a_file_of_their_own(wages, tmp_path, monkeypatch, outputs):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wages.csv").write_bytes(wages.read_bytes())
    (tmp_path / "link.html").symlink_to("x.html")
    with pytest.raises(OptionError, match="a file of its own"):
        run("fit", "wages.csv", *EDUC, *outputs)
    assert (tmp_path / "wages.csv").read_bytes() == wages.read_bytes()


def test_predictions_do_not_replace_what_they_are_made_of(wages, tmp_path):
    saved = tmp_path / "model.npz"
    run("fit", wages, *EDUC, "--save", saved, "--quiet")
    with pytest.raises(OptionError, match="a file of its own"):
        run("predict", saved, wages, "--out", wages, "--force")


HOSTILE = "=cmd|' /C calc'!A0"


def test_no_cell_is_a_formula(wages, tmp_path):
    frame = pd.read_csv(wages).rename(columns={"educ": HOSTILE, "union": "+union"})
    frame["region"] = "@" + frame["region"]
    frame.to_csv(tmp_path / "hostile.csv", index=False)
    columns = ("--outcome", "lwage", "--treatments", f"{HOSTILE},+union", *QUICK)
    tables = [tmp_path / "t.csv", tmp_path / "t.xlsx"]
    written = [word for path in tables for word in ("--table", path)]
    saved = tmp_path / "m.npz"
    run("fit", tmp_path / "hostile.csv", *columns, *written, "--save", saved, "--quiet")
    terms = [f"'{HOSTILE}", "'+union"]
    assert pd.read_csv(tables[0])["term"].tolist() == terms
    assert pd.read_excel(tables[1])["term"].tolist() == terms
    for name in ("p.csv", "p.tsv", "p.xlsx"):
        out = tmp_path / name
        run("predict", saved, tmp_path / "hostile.csv", "--out", out, "--keep", "region,+union")
        text = out.read_text() if name != "p.xlsx" else pd.read_excel(out).to_csv()
        assert "'+union" in text
        assert "'@north" in text
        assert ",@" not in text


@pytest.mark.parametrize("text", ["-1.5", "+3", "-1,5", "-2e-3", "north", "a=b", ""])
def test_other_texts_stay_as_they_are(text):
    frame = pd.DataFrame({"a": [text, "x"], "b": [-1.0, 2.0]}, index=[text, "y"])
    made = plain_cells(frame)
    assert made.to_dict() == frame.to_dict()
    assert list(made.index) == [text, "y"]


def test_names_that_were_not_separated(wages, tmp_path):
    pd.read_csv(wages).to_csv(tmp_path / "w.csv", sep="#", index=False)
    with pytest.raises(UnknownColumnError, match="The columns are 'person#lwage"):
        run("fit", tmp_path / "w.csv", *EDUC)
    with pytest.raises(UnknownColumnError, match="--sep on the command line"):
        run("fit", wages, *EDUC, "--sep", ";")
