"""`debinet fit --stream`: Parquet files of any size from the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click import Abort, BadParameter, UsageError
from command_line import assert_printed, run

import debinet as dn
from debinet.exceptions import (
    DataNotFoundError,
    DebiNetError,
    FileFormatError,
    MissingValueError,
    OptionError,
    UnknownColumnError,
)
from debinet.streaming import running

COLUMNS = ("--stream", "--outcome", "lwage", "--treatments", "d1,d2", "--controls", "z1,z2,region")


def make(n=300):
    X, y, _ = dn.datasets.make_sparse_linear(n, 4, random_state=0)
    rng = np.random.default_rng(0)
    frame = X.assign(lwage=y, firm=rng.integers(0, 40, n), weight=rng.uniform(0.5, 2, n))
    return frame.assign(region=rng.choice(["north", "south"], n))


FRAME = make()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    target = tmp_path_factory.mktemp("data")
    for i in range(3):
        part = FRAME[100 * i : 100 * (i + 1)]
        part.to_parquet(target / f"part-{i}.parquet", row_group_size=40)
    return target


def python(data, learner="wide"):
    """The same from Python: of the same pieces, as sums of 300 landmarks of 300 rows keep eight
    digits only."""
    model = dn.PartiallyLinear(["d1", "d2"], learner, random_state=0)
    return model.fit_stream(data, "lwage", controls=["z1", "z2", "region"]).result_


def test_a_pattern_a_folder_and_a_file(folder, tmp_path):
    FRAME.to_parquet(tmp_path / "one.parquet")
    for data in (folder / "*.parquet", folder, tmp_path / "one.parquet"):
        found = run("fit", data, *COLUMNS, "--json")
        assert_printed(found, python(data), 1e-10)
        assert json.loads(found.output)["rows"] == 300


def test_the_options(folder):
    found = run(
        *("fit", folder, *COLUMNS, "--width", 25, "--seed", 3, "--crossfit", 4, "--json"),
        *("--weights", "weight", "--vcov", "cluster:firm"),
    )
    model = dn.PartiallyLinear(
        ["d1", "d2"], dn.TangentNet(width=25), crossfit=4, random_state=3
    ).fit_stream(
        *(FRAME, "lwage"),
        controls=["z1", "z2", "region"],
        groups="firm",
        sample_weight="weight",
    )
    assert_printed(found, model.result_, 1e-10)
    robust = run("fit", folder, *COLUMNS, "--vcov", "HC1", "--json")
    assert json.loads(robust.output)["covariance"] == "HC1"
    assert_printed(robust, python(folder).with_vcov("HC1"), 1e-10)


def test_controls_are_all_other_columns(folder):
    found = run("fit", folder, *COLUMNS[:5], "--weights", "weight", "--json")
    assert json.loads(found.output)["provenance"]["controls"] == 6  # firm is a number too


def test_outputs(folder, tmp_path):
    """Tables, a report, a model that predicts; nothing is replaced; nothing else is left."""
    table, saved, report = (tmp_path / name for name in ("t.csv", "m.npz", "r.html"))
    outputs = ("--table", table, "--save", saved, "--report", report)
    found = run("fit", folder, *COLUMNS, *outputs, "--joint", "--level", 0.9)
    assert "90 %, joint" in found.output
    assert "Trust: " in found.output
    assert "streamed from" in report.read_text(encoding="utf-8")
    assert pd.read_csv(table, index_col="term").shape[0] == 2
    FRAME.to_csv(tmp_path / "new.csv", index=False)
    predicted = run("predict", saved, tmp_path / "new.csv", "--nuisance").output
    assert len(predicted.splitlines()) == 301
    assert run("trust", saved).output.startswith("Verdict:")
    assert run("fit", folder, *COLUMNS, "--quiet").output == ""
    before = table.read_bytes()
    with pytest.raises(OptionError, match="--force"):
        run("fit", folder, *COLUMNS, *outputs)
    assert table.read_bytes() == before
    run("fit", folder, *COLUMNS, *outputs, "--force", "--quiet")
    assert {path.name for path in tmp_path.iterdir()} == {"t.csv", "m.npz", "r.html", "new.csv"}


def test_a_checkpoint(folder, tmp_path, monkeypatch):
    checkpoint = tmp_path / "sums"
    command = ("fit", folder, *COLUMNS, "--checkpoint", checkpoint, "--json")
    read, calls = running.read_rows, []

    def stop(*arguments):
        calls.append(1)
        if len(calls) == 12:
            raise KeyboardInterrupt
        return read(*arguments)

    monkeypatch.setattr(running, "read_rows", stop)
    with pytest.raises(Abort):
        run(*command)
    assert checkpoint.exists()
    found = run(*command)
    assert len(calls) == 27 + 1  # nine pieces three times, and the one that failed
    assert_printed(found, python(folder), 1e-10)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        (("--stream", "--formula", "lwage ~ d1 | z1"), UsageError, "--formula needs all rows"),
        (("--stream", "--outcome", "lwage", "--select", "lasso"), UsageError, "--select needs"),
        (("--stream", "--outcome", "lwage"), UsageError, "--treatments with --stream"),
        (("--stream", "--treatments", "d1"), UsageError, "--outcome"),
        ((*COLUMNS, "--learner", "forest"), UsageError, "use wide with --stream"),
        ((*COLUMNS, "--drop-missing"), UsageError, "--drop-missing"),
        ((*COLUMNS, "--vcov", "cluster:firm,region"), UsageError, "one column"),
        ((*COLUMNS, "--vcov", "HC7"), UsageError, "HC7"),
        ((*COLUMNS, "--crossfit", "loo"), OptionError, "number of folds"),
        ((*COLUMNS, "--crossfit", "5x3"), OptionError, "number of folds"),
        ((*COLUMNS, "--width", "0"), UsageError, "x>=1"),
        ((*COLUMNS, "--checkpoint", "no/such/file"), OptionError, "folder"),
        ((*COLUMNS, "--vcov", "cluster:frim"), UnknownColumnError, "mean 'firm'"),
        ((*COLUMNS[:3], "--treatments", "d1,dd2"), UnknownColumnError, "mean 'd2'"),
        ((*COLUMNS, "--weights", "wieght"), UnknownColumnError, "mean 'weight'"),
        ((*COLUMNS, "--table", "table.doc"), OptionError, "end in"),
    ],
)
def test_what_is_refused(folder, arguments, error, match):
    with pytest.raises(error, match=match):
        run("fit", folder, *arguments)


@pytest.mark.parametrize(
    "option", [("--width", 9), ("--checkpoint", "x"), ("--scheduler", "tcp://127.0.0.1:9")]
)
def test_options_of_streams_alone(folder, option):
    with pytest.raises(UsageError, match="requires --stream"):
        run("fit", folder / "part-0.parquet", *COLUMNS[1:], *option)


def test_files_that_are_not_there(folder, tmp_path):
    """Without --stream a file must exist; with it, something must match."""
    for name, match in [("nothing.csv", "does not exist"), ("*.parquet", "not exist")]:
        with pytest.raises(BadParameter, match=match):
            run("fit", tmp_path / name, *COLUMNS[1:])
    with pytest.raises(BadParameter, match="is a directory"):
        run("fit", folder, *COLUMNS[1:])
    for name in ("nothing.parquet", "*.parquet", ""):
        with pytest.raises(DataNotFoundError):
            run("fit", tmp_path / name, *COLUMNS)
    (tmp_path / "wages.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match="Parquet"):
        run("fit", tmp_path / "wages.csv", *COLUMNS)
    (tmp_path / "bad.parquet").write_bytes(b"not parquet")
    with pytest.raises(FileFormatError, match=r"bad\.parquet"):
        run("fit", tmp_path / "bad.parquet", *COLUMNS)


def test_missing_values_are_refused(tmp_path):
    FRAME.assign(z2=FRAME["z2"].where(FRAME.index != 77)).to_parquet(tmp_path / "data.parquet")
    with pytest.raises(MissingValueError, match=r"'z2', row 77 \(data\.parquet, row group 0"):
        run("fit", tmp_path, *COLUMNS)


def test_hostile_names_are_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "__import__('pathlib').Path('pwned').touch()"
    hostile = {"z1": name, "z2": "{0.__class__}", "d1": "<script>alert(1)</script>"}
    folder = tmp_path / "$(touch pwned)"
    folder.mkdir()
    FRAME.rename(columns=hostile).to_parquet(folder / "data.parquet")
    options = ("--stream", "--outcome", "lwage", "--treatments", hostile["d1"], "--quiet")
    run("fit", folder, *options, "--report", "r.html", "--table", "t.html")
    assert "<script>alert(1)" not in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in (tmp_path / "t.html").read_text(encoding="utf-8")
    with pytest.raises(DebiNetError):
        run("fit", folder, *COLUMNS[:3], "--treatments", f"{name}.real")
    assert {path.name for path in tmp_path.iterdir()} == {folder.name, "r.html", "t.html"}


def test_a_bar_is_for_terminals(folder, monkeypatch):
    assert run("fit", folder, *COLUMNS).stderr == ""
    monkeypatch.setattr("debinet.cli.fit._is_terminal", lambda: True)
    shown = run("fit", folder, *COLUMNS).stderr
    assert all(f"{name}: " in shown for name in ("columns", "grams", "scores"))
    assert run("fit", folder, *COLUMNS, "--quiet").stderr == ""


def test_a_scheduler(folder):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, protocol="tcp", dashboard_address=":0"
    ) as cluster:
        where = ("--scheduler", cluster.scheduler_address)
        found = run("fit", folder, *COLUMNS, "--width", 25, *where, "--json")
    assert_printed(found, python(folder, dn.TangentNet(width=25)), 1e-10)
