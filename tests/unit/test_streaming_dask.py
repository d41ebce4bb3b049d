"""Streamed fits on a Dask cluster of real processes, one of which dies."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import debinet as dn
from closeness import assert_same_fit
from debinet.data.pieces import FramePiece
from debinet.exceptions import (
    DataNotFoundError,
    InputError,
    MemoryLimitError,
    MissingValueError,
    OptionError,
    UnknownColumnError,
)
from debinet.streaming import fit as fit_module
from debinet.streaming.distributed import DaskRunner, split_pieces

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")

CONTROLS = ["z1", "z2", "region"]
KINDS = ("iid", "HC0", "HC3", "full", "cluster")
# Tolerance, however the rows are distributed over workers.
SAME = 1e-10


def make(n=600):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, 2)) + 3
    d = np.sin(Z[:, 0]) + rng.normal(size=n)
    frame = pd.DataFrame({"d": 1000 * d, "z1": Z[:, 0], "z2": Z[:, 1]})
    frame["region"] = rng.choice(["north", "south", "west"], n)
    frame["y"] = d + np.abs(Z[:, 1]) + rng.normal(size=n)
    return frame.assign(w=rng.uniform(0.5, 2, n), firm=rng.integers(0, 60, n))


FRAME = make()


def stream(data, **options):
    model = dn.PartiallyLinear("d", dn.TangentNet(width=20), random_state=0)
    roles = {"controls": CONTROLS, "groups": "firm", "sample_weight": "w"}
    return model.fit_stream(data, "y", **roles | options)


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as found:
        yield found


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    target = tmp_path_factory.mktemp("data")
    for i, rows in enumerate(np.array_split(np.arange(len(FRAME)), 3)):
        FRAME.iloc[rows].to_parquet(target / f"part-{i}.parquet", row_group_size=40)
    return target


@pytest.fixture(scope="module")
def reference():
    return stream(FRAME)


def equal(found, reference):
    assert_same_fit(found, reference, FRAME[["d", *CONTROLS]], SAME, KINDS)


def test_files_frames_and_partitions(client, folder, reference):
    equal(stream(folder, client=client), reference)
    equal(stream([FRAME[:100], FRAME[100:]], client=client), reference)
    equal(stream(lambda: iter([FRAME[:100], FRAME[100:]]), client=client), reference)
    for count in (1, 7):
        equal(stream(dd.from_pandas(FRAME, npartitions=count), client=client), reference)


def test_a_dask_frame_finds_its_cluster_or_needs_none(client, folder, reference):
    parquet = dd.read_parquet(folder)
    equal(stream(parquet), reference)  # the client that is in use
    client.close()
    frame = dd.from_pandas(FRAME, npartitions=4)
    with dask.config.set(scheduler="synchronous"):
        equal(stream(frame[frame["w"] > 0]), reference)


def test_an_address(cluster, folder, reference):
    """The connection is closed afterwards, and does not become the default client."""
    equal(stream(folder, client=cluster.scheduler_address), reference)
    with pytest.raises(ValueError, match="No clients found"):
        distributed.default_client()


def test_one_worker_with_threads(folder, reference):
    with distributed.Client(
        processes=False, n_workers=1, threads_per_worker=3, dashboard_address=":0"
    ) as threads:
        equal(stream(folder, client=threads), reference)


def spoiled():
    return FRAME.assign(z2=FRAME["z2"].where(FRAME.index != 555))


def test_errors_of_workers_are_the_same(client, tmp_path, reference):
    """The type, the file, the row group and the row; the old fit stays."""
    spoiled().to_parquet(tmp_path / "data.parquet", row_group_size=100)
    for data, place in [
        (tmp_path / "data.parquet", "row 555 (data.parquet, row group 5, row 55 there)"),
        ([FRAME[:100], spoiled()[100:]], "row 555 (data frame 1, row 455 there)"),
        (dd.from_pandas(spoiled(), npartitions=6), "row 555 (partition 5, row 55 there)"),
    ]:
        with pytest.raises(MissingValueError, match="'z2'") as raised:
            stream(data, client=client)
        assert place in str(raised.value)
    fitted = stream(FRAME)
    kept = fitted.result_
    with pytest.raises(InputError):
        fitted.fit_stream(tmp_path, "y", controls=CONTROLS, client=client)
    assert fitted.result_ is kept


def _without(i):
    part = FRAME[200 * i : 200 * (i + 1)]
    return part.drop(columns="z2") if i == 2 else part


_ROWS = iter(range(100, 200))


def _other_rows(i):
    return FRAME[: next(_ROWS)]


def test_partitions_that_are_not_alike():
    with dask.config.set(scheduler="synchronous"):
        with pytest.raises(UnknownColumnError, match=r"'z2'.*partition 2"):
            stream(dd.from_map(_without, range(3), meta=FRAME[:0], enforce_metadata=False))
        with pytest.raises(InputError, match="deterministic"):
            stream(dd.from_map(_other_rows, range(3), meta=FRAME[:0]))


def test_files_that_workers_cannot_see(client, tmp_path, monkeypatch):
    FRAME.to_parquet(tmp_path / "data.parquet")
    original = DaskRunner.run

    def hide(*arguments):
        (tmp_path / "data.parquet").unlink(missing_ok=True)
        return original(*arguments)

    monkeypatch.setattr(DaskRunner, "run", hide)
    with pytest.raises(DataNotFoundError, match="workers on other machines"):
        stream(tmp_path, client=client)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "no address"])
def test_no_scheduler(address):
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "500ms"}),
        pytest.raises(OptionError, match="scheduler that answers"),
    ):
        stream(FRAME, client=address)


def test_checkpoints_are_for_one_machine(client, tmp_path):
    frame = dd.from_pandas(FRAME, npartitions=2)
    for data, options in [(FRAME, {"client": client}), (frame, {}), (frame, {"client": client})]:
        with pytest.raises(OptionError, match="checkpoint"):
            stream(data, checkpoint=tmp_path / "sums", **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("count", [1, 2, 3, 7, 10, 50])
def test_pieces_are_split_in_order(count):
    sizes = [1, 1, 50, 3, 3, 3, 20, 1, 9, 9]
    pieces = [FramePiece(i, 0, rows, "", (), None) for i, rows in enumerate(sizes)]
    found = split_pieces(pieces, count)
    assert [piece.number for part in found for piece in part] == list(range(10))
    assert len(found) <= count
    assert all(found)


def _kill_once(rows, marker, **options):
    """Compute the sums, but die in the middle of the pass, once."""
    if rows.number[0] >= 400:
        try:
            Path(marker).touch(exist_ok=False)
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return _GRAMS(rows, **options)


_GRAMS = fit_module._grams_of


def test_a_worker_that_dies(client, folder, reference, tmp_path, monkeypatch):
    """SIGKILL during the pass of Gram matrices: its tasks and results are computed again."""
    before = set(client.run(os.getpid).values())
    marker = str(tmp_path / "died")
    monkeypatch.setattr(
        fit_module, "_grams_of", lambda rows, **options: _kill_once(rows, marker, **options)
    )
    equal(stream(folder, client=client), reference)
    assert Path(marker).exists()
    client.wait_for_workers(2, timeout=30)
    assert set(client.run(os.getpid).values()) != before


def test_workers_that_always_die(cluster, client, folder, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    monkeypatch.setattr(
        fit_module, "_grams_of", lambda rows, **options: os.kill(os.getpid(), signal.SIGKILL)
    )
    with pytest.raises(MemoryLimitError, match="died"):
        stream(folder, client=client)
    client.wait_for_workers(2, timeout=30)
