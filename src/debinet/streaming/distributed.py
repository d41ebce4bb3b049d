"""Passes over the data on a Dask cluster: map over pieces, then add up in a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import add
from typing import Any

import numpy as np

from debinet.data.pieces import FramePiece, Piece, Source, require_rows
from debinet.data.tables import require_distinct_names
from debinet.exceptions import InputError, MemoryLimitError, MissingDependencyError, OptionError
from debinet.learners.progress import counted
from debinet.streaming.layout import Layout, RawRows
from debinet.streaming.running import Job, Sums, run_pieces

# Tasks per thread of the cluster: enough to balance the load, few enough for the memory.
_TASKS_PER_THREAD = 4


@dataclass(frozen=True)
class DaskRunner:
    """Workers of a Dask cluster. If one is lost, Dask repeats its tasks on others.

    Attributes
    ----------
    client : distributed.Client
    show : bool
        Whether to show a progress bar.
    """

    client: Any
    show: bool

    def run(self, job: Job, work: Callable[[RawRows], Sums], name: str) -> Sums:
        """Return the sum of `work` over all batches of all pieces."""
        futures = self._submit(job, work, name)
        try:
            self._wait(futures, name)
            while len(futures) > 1:
                pairs = [futures[i : i + 2] for i in range(0, len(futures), 2)]
                futures = [
                    self.client.submit(add, *pair, pure=False) if len(pair) == 2 else pair[0]
                    for pair in pairs
                ]
            total: Sums = futures[0].result()
        except BaseException as error:
            self.client.cancel(futures)
            if type(error).__name__ == "KilledWorker":
                raise MemoryLimitError(
                    "workers that finish their tasks",
                    f"several that died during the same task ({error})",
                    "Give workers more memory, or use fewer hidden units.",
                ) from error
            raise
        return total

    def _submit(self, job: Job, work: Callable[[RawRows], Sums], name: str) -> list[Any]:
        if all(isinstance(piece, PartitionPiece) for piece in job.pieces):
            return self._submit_partitions(job, work)
        threads = sum(self.client.nthreads().values()) or 1
        count = min(len(job.pieces), _TASKS_PER_THREAD * threads)
        jobs = [Job(part, job.layout) for part in split_pieces(job.pieces, count)]
        futures = self.client.map(run_pieces, jobs, work=work, pure=False, key=f"debinet-{name}")
        return list(futures)

    def _submit_partitions(self, job: Job, work: Callable[[RawRows], Sums]) -> list[Any]:
        from dask import delayed

        tasks = [
            delayed(_run_partition, pure=False)(
                piece.partition, replace(piece, partition=None), job.layout, work
            )
            for piece in job.pieces
            if isinstance(piece, PartitionPiece)
        ]
        return list(self.client.compute(tasks))

    def _wait(self, futures: Sequence[Any], name: str) -> None:
        from distributed import as_completed

        done = as_completed(futures, loop=self.client.loop)
        for future in counted(done, self.show, "task", len(futures), name):
            if future.status == "error":
                future.result()  # raises what the worker raised


@contextmanager
def connected(client: Any) -> Iterator[Any]:
    """Yield the given client, or one for the address of a scheduler, which is closed at the end."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingDependencyError(
            "the packages dask and distributed for client=...",
            f"a Python without them ({error})",
            "Install them with pip install 'debinet[dask]'.",
        ) from error
    if isinstance(client, Client):
        yield client
        return
    if not isinstance(client, str):
        raise OptionError(
            "client to be a distributed.Client or the address of a scheduler",
            repr(client),
            "For example client='tcp://10.0.0.1:8786'.",
        )
    try:
        own = Client(client, set_as_default=False)
    except (OSError, ValueError) as error:
        raise OptionError(
            "the address of a Dask scheduler that answers",
            f"{client!r} ({error})",
            "Start one with `dask scheduler`, and check the address.",
        ) from error
    with own:
        yield own


def running_client() -> Any:
    """Return the client that is already in use, or None."""
    try:
        from distributed import default_client

        client = default_client()
    except (ImportError, ValueError):
        return None
    return client if client.status == "running" else None


def split_pieces(pieces: Sequence[Piece], count: int) -> list[tuple[Piece, ...]]:
    """Return consecutive pieces in `count` parts of about the same number of rows."""
    ends = np.cumsum([piece.rows for piece in pieces])
    part = np.minimum((ends - 1) * count // ends[-1], count - 1)
    chosen = [np.flatnonzero(part == k) for k in range(count)]
    return [tuple(pieces[int(i)] for i in own) for own in chosen if own.size]


@dataclass(frozen=True)
class PartitionPiece:
    """A partition of a Dask data frame; see `Piece`.

    Attributes
    ----------
    partition : dask Delayed
        Computes the frame, on a worker.
    """

    number: int
    offset: int
    rows: int
    where: str
    partition: Any

    def computed(self, frame: Any) -> FramePiece:
        """Return the piece with its partition in memory."""
        if len(frame) != self.rows:
            raise InputError(
                f"{self.rows} rows in {self.where}, as before",
                f"{len(frame)}",
                "Make the data frame deterministic: it is computed several times.",
            )
        names = tuple(str(name) for name in frame.columns)
        return FramePiece(self.number, self.offset, self.rows, self.where, names, frame)

    def batches(self, columns: Sequence[str], size: int) -> Iterator[tuple[int, Any]]:
        """Compute the partition here, and cut it."""
        return self.computed(self.partition.compute()).batches(columns, size)


def _run_partition(
    frame: Any, piece: PartitionPiece, layout: Layout, work: Callable[[RawRows], Any]
) -> Any:
    return run_pieces(Job((piece.computed(frame),), layout), work)


def is_dask_frame(data: Any) -> bool:
    """Return whether `data` is a Dask data frame."""
    return type(data).__module__.startswith(("dask.", "dask_expr")) and hasattr(data, "to_delayed")


def open_dask_frame(data: Any, client: Any) -> Source:
    """Return one piece per partition, after computing their lengths."""
    counts = data.map_partitions(len)
    lengths = counts.compute() if client is None else client.compute(counts).result()
    pieces: list[PartitionPiece] = []
    offset = 0
    for i, (length, partition) in enumerate(zip(lengths, data.to_delayed(), strict=True)):
        if length:
            number = len(pieces)
            pieces.append(PartitionPiece(number, offset, int(length), f"partition {i}", partition))
            offset += int(length)
    names = tuple(str(name) for name in data.columns)
    label = f"a Dask data frame of {len(lengths)} partitions"
    require_distinct_names(names, label)
    require_rows(offset, len(names), label)
    return Source(names, tuple(pieces), "", label)
