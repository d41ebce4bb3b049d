"""Passes over the data on a Dask cluster: map over pieces, then add up in a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any

import numpy as np

from debinet.data.pieces import Piece, Source
from debinet.exceptions import InputError, MissingDependencyError
from debinet.streaming.layout import Rows
from debinet.streaming.running import Job, Sums, run_pieces

# Tasks per thread of the cluster: enough to even out, few enough for the sums to fit in memory.
_TASKS_PER_THREAD = 4


@dataclass(frozen=True)
class DaskRunner:
    """Workers of a cluster. Lost ones are replaced by Dask, which repeats their tasks.

    Attributes
    ----------
    client : distributed.Client
    show : bool
        Whether to show a bar.
    """

    client: Any
    show: bool

    def run(self, job: Job, work: Callable[[Rows], Sums], name: str) -> Sums:
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
        except BaseException:
            self.client.cancel(futures)
            raise
        return total

    def _submit(self, job: Job, work: Callable[[Rows], Sums], name: str) -> list[Any]:
        if all(isinstance(piece, PartitionPiece) for piece in job.pieces):
            return self._submit_partitions(job, work)
        threads = sum(self.client.nthreads().values()) or 1
        count = min(len(job.pieces), _TASKS_PER_THREAD * threads)
        jobs = [Job(part, job.layout) for part in split_pieces(job.pieces, count)]
        futures = self.client.map(run_pieces, jobs, work=work, pure=False, key=f"debinet-{name}")
        return list(futures)

    def _submit_partitions(self, job: Job, work: Callable[[Rows], Sums]) -> list[Any]:
        from dask import delayed

        tasks = [
            delayed(_run_partition, pure=False)(piece.partition, piece.plain(), job.layout, work)
            for piece in job.pieces
            if isinstance(piece, PartitionPiece)
        ]
        return list(self.client.compute(tasks))

    def _wait(self, futures: Sequence[Any], name: str) -> None:
        from distributed import as_completed
        from tqdm.auto import tqdm

        done = as_completed(futures)
        for future in tqdm(
            done, total=len(futures), desc=name, unit="task", leave=False, disable=not self.show
        ):
            if future.status == "error":
                future.result()  # raises what the worker raised


def connect(client: Any) -> Any:
    """Return a client: the one given, or one for the address of a scheduler."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingDependencyError(
            "the packages dask and distributed for client=...",
            f"a Python without them ({error})",
            "Install them with pip install 'debinet[dask]'.",
        ) from error
    return Client(client) if isinstance(client, str) else client


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

    def plain(self) -> PartitionPiece:
        """Return the piece without its partition, which travels by itself."""
        return PartitionPiece(self.number, self.offset, self.rows, self.where, None)

    def batches(self, columns: Sequence[str], size: int) -> Iterator[tuple[int, Any]]:
        """Compute the partition here, and cut it."""
        frame = self.partition.compute()
        for start in range(0, self.rows, size):
            yield start, frame.iloc[start : start + size][list(columns)]


@dataclass(frozen=True)
class _FramePart:
    """A partition that has been computed."""

    piece: PartitionPiece
    frame: Any

    @property
    def number(self) -> int:
        return self.piece.number

    @property
    def offset(self) -> int:
        return self.piece.offset

    @property
    def rows(self) -> int:
        return self.piece.rows

    @property
    def where(self) -> str:
        return self.piece.where

    def batches(self, columns: Sequence[str], size: int) -> Iterator[tuple[int, Any]]:
        for start in range(0, len(self.frame), size):
            yield start, self.frame.iloc[start : start + size][list(columns)]


def _run_partition(
    frame: Any, piece: PartitionPiece, layout: Any, work: Callable[[Rows], Any]
) -> Any:
    if len(frame) != piece.rows:
        raise InputError(
            f"{piece.rows} rows in {piece.where}, as at first",
            f"{len(frame)}",
            "Make the data frame deterministic: it is computed several times.",
        )
    return run_pieces(Job((_FramePart(piece, frame),), layout), work)


def is_dask_frame(data: Any) -> bool:
    """Say whether something is a Dask data frame."""
    return type(data).__module__.startswith(("dask.", "dask_expr")) and hasattr(data, "to_delayed")


def open_dask_frame(data: Any, client: Any) -> Source:
    """Return one piece per partition; their lengths are computed on the cluster."""
    lengths = client.compute(data.map_partitions(len)).result()
    pieces: list[PartitionPiece] = []
    offset = 0
    for i, (length, partition) in enumerate(zip(lengths, data.to_delayed(), strict=True)):
        if length:
            number = len(pieces)
            pieces.append(PartitionPiece(number, offset, int(length), f"partition {i}", partition))
            offset += int(length)
    names = tuple(str(name) for name in data.columns)
    return Source(names, tuple(pieces), "", f"a Dask data frame of {len(lengths)} partitions")
