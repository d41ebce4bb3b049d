"""The command line: its output and its exit codes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from command_line import debinet

PLAN = """
name = "small"
runs = 2
[[designs]]
make = "waves"
n = 40
[[methods]]
name = "default"
"""


def in_a_process(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "debinet", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_names_the_commands_and_has_examples():
    found = debinet("--help")
    assert found.returncode == 0
    assert "reproduce" in found.stdout
    assert "simulate" in found.stdout
    assert "debinet reproduce table2 --runs 50" in debinet("reproduce", "--help").stdout
    assert "[[designs]]" in debinet("simulate", "--help").stdout


def test_version():
    import debinet as dn

    assert dn.__version__ in in_a_process("--version").stdout


def test_help_is_quick():
    """At most 0.7 s; the best of three, as the machine may be busy with other tests."""
    code = "import sys; sys.argv = ['debinet', '--help']; import debinet.cli.main as m; m.main()"
    times = []
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        times.append(time.perf_counter() - start)
    assert min(times) < 0.7


def test_demo(tmp_path):
    found = debinet("demo", "--out", tmp_path / "demo")
    assert found.returncode == 0, found.stderr
    assert "of 64 features" in found.stdout
    assert found.stdout.rstrip().endswith("truth.html")
    files = {path.name for path in (tmp_path / "demo").iterdir()}
    assert files == {
        *("report.html", "truth.html", "coefficients.md", "coefficients.tex", "result.npz"),
    }


def test_simulate(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    found = in_a_process(
        "simulate", tmp_path / "plan.toml", "--out", tmp_path / "out", "--workers", 1
    )
    assert found.returncode == 0, found.stderr
    assert "| default" in found.stdout
    assert "2/2" in found.stderr
    again = debinet("simulate", tmp_path / "plan.toml", "--out", tmp_path / "out", "--quiet")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_failed_cells_are_told_by_the_exit_code(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN.replace("n = 40", "n = 3"))
    found = debinet("simulate", tmp_path / "plan.toml", "--out", tmp_path / "out", "--workers", 1)
    assert found.returncode == 1
    assert "2 cells failed" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["reproduce", "tabel2"], "got 'tabel2'"),
        (["reproduce", "table2", "--runs", "0"], "--runs"),
        (["reproduce", "table2", "--scheduler", "tcp://127.0.0.1:1"], "--backend dask"),
        (["simulate", "nothing.toml"], "nothing.toml"),
        (["simulate", "bad.toml"], "TOML"),
        (["simulate", "plan.toml", "--out", "plan.toml"], "plan.toml"),
        (["fitt"], "fitt"),
        (["simulate", "plan.toml", "--out", "/proc/nothing"], "/proc/nothing"),
    ],
)
def test_errors_are_short(tmp_path, monkeypatch, arguments, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.toml").write_text("= 3")
    (tmp_path / "plan.toml").write_text(PLAN)
    found = debinet(*arguments)
    assert found.returncode == 2
    assert text in found.stderr
    assert sorted(os.listdir(tmp_path)) == ["bad.toml", "plan.toml"]


def test_missing_data_is_said_with_the_place_for_it(tmp_path, monkeypatch):
    monkeypatch.delenv("DEBINET_DATA", raising=False)
    monkeypatch.setenv("DEBINET_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    found = debinet(
        "reproduce", "table3", "--quick", "--runs", 1, "--workers", 1, "--out", tmp_path
    )
    assert found.returncode == 2
    assert "set DEBINET_DATA to that folder" in found.stderr


def test_interrupted_by_hand_and_resumed(tmp_path):
    """Ctrl-C: what is finished is kept, the exit code is 130, and no half-written table is left."""
    (tmp_path / "plan.toml").write_text(PLAN.replace("runs = 2", "runs = 400"))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "debinet", "simulate", str(tmp_path / "plan.toml")]
    process = subprocess.Popen(
        [*command, "--out", str(out), "--workers", "1"], stderr=subprocess.PIPE, text=True
    )
    while not (out / "small.jsonl").exists() or not (out / "small.jsonl").read_bytes():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command again to resume" in errors
    assert [path.name for path in out.iterdir()] == ["small.jsonl"]
    kept = (out / "small.jsonl").read_bytes()
    found = debinet("simulate", tmp_path / "plan.toml", "--out", out, "--runs", 2, "--workers", 1)
    assert found.returncode == 0
    assert (out / "small.jsonl").read_bytes().startswith(kept)
