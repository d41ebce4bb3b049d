"""Experiments: seeds from names, cells that are never lost, the same bytes for any workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from slow_plan import plan as slow_plan

from debinet.exceptions import FileFormatError, OptionError
from debinet.experiments import cells
from debinet.experiments.plan import Cell, Design, Experiment, Method
from debinet.experiments.running import run_experiment
from debinet.experiments.store import Appending, Record, read


def draw(n, shift=0.0, *, random_state):
    return np.random.default_rng(random_state).normal(shift, size=n)


def mean(data, seed):
    return {"mean": data.mean(), "size": data.size}


def noisy(data, seed):
    return {"mean": data.mean() + np.random.default_rng(seed).normal()}


def sometimes(data, seed):
    if data.mean() < 0:
        raise ValueError("a mean below zero")
    return {"mean": data.mean()}


@dataclass(frozen=True)
class Power:
    exponent: float

    def __call__(self, data, seed):
        return {"mean": (data**self.exponent).mean()}


def experiment(**changes):
    designs = (Design("small", draw, {"n": 5}), Design("large", draw, {"n": 50, "shift": 1.0}))
    methods = (Method("mean", mean), Method("noisy", noisy), Method("square", Power(2.0)))
    given = {"name": "test", "designs": designs, "methods": methods, "runs": 4, **changes}
    return Experiment(**given)


def run(plan, folder, **options):
    return run_experiment(plan, folder, progress=False, **options)


# Seeds and keys


def test_methods_of_a_replication_share_their_data(tmp_path):
    frame = run(experiment(), tmp_path).to_frame()
    wide = frame.pivot(index=["design", "replication"], columns="method", values="mean")
    assert not np.allclose(wide["mean"], wide["noisy"])
    again = Design("small", draw, {"n": 5})
    for replication in range(4):
        cell = Cell("test", again, Method("mean", mean), replication, 0)
        assert again.draw(cell.data_seed).mean() == wide.loc[("small", replication), "mean"]
    assert wide["mean"].nunique() == len(wide)


def test_order_and_number_of_methods_change_nothing(tmp_path):
    plan = experiment()
    backwards = experiment(designs=plan.designs[::-1], methods=plan.methods[::-1])
    alone = experiment(designs=plan.designs[1:], methods=plan.methods[1:2])
    keys = ["design", "method", "replication"]
    frames = [
        run(p, tmp_path / str(k)).to_frame().set_index(keys)["mean"]
        for k, p in enumerate((plan, backwards, alone))
    ]
    pd.testing.assert_series_equal(frames[0].sort_index(), frames[1].sort_index(), check_exact=True)
    pd.testing.assert_series_equal(
        frames[0].loc[frames[2].index], frames[2], check_exact=True, check_like=True
    )


@pytest.mark.parametrize(
    "other",
    [
        Cell("other", Design("d", draw, {"n": 5}), Method("m", mean), 0, 0),
        Cell("e", Design("d", draw, {"n": 6}), Method("m", mean), 0, 0),
        Cell("e", Design("d", partial(draw, 5)), Method("m", mean), 0, 0),
        Cell("e", Design("d", draw, {"n": 5}), Method("m", Power(2.0)), 0, 0),
        Cell("e", Design("d", draw, {"n": 5}), Method("m", mean), 1, 0),
        Cell("e", Design("d", draw, {"n": 5}), Method("m", mean), 0, 1),
    ],
)
def test_whatever_decides_the_figures_is_in_the_key(other):
    assert Cell("e", Design("d", draw, {"n": 5}), Method("m", mean), 0, 0).key != other.key


KEY = """
from functools import partial
import debinet as dn
from debinet.datasets import make_table1
from debinet.experiments.assess import Fit
from debinet.experiments.plan import Cell, Design, Method
from debinet.experiments.assess import draw_sample

design = Design("d", partial(draw_sample, make_table1), {"n": 5, "f": make_table1})
key = Cell("e", design, Method("m", Fit(dn.PartiallyLinear(["d1"]))), 0, 0).key
"""


def test_keys_are_the_same_in_another_process():
    here = {}
    exec(KEY, here)
    # Sets and dictionaries of texts are ordered otherwise under another hash seed.
    there = subprocess.run(
        [sys.executable, "-c", f"{KEY}\nprint(key)"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "1"},
    )
    assert there.stdout == f"{here['key']}\n"


class Unknown:
    pass


@dataclass(frozen=True)
class Holder:
    thing: object

    def __call__(self, data, seed):
        return {}


def test_long_definitions_are_told_apart():
    """scikit-learn shortens the text of large estimators; numpy that of large arrays."""
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import Pipeline

    def key(alpha, array):
        steps = [(f"step{k}", Ridge(alpha=1.0 + k)) for k in range(40)]
        steps[20] = ("step20", Ridge(alpha=alpha))
        method = Method("m", Holder((Pipeline(steps), array)))
        return Cell("e", Design("d", draw), method, 0, 0).key

    one, other = np.zeros(5000), np.zeros(5000)
    other[2500] = 1.0
    assert len({key(0.1, one), key(0.2, one), key(0.1, other)}) == 3
    assert key(0.1, one) == key(0.1, np.zeros(5000))


@pytest.mark.parametrize("thing", [Unknown(), lambda: None, {"a": [Unknown()]}])
def test_what_cannot_be_described_is_refused(thing):
    with pytest.raises(OptionError, match=r"described in another process|functions with names"):
        Cell("e", Design("d", draw), Method("m", Holder(thing)), 0, 0).key  # noqa: B018


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"designs": ()}, "one or more designs"),
        ({"methods": ()}, "one or more methods"),
        ({"methods": (Method("a", mean), Method("a", noisy))}, "more than once"),
        ({"methods": (Method("a", mean, designs=("smal",)),)}, "name designs of the experiment"),
        ({"methods": (Method("a", mean, designs=()),)}, "designs that method 'a'"),
    ],
)
def test_plans_that_cannot_be(changes, text):
    with pytest.raises(OptionError, match=text):
        experiment(**changes)


@pytest.mark.parametrize(
    "options", [{"runs": 0}, {"runs": 1.5}, {"workers": 0}, {"seed": -1}, {"backend": "mpi"}]
)
def test_options_that_cannot_be(tmp_path, options):
    with pytest.raises(OptionError):
        run(experiment(), tmp_path / "new", **options)
    assert not (tmp_path / "new").exists()


# The store


def record(k, **changes):
    given = {
        "key": f"key{k}",
        "design": 'd "é"\n',
        "method": "m",
        "replication": k,
        "values": {"a": 0.1 + k, "b": 1e-300},
        "failure": None,
        "seconds": 0.5,
        "warnings": [],
        **changes,
    }
    return Record(**given)


def test_a_store_gives_back_what_was_added(tmp_path):
    path = tmp_path / "folder" / "cells.jsonl"
    assert read(path).records == {}
    records = [record(k) for k in range(5)]
    with Appending(path) as out:
        for item in records:
            out.add(item)
    found = read(path)
    assert list(found.records.values()) == records
    assert found.broken == 0


def test_a_store_cut_at_any_byte_loses_one_record_at_most(tmp_path):
    path = tmp_path / "cells.jsonl"
    with Appending(path) as out:
        for k in range(3):
            out.add(record(k))
    content = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(content) if byte == ord("\n")]
    assert len(ends) == 3
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        whole = sum(end - 1 <= cut for end in ends)  # the newline may be missing
        found = read(path)
        assert list(found.records.values()) == [record(k) for k in range(whole)]
        assert found.broken == (cut not in {0, *ends, *(end - 1 for end in ends)})
        with Appending(path) as out:
            out.add(record(9))
        assert list(read(path).records) == [*(f"key{k}" for k in range(whole)), "key9"]


def test_a_line_that_was_changed_is_not_read(tmp_path):
    path = tmp_path / "cells.jsonl"
    with Appending(path) as out:
        for k in range(3):
            out.add(record(k))
    path.write_bytes(path.read_bytes().replace(b"1.1", b"1.2"))
    found = read(path)
    assert list(found.records) == ["key0", "key2"]
    assert found.broken == 1


def test_a_folder_in_place_of_the_store(tmp_path):
    (tmp_path / "test.jsonl").mkdir()
    with pytest.raises(FileFormatError, match="readable file of results"):
        run(experiment(), tmp_path)


# Running


def test_what_is_stored_is_not_run_again(tmp_path, monkeypatch):
    first = run(experiment(), tmp_path)
    monkeypatch.setattr(cells, "_checked", None)  # anything that runs would fail
    again = run(experiment(), tmp_path)
    assert again.records == first.records


def test_more_runs_and_other_definitions_add_cells(tmp_path):
    few = run(experiment(), tmp_path, runs=2)
    more = run(experiment(), tmp_path, runs=3)
    assert len(few.records) == 12
    assert len(more.records) == 18
    assert {r.key for r in few.records} < {r.key for r in more.records}
    changed = experiment(designs=(Design("small", draw, {"n": 6}),))
    frame = run(changed, tmp_path, runs=2).to_frame()
    assert set(frame["size"].dropna()) == {6.0}
    assert len(read(tmp_path / "test.jsonl").records) == 24


def test_failures_are_rows_and_can_be_tried_again(tmp_path):
    plan = experiment(methods=(Method("sometimes", sometimes),), runs=20)
    results = run(plan, tmp_path)
    frame = results.to_frame()
    failed = frame["failure"].notna()
    assert 0 < failed.sum() == len(results.failures) < len(frame) == 40
    assert set(frame.loc[failed, "failure"]) == {"ValueError: a mean below zero"}
    assert frame.loc[failed, "mean"].isna().all()
    assert (frame.loc[~failed, "mean"] >= 0).all()
    assert "cells failed (--retry" in results.remarks()[1]
    assert "a mean below zero" in results.remarks()[2]
    lines = (tmp_path / "test.jsonl").read_bytes().count(b"\n")
    run(plan, tmp_path)
    assert (tmp_path / "test.jsonl").read_bytes().count(b"\n") == lines
    run(plan, tmp_path, retry=True)
    assert (tmp_path / "test.jsonl").read_bytes().count(b"\n") == lines + failed.sum()


def greedy(data, seed):
    data += 1.0
    return {"mean": data.mean()}


def test_a_method_cannot_change_what_the_next_one_sees(tmp_path):
    methods = (Method("greedy", greedy), Method("mean", mean))
    frame = run(experiment(methods=methods), tmp_path).to_frame()
    wide = frame.pivot(index=["design", "replication"], columns="method", values="mean")
    np.testing.assert_allclose(wide["greedy"], wide["mean"] + 1.0)


def test_data_are_not_carried_over_to_another_run(tmp_path, monkeypatch):
    module = sys.modules[__name__]
    plan = experiment(methods=(Method("mean", mean),), runs=1)
    first = run(plan, tmp_path / "one").to_frame()["mean"]
    old = module.draw

    def draw(n, shift=0.0, *, random_state):
        return old(n, shift, random_state=random_state) + 100.0

    draw.__qualname__ = "draw"
    changed = tuple(replace(design, make=draw) for design in plan.designs)
    second = run(replace(plan, designs=changed), tmp_path / "two").to_frame()["mean"]
    np.testing.assert_allclose(second, first + 100.0)


def fatal(data, seed):
    if data.size == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"mean": data.mean()}


@pytest.mark.filterwarnings("ignore:A worker stopped")
def test_a_worker_that_dies_is_a_failure_and_the_rest_goes_on(tmp_path):
    # Four cells are run alone after the death of a worker; the last two by a pool again.
    designs = tuple(Design(f"n = {n}", draw, {"n": n}) for n in (5, 6, 7))
    methods = (Method("fatal", fatal), Method("mean", mean))
    results = run(experiment(designs=designs, methods=methods, runs=1), tmp_path, workers=2)
    assert [(r.design, r.method) for r in results.failures] == [("n = 5", "fatal")]
    assert "process that ran it died" in results.failures[0].failure
    assert len(results.records) == 6


def not_finite(data, seed):
    return {"mean": np.nan, "size": 1.0}


def test_a_figure_that_is_not_finite_is_a_failure(tmp_path):
    results = run(experiment(methods=(Method("nan", not_finite),), runs=1), tmp_path)
    assert {r.failure for r in results.failures} == {"ArithmeticError: mean not finite"}


def test_a_design_that_cannot_be_drawn_is_a_failure(tmp_path):
    plan = experiment(designs=(Design("small", draw, {"n": -1}),), runs=1)
    assert len(run(plan, tmp_path).failures) == 3


def test_missing_packages_are_failures_with_a_reason(tmp_path, monkeypatch):
    monkeypatch.setattr("debinet.learners.torch_extra.find_spec", lambda name: None)
    import debinet as dn
    from debinet.experiments.assess import Fit, draw_sample

    design = Design("d", partial(draw_sample, dn.datasets.make_waves), {"n": 30, "new": 5})
    method = Method("net", Fit(dn.PartiallyLinear(["d1"], dn.Net())), requires=("no such package",))
    results = run(Experiment("missing", (design,), (method,), 1), tmp_path)
    assert "pip install" in (results.records[0].failure or "")
    monkeypatch.undo()  # installed now: what failed without it is run again
    pytest.importorskip("torch")
    again = run(Experiment("missing", (design,), (method,), 1), tmp_path)
    assert again.records[0].failure is None


@pytest.mark.parametrize("workers", [2, 3])
def test_the_same_bytes_for_any_number_of_workers(tmp_path, workers):
    for name, count in (("one", 1), ("more", workers)):
        run(experiment(), tmp_path / name, workers=count)
    one, more = ((tmp_path / name / "test-results.csv").read_bytes() for name in ("one", "more"))
    assert one == more
    assert one.count(b"\n") == 1 + 24


def test_dask_gives_the_same_bytes(tmp_path):
    distributed = pytest.importorskip("distributed")
    run(experiment(), tmp_path / "one")
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None
    ):
        run(experiment(), tmp_path / "dask", backend="dask", workers=2)
    results = [(tmp_path / name / "test-results.csv").read_bytes() for name in ("one", "dask")]
    assert results[0] == results[1]


RUN_SLOW = """
import sys
from debinet.experiments.running import run_experiment
from slow_plan import plan

run_experiment(plan, sys.argv[1], workers=int(sys.argv[2]), progress=False)
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_in_the_middle_and_resumed(tmp_path, workers):
    """The process and its workers die by SIGKILL; a later run gives the same results."""
    store = tmp_path / "killed" / "killed.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-c", RUN_SLOW, str(tmp_path / "killed"), str(workers)],
        start_new_session=True,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "SECONDS_PER_CELL": "0.1"},
        cwd=Path(__file__).parent,  # where slow_plan is
    )
    while not store.exists() or store.read_bytes().count(b"\n") < 5:
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = store.read_bytes()
    finished = kept.count(b"\n")
    assert 5 <= finished < 40
    assert not (tmp_path / "killed" / "killed-results.csv").exists()

    run(slow_plan, tmp_path / "killed", workers=workers)
    run(slow_plan, tmp_path / "whole")
    assert store.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    assert store.read_bytes().count(b"\n") == 40 + (not kept.endswith(b"\n"))
    results = [
        (tmp_path / folder / "killed-results.csv").read_bytes() for folder in ("killed", "whole")
    ]
    assert results[0] == results[1]


def warn(data, seed):
    import warnings

    warnings.warn("look here", stacklevel=1)
    return {"mean": 0.0}


def test_warnings_are_kept_with_the_cell(tmp_path):
    results = run(experiment(methods=(Method("warn", warn),), runs=1), tmp_path)
    assert results.records[0].warnings == ["UserWarning: look here"]
    assert results.remarks() == ["", "2 cells of warn warned: UserWarning: look here"]
    line = (tmp_path / "test.jsonl").read_text().splitlines()[0]
    assert json.loads(line.partition(" ")[2])["warnings"] == ["UserWarning: look here"]


def test_a_bar_shows_how_far_it_is(tmp_path, capsys):
    run_experiment(experiment(), tmp_path)
    assert "24/24" in capsys.readouterr().err


def test_files_are_whole(tmp_path):
    run(experiment(), tmp_path)
    assert {path.name for path in Path(tmp_path).iterdir()} == {
        "test.jsonl",
        "test-results.csv",
        "test-seconds.csv",
    }
